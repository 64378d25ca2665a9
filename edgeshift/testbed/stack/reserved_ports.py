"""Ports that stacks of this machine have chosen and not yet bound: two that start at the same moment must
not choose the same ones.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

HELD = 60.0
"""Seconds after which a chosen port has surely been bound, or never will be."""


class _Choice(BaseModel):
    port: int
    pid: int
    at: float


_CHOICES = TypeAdapter(list[_Choice])


class SpokenFor:
    """The ports that others have chosen a moment ago, and those that are chosen now."""

    def __init__(self, ports: set[int]) -> None:
        self.others = ports
        self.mine: set[int] = set()


@contextmanager
def choosing() -> Iterator[SpokenFor]:
    """Choose ports while nobody else of this user does."""
    path = Path(tempfile.gettempdir()) / f"edgeshift-ports-{os.getuid()}.json"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        now = time.time()
        try:
            known = _CHOICES.validate_json(file.read() or b"[]")
        except ValidationError:
            known = []
        held = [one for one in known if 0 <= now - one.at < HELD and _lives(one.pid)]
        found = SpokenFor({one.port for one in held if one.pid != os.getpid()})
        yield found
        held += [_Choice(port=port, pid=os.getpid(), at=now) for port in sorted(found.mine)]
        file.seek(0)
        file.truncate()
        file.write(_CHOICES.dump_json(held))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
