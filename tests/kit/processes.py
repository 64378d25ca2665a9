"""Processes as the kernel has them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

PATIENCE = 120.0


def children(pid: int) -> list[int]:
    """The processes that the main thread of this one has started and that are still there."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(holds: Callable[[], bool]) -> None:
    """Return once it holds."""
    limit = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.1)


def until_gone(pids: Iterable[int]) -> None:
    """Return once none of these processes is there any more."""
    known = list(pids)
    until(lambda: not any(map(alive, known)))
