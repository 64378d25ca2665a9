"""What is shipped: the lock, the wheel, the worker unit and its settings."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from edgeshift.runtime.settings import load_settings

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
    assert service["DynamicUser"] == "yes"
    assert int(service["TimeoutStopSec"]) >= 120
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
