"""Ports that stacks of this machine have chosen and not yet bound: two that start at the same moment must
not choose the same ones.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import platformdirs
from pydantic import BaseModel, TypeAdapter, ValidationError

HELD = 300.0
"""Seconds after which a chosen port has surely been bound, or never will be."""


LOOKS, LOOKS_EVERY = 100, 0.05
"""How often another one that chooses is waited for, and for how many seconds each time."""


class _Choice(BaseModel):
    port: int
    pid: int
    at: float
    folder: str = ""


_CHOICES = TypeAdapter(list[_Choice])


class SpokenFor:
    """The ports that others have chosen a moment ago, and those that are chosen now."""

    def __init__(self, ports: set[int]) -> None:
        self.others = ports
        self.mine: set[int] = set()


@contextmanager
def choosing(folder: Path) -> Iterator[SpokenFor]:
    """Choose the ports of the stack in ``folder`` while nobody else of this user does. Where there is no
    place to note them, or another one keeps it, those of others are not known: one that is taken is told when
    it is bound.
    """
    # A stack that ends may outlive what it held for a while, as a process that nobody has waited for: what
    # it chose is its folder's, and is no other's to the one that starts there next.
    mine = str(folder.absolute())
    with _file() as file:
        now = time.time()
        try:
            known = _CHOICES.validate_json((file.read() if file else b"") or b"[]")
        except ValidationError:
            known = []
        held = [one for one in known if 0 <= now - one.at < HELD and one.pid > 0 and _lives(one.pid)]
        found = SpokenFor({one.port for one in held if one.folder != mine})
        yield found
        if file is not None:
            held = [one for one in held if one.folder != mine]
            held += [_Choice(port=port, pid=os.getpid(), at=now, folder=mine) for port in sorted(found.mine)]
            file.seek(0)
            file.truncate()
            file.write(_CHOICES.dump_json(held))


@contextmanager
def _file() -> Iterator[IO[bytes] | None]:
    """The file with the choices, locked; None where there is no place for it, or another one keeps it."""
    if (folder := next(filter(_own, _folders()), None)) is None:
        yield None
        return
    try:
        descriptor = os.open(folder / "ports.json", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield None
        return
    with os.fdopen(descriptor, "r+b") as file:
        yield file if _locked(descriptor) else None


def _folders() -> Iterator[Path]:
    """Where it may lie, on this machine and for this user alone. A folder that all can write in comes last:
    whoever is first there keeps its name from others.
    """
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(runtime) / "edgeshift"
    yield platformdirs.user_cache_path("edgeshift") / "stacks"
    yield Path(tempfile.gettempdir()) / f"edgeshift-{os.getuid()}"


def _own(folder: Path) -> bool:
    """Whether the folder is one, made here if it was not there, in which nobody else can write."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _locked(descriptor: int) -> bool:
    for left in range(LOOKS, 0, -1):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(LOOKS_EVERY if left > 1 else 0.0)
        else:
            return True
    return False


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
