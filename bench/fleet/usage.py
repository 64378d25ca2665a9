"""What processes use, read from /proc. Linux alone has that: elsewhere there are no such figures."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from bench.fleet.records import Used

EVERY = 1.0
"""Seconds between two looks."""


def with_children(pid: int | None) -> list[int]:
    """A process and those that it has started; none where there is none."""
    if pid is None:
        return []
    found = [pid]
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in file.read_text().split()]
    return found


_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def measurable() -> bool:
    """Whether this machine tells what a process uses."""
    return Path("/proc/self/stat").exists()


class Usage:
    """Looks at processes until it is stopped. ``pids``: those that there are now; one that is started again
    has another id, and what the one before it used still counts.
    """

    def __init__(self, pids: Callable[[], Iterable[int | None]]) -> None:
        self._pids = pids
        self._cpu: dict[int, float] = {}
        self.seen: list[Used] = []

    def look(self) -> Used:
        """What they have used by now, together."""
        rss = 0.0
        for pid in self._pids():
            if pid is None:
                continue
            try:
                # The name of the command may hold blanks; the fields follow its closing bracket.
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            self._cpu[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
            rss += int(fields[21]) * _PAGE / 1e6
        found = Used(at=datetime.now(UTC), rss_mb=round(rss, 1), cpu=round(sum(self._cpu.values()), 2))
        self.seen.append(found)
        return found

    async def work(self) -> None:
        """Look again and again."""
        while True:
            self.look()
            await asyncio.sleep(EVERY)

    def cpu_between(self, begin: datetime, end: datetime) -> float | None:
        """Seconds of CPU between two moments, by the looks that are next to them. None without looks."""
        within = [one for one in self.seen if begin <= one.at <= end]
        return round(within[-1].cpu - within[0].cpu, 2) if within else None


class HasPid(Protocol):
    """A process: its id, or None while it does not run."""

    @property
    def pid(self) -> int | None: ...


def usage_of_workers(workers: Sequence[HasPid]) -> Usage:
    """What a stack's workers use: each is a process that starts others."""
    return Usage(lambda: (pid for worker in workers for pid in with_children(worker.pid)))
