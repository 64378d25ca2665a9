"""What others have put where a stack keeps its things: it is neither believed nor written through."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import platformdirs
import pytest

from edgeshift.cli.found_stack import stack_here
from edgeshift.testbed.stack import StackError, StackPaths, reserved_ports
from edgeshift.testbed.stack.reserved_ports import choosing
from tests.kit.stack_file import read_stack_file

RUNNING: dict[str, object] = {
    "pid": os.getpid(),
    "address": "127.0.0.1:7233",
    "namespace": "default",
    "ui": None,
    "service": "http://127.0.0.1:8780",
    "control": "http://127.0.0.1:8780",
    "archive": "file:///archive",
    "tickets": "/tickets",
    "campaign": "/campaign.yaml",
    "time_scale": 1.0,
}


def told(folder: Path, text: str) -> tuple[object, object]:
    """What commands take for the stack of a folder that was cloned with such a file, and what ``up`` does."""
    own = folder / ".edgeshift"
    own.mkdir()
    (own / "stack.json").write_text(text)
    return stack_here(folder), read_stack_file(own)


def test_a_stack_that_runs_is_found(tmp_path: Path) -> None:
    """By the file that it has written itself."""
    found = told(tmp_path, json.dumps(RUNNING | {"address": "[::1]:7233"}))
    assert all(found)


@pytest.mark.parametrize("pid", ["0", "-1", "1e400", "-1e400", "10" * 20, "true", "[]", '"1"'])
def test_a_process_that_nobody_has_is_not_believed(tmp_path: Path, pid: str) -> None:
    """To signal process 0 is to signal oneself, which always succeeds."""
    text = json.dumps(RUNNING | {"pid": "PID"}).replace('"PID"', pid)
    assert told(tmp_path, text)[0] is None
    if pid not in ("true", '"1"'):
        assert read_stack_file(tmp_path / ".edgeshift") is None


@pytest.mark.parametrize(
    "address", ["evil.example:7233", "127.0.0.1:1@evil.example:7233", "127.0.0.1", "10.0.0.1:7233", ":1", ""]
)
def test_a_stack_elsewhere_is_not_believed(tmp_path: Path, address: str) -> None:
    """A stranger's file would have the API key sent to whoever answers there."""
    assert told(tmp_path, json.dumps(RUNNING | {"address": address}))[0] is None


@pytest.mark.parametrize("text", ["", "[", "[" * 5_000, '{"pid":', "[]", "null", "1"])
def test_a_file_that_says_nothing_is_no_error(tmp_path: Path, text: str) -> None:
    """Neither for commands nor for the stack itself."""
    assert told(tmp_path, text) == (None, None)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the person's own, somewhere else."""
    file = tmp_path / "precious"
    file.write_text("precious")
    return file


@pytest.mark.parametrize(
    "link",
    ["", "lock", "ports.json", "time-scale", "stack.json", "logs", "credentials/admin", "logs/worker-1.log"],
)
def test_a_folder_with_links_is_not_used(tmp_path: Path, precious: Path, link: str) -> None:
    """It may have been cloned: what a stack writes would be written where they lead."""
    place = tmp_path / "cloned/.edgeshift" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path if link in ("", "logs") else precious)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StackError, match="is a link") as raised:
        StackPaths(tmp_path / "cloned/.edgeshift").make()
    assert raised.value.hint and precious.read_text() == "precious" and sorted(tmp_path.iterdir()) == before


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns it may read and change all that lies in it."""
    places = StackPaths(tmp_path / "stack")
    places.make()
    monkeypatch.setattr(os, "getuid", lambda: places.folder.stat().st_uid + 1)
    with pytest.raises(StackError, match="belongs to somebody else"):
        places.make()


def test_a_link_that_comes_later_is_not_followed(tmp_path: Path, precious: Path) -> None:
    """The lock is refused, the other files take its place."""
    places = StackPaths(tmp_path / "stack")
    places.make()
    for name in ("lock", "ports.json"):
        (places.folder / name).symlink_to(precious if name == "lock" else tmp_path / "nothing")
    with pytest.raises(StackError, match="lock"), places.held():
        pass
    places.ports()
    assert precious.read_text() == "precious" and not (tmp_path / "nothing").exists()
    assert not (places.folder / "ports.json").is_symlink()
    assert (places.folder / "ports.json").stat().st_mode & 0o777 == 0o600


@pytest.fixture
def reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the choices lie that processes of this user have made."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(reserved_ports, "LOOKS_EVERY", 0.0)
    return tmp_path / "edgeshift/ports.json"


def test_ports_of_others_are_known_while_they_choose(tmp_path: Path, reserved: Path) -> None:
    """For a folder of this user alone."""
    with choosing(tmp_path / "one") as one:
        one.mine.add(20_001)
    held = json.loads(reserved.read_text())
    reserved.write_text(json.dumps([held[0] | {"pid": os.getppid()}, held[0] | {"pid": 0, "port": 20_002}]))
    with choosing(tmp_path / "two") as two:
        assert two.others == {20_001}
    assert reserved.parent.stat().st_mode & 0o777 == 0o700


def test_a_port_that_another_stack_has_chosen_meanwhile_is_taken(tmp_path: Path, reserved: Path) -> None:
    """A folder's own of before, not bound yet: two stacks would go on, each with the other's service."""
    places = StackPaths(tmp_path / "stack")
    places.make()
    mine = places.ports()
    held = json.loads(reserved.read_text())
    reserved.write_text(json.dumps([one | {"folder": str(tmp_path / "another")} for one in held]))
    with pytest.raises(StackError, match=rf"port {mine.temporal} \(temporal\) is taken by another process"):
        places.ports()


def test_a_folder_has_its_ports_again_though_the_stack_of_before_has_not_quite_gone(
    tmp_path: Path, reserved: Path
) -> None:
    """It chose them itself: its process may be there for a while after it let go of them."""
    places = StackPaths(tmp_path / "stack")
    places.make()
    mine = places.ports()
    held = json.loads(reserved.read_text())
    reserved.write_text(json.dumps([one | {"pid": os.getppid()} for one in held]))
    assert places.ports() == mine
    assert len(json.loads(reserved.read_text())) == len(held)


def test_whoever_keeps_the_lock_keeps_nobody_from_choosing(tmp_path: Path, reserved: Path) -> None:
    """It is waited for a while; ports of others are not known then."""
    with choosing(tmp_path / "one") as one:
        one.mine.add(20_001)
    with reserved.open("rb") as theirs:
        fcntl.flock(theirs, fcntl.LOCK_EX)
        with choosing(tmp_path / "two") as two:
            two.mine.add(20_002)
    assert [one["port"] for one in json.loads(reserved.read_text())] == [20_001]


@pytest.mark.parametrize("planted", ["link", "open", "file"])
def test_a_place_that_others_can_reach_is_not_used(
    tmp_path: Path, reserved: Path, monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    """The next one is; the one that all can write in comes last."""
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / "cache")
    folder = reserved.parent
    if planted == "link":
        folder.symlink_to(tmp_path / "theirs", target_is_directory=True)
        (tmp_path / "theirs").mkdir(mode=0o700)
    elif planted == "open":
        folder.mkdir()
        folder.chmod(0o777)
    else:
        folder.write_text("")
    with choosing(tmp_path / "one") as one:
        one.mine.add(20_001)
    assert not reserved.exists() and (tmp_path / "cache/stacks/ports.json").exists()


def test_what_a_stack_keeps_is_in_no_commit(tmp_path: Path) -> None:
    """It has private keys. A folder that was there for other things keeps its own rules."""
    (tmp_path / "other").mkdir()
    for name in ".edgeshift", "made", "other":
        StackPaths(tmp_path / name).make()
    assert (tmp_path / ".edgeshift/.gitignore").read_text() == "*\n"
    assert (tmp_path / "made/.gitignore").exists() and not (tmp_path / "other/.gitignore").exists()
    (tmp_path / ".edgeshift/.gitignore").write_text("authority\n")
    StackPaths(tmp_path / ".edgeshift").make()
    assert (tmp_path / ".edgeshift/.gitignore").read_text() == "authority\n"
