"""What is shipped: the lock, the wheel, the worker unit and its settings."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from edgeshift.authority.loading import load_roots
from edgeshift.authority.worker_pen import worker_pen
from edgeshift.runtime.settings import load_settings
from worker import beside, wiring

_ROOT = Path(__file__).parents[2]
_LOCKS = ("runtime.txt", "dev.txt")


@pytest.mark.parametrize("lock", _LOCKS)
def test_a_lock_pins_every_package_by_hash_and_names_no_registry(lock: str) -> None:
    """Each requirement has one version and hashes; no address of any kind stands in the file."""
    text = (_ROOT / "requirements" / lock).read_text()
    requirements = re.findall(r"^[a-z0-9].*(?:\n    .*)*", text, re.MULTILINE)
    assert len(requirements) > 20
    for requirement in requirements:
        assert re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==[0-9]", requirement), requirement
        assert "--hash=sha256:" in requirement, requirement
    assert "://" not in text
    assert "--index" not in text


def test_the_locks_agree_and_hold_every_dependency() -> None:
    """Tests run with the versions that are shipped, and nothing that pyproject.toml names is unlocked."""
    runtime, dev = (_versions(_ROOT / "requirements" / lock) for lock in _LOCKS)
    assert {name: dev.get(name) for name in runtime} == runtime
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())
    assert {_name(each) for each in project["project"]["dependencies"]} <= set(runtime)
    assert {_name(each) for each in project["dependency-groups"]["dev"]} <= set(dev)


def test_the_wheel_holds_the_application_and_nothing_else(tmp_path: Path) -> None:
    """All four packages and their data files are in it; tests and benches are not."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, _ROOT],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("edgeshift-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    top = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert top == {"edgeshift", "workflows", "activities", "worker"}
    assert {
        "edgeshift/py.typed",
        "edgeshift/testbed/temporal_server/LoopbackTestServer.java",
        "edgeshift/cli/main.py",
    } <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_worker_unit_runs_the_worker_and_lets_it_finish() -> None:
    """The unit starts what the image starts, as no privileged user, with time for a running request."""
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign,assignment]
    unit.read(_ROOT / "deploy" / "edgeshift-worker.service")
    service = unit["Service"]
    assert service["ExecStart"].endswith("/bin/edgeshift worker")
    # A user that systemd makes up keeps its folder from everybody, also from those who share its archive.
    assert service["User"] == "edgeshift" and "DynamicUser" not in service
    # The two processes of a worker end one after the other.
    assert int(service["TimeoutStopSec"]) > wiring.GRACE.total_seconds() + beside.GRACE
    containerfile = (_ROOT / "deploy" / "Containerfile").read_text()
    assert 'ENTRYPOINT ["edgeshift"]\nCMD ["worker"]' in containerfile


def test_systemd_accepts_the_worker_unit(tmp_path: Path) -> None:
    """systemd's own check finds nothing to say, where there is one."""
    checker = shutil.which("systemd-analyze")
    unit = (_ROOT / "deploy" / "edgeshift-worker.service").read_text()
    # The check wants the program to exist; the sections have to be there either way.
    assert {"[Unit]", "[Service]", "[Install]"} <= set(unit.splitlines())
    if checker:
        copy = tmp_path / "edgeshift-worker.service"
        copy.write_text(unit.replace("/opt/edgeshift/bin/edgeshift", "/bin/true"))
        done = subprocess.run([checker, "verify", copy], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_settings_that_are_shipped_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of deploy/edgeshift.env, the commented ones too, is a setting that is accepted."""
    lines = (_ROOT / "deploy" / "edgeshift.env").read_text().splitlines()
    chosen = [line.lstrip("#") for line in lines if line.lstrip("#").startswith("EDGESHIFT_")]
    assert len(chosen) >= 8
    for line in chosen:
        name, _, value = line.partition("=")
        monkeypatch.setenv(name, value)
    found = load_settings()
    assert found.temporal.encrypted
    assert found.archive.startswith("s3://")
    assert found.authority.roots == Path("/etc/edgeshift/roots.yaml") and found.authority.key is not None


@pytest.mark.parametrize("name", ["edgeshift.env", "edgeshift-worker.service", "Containerfile"])
def test_whoever_installs_a_worker_is_told_of_its_roots(name: str) -> None:
    """Without them it changes nothing; and no person's key is set where it runs."""
    text = (_ROOT / "deploy" / name).read_text()
    assert "EDGESHIFT_AUTHORITY_ROOTS" in text
    assert not re.search(r"^(Environment=.*|ENV .*|)EDGESHIFT_AUTHORITY_KEY", text, re.MULTILINE)


def _versions(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^ ]+)", lock.read_text(), re.MULTILINE))


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[._-]+", "-", found[0]).lower()


def _to_install() -> list[str]:
    """The commands at the top of the unit."""
    head = (_ROOT / "deploy" / "edgeshift-worker.service").read_text().partition("[Unit]")[0]
    return [line.removeprefix("#   ") for line in head.splitlines() if line.startswith("#   ")]


def test_the_commands_of_the_unit_install_what_it_and_its_settings_name(tmp_path: Path) -> None:
    """They are typed, below another root and for whoever tests: then roots that ask for signatures, the
    worker's key, settings and unit are where both say, and a worker takes them.
    """
    at, here = tmp_path / "root", tmp_path / "here"
    (at / "etc" / "systemd" / "system").mkdir(parents=True)
    shutil.copytree(_ROOT / "deploy", here / "deploy")
    for name in ("allowed_signers", "revoked_keys"):
        (here / name).write_text("")
    (here / "roots.yaml").write_text(
        "signers: allowed_signers\nrevoked: revoked_keys\n"
        "services:\n  - {base_url: https://api.example.com/client/v4, credentials: ['env:RETAIL_TOKEN']}\n"
    )
    for line in (
        "keys make worker-1 --file worker-1",
        "keys add worker-1 --key worker-1.pub --role worker --roots roots.yaml",
    ):
        subprocess.run([sys.executable, "-m", "edgeshift.cli.entry", *line.split()], cwd=here, check=True)

    users = []
    for command in _to_install():
        words = command.replace(" /etc/", f" {at}/etc/").split()
        if words[0] == "useradd":
            users.append(words[-1])
        elif words[0] == "install":
            if "-o" in words:
                # Its owner has to be there by then; whoever tests can give it to nobody else.
                assert words[words.index("-o") + 1] in users
                words[words.index("-o") + 1] = str(os.getuid())
            subprocess.run(words, cwd=here, check=True)
    assert _to_install()[-1] == "systemctl daemon-reload && systemctl enable --now edgeshift-worker"

    unit = (at / "etc" / "systemd" / "system" / "edgeshift-worker.service").read_text()
    assert f"User={users[0]}\n" in unit
    read = at / re.findall(r"^EnvironmentFile=/(.*)$", unit, re.MULTILINE)[0]
    assert read.stat().st_mode & 0o777 == 0o600
    settings = (here / "deploy" / "edgeshift.env").read_text()
    named = dict(re.findall(r"^#?EDGESHIFT_AUTHORITY_(ROOTS|WORKER_KEY)=/(.*)$", settings, re.MULTILINE))
    pen = worker_pen(at / named["WORKER_KEY"], load_roots(at / named["ROOTS"]))
    assert pen is not None and pen.name == "worker-1"
