"""What is switched on and off in running worker processes from outside: a stop at a chosen place, an archive
that is slow or does not answer. By files in a folder, since a process is frozen, killed and begun again
without anybody being asked.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from asyncio.selector_events import _SelectorSocketTransport as SocketTransport  # type: ignore[attr-defined]
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.change.fence import Fence
from edgeshift.stores.archive import Archive, ArchiveUnavailable

BEFORE_INTENT, INTENDED, FIRST_BYTE, ANSWERED = "intend", "intended", "first-byte", "answered"
"""Places within a change: before its intent is recorded; after it and the last check, before anything is
sent; as the first byte of the request goes to the system; with the answer there, before anybody knows.
"""

FENCED = (BEFORE_INTENT, INTENDED, FIRST_BYTE, ANSWERED)

CHANGING = re.compile(rb"(PUT|POST|DELETE|PATCH) \S*/client/v4/(?!graphql)")
"""How a request begins that changes something at the service."""


def place_of(name: str, moment: str) -> str:
    """The place before or after an activity."""
    return f"{moment}-{name}"


@dataclass(frozen=True)
class Switches:
    """The files, in a folder that exists."""

    folder: Path

    # --- from outside

    def arm(self, place: str, nth: int = 1) -> None:
        """Let the process that comes to this place as the ``nth`` from now on stop itself there, once."""
        (self.folder / f"arm.{place}.{nth}").touch()

    def disarm(self) -> None:
        """Nobody stops any more who has not been stopped yet."""
        for path in self.folder.glob("arm.*"):
            path.unlink(missing_ok=True)

    def frozen(self) -> list[tuple[str, int]]:
        """Who has been stopped so far: the place and the process."""
        found = (path.name.split(".") for path in sorted(self.folder.glob("frozen.*")))
        return [(place, int(pid)) for _, place, pid in found]

    def slow(self, seconds: float) -> None:
        """Let every call to the archive take so long, or no longer than it does with 0."""
        path = self.folder / "archive-slow"
        path.write_text(str(seconds)) if seconds else path.unlink(missing_ok=True)

    def down(self, is_down: bool) -> None:
        """Let the archive answer nobody, or everybody again."""
        path = self.folder / "archive-down"
        path.touch() if is_down else path.unlink(missing_ok=True)

    def count(self, what: str) -> int:
        """How often a switch has done something in any process: ``archive-slow``, ``archive-down``."""
        path = self.folder / f"count.{what}"
        return path.stat().st_size if path.exists() else 0

    def hold(self, held: bool) -> None:
        """Let no process begin to work that is started from now on, or let all of them."""
        path = self.folder / "held"
        path.touch() if held else path.unlink(missing_ok=True)

    # --- inside

    def admitted(self) -> None:
        """Return once this process may begin to work; nothing runs in it before."""
        while (self.folder / "held").exists():
            time.sleep(0.1)

    def pass_by(self, place: str) -> None:
        """Stop this process, all threads of it, where somebody has armed this place for it."""
        for path in self.folder.glob(f"arm.{place}.*"):
            left = int(path.name.rpartition(".")[2]) - 1
            after = path.with_name(f"arm.{place}.{left}" if left else f"frozen.{place}.{os.getpid()}")
            try:
                # Of several that come by at once, one is counted.
                path.rename(after)
            except FileNotFoundError:
                continue
            if not left:
                os.kill(os.getpid(), signal.SIGSTOP)

    async def archive_troubles(self, key: str) -> None:
        """What is wrong with the archive now. Raises ArchiveUnavailable."""
        try:
            seconds = float((self.folder / "archive-slow").read_text() or 0)
        except FileNotFoundError:
            seconds = 0.0
        if seconds:
            self._counted("archive-slow")
            await asyncio.sleep(seconds)
        if (self.folder / "archive-down").exists():
            self._counted("archive-down")
            raise ArchiveUnavailable(f"the archive: could not reach {key[:120]}: switched off")

    def _counted(self, what: str) -> None:
        with (self.folder / f"count.{what}").open("a") as count:
            count.write(".")


class PassingBy(Interceptor):
    """Comes by the places before and after each activity."""

    def __init__(self, switches: Switches) -> None:
        self._switches = switches

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of every activity, local ones too."""
        switches = self._switches

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                name = activity.info().activity_type
                switches.pass_by(place_of(name, "before"))
                found = await super().execute_activity(input)
                switches.pass_by(place_of(name, "after"))
                return found

        return Inbound(next)


@contextmanager
def obeying(switches: Switches) -> Iterator[Interceptor]:
    """Let this process obey the switches until the block ends; the interceptor of its workers."""
    kept: list[tuple[Any, str, Any]] = []
    for owner, name, around in (
        (Fence, "intend", _intend),
        (Fence, "send", _send),
        (Archive, "_reach", _reach),
        (SocketTransport, "write", _write),
    ):
        kept.append((owner, name, getattr(owner, name)))
        setattr(owner, name, around(switches, getattr(owner, name)))
    try:
        yield PassingBy(switches)
    finally:
        for owner, name, before in kept:
            setattr(owner, name, before)


def _intend(switches: Switches, intend: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def intending(self: Fence, what: str = "") -> Any:
        switches.pass_by(BEFORE_INTENT)
        found = await intend(self, what)
        switches.pass_by(INTENDED)
        return found

    return intending


def _send(switches: Switches, send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def sending(self: Fence, request: Callable[[], Awaitable[object]]) -> Any:
        found = await send(self, request)
        switches.pass_by(ANSWERED)
        return found

    return sending


def _reach(switches: Switches, reach: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def reaching(self: Archive, verb: str, key: str, work: Awaitable[Any]) -> Any:
        try:
            await switches.archive_troubles(key)
        except BaseException:
            if asyncio.iscoroutine(work):
                work.close()
            raise
        return await reach(self, verb, key, work)

    return reaching


def _write(switches: Switches, write: Callable[..., None]) -> Callable[..., None]:
    def writing(self: object, data: bytes) -> None:
        if CHANGING.match(data):
            switches.pass_by(FIRST_BYTE)
        write(self, data)

    return writing
