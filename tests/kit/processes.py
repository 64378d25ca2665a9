"""Processes as the kernel has them."""

from __future__ import annotations

import os
import socket
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


def listening(pid: int) -> list[tuple[str, int]]:
    """The addresses and ports on which a process listens, from Linux's own tables."""
    owned = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    found = []
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in owned:
                host, _, port = fields[1].partition(":")
                raw = bytes.fromhex(host)
                words = [raw[start : start + 4][::-1] for start in range(0, len(raw), 4)]
                address = socket.inet_ntop(family, b"".join(words)).removeprefix("::ffff:")
                found.append((address, int(port, 16)))
    return found


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
