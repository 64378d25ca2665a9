"""A worker process that is killed at a chosen place, and its supervisor, which starts the next one."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any, Literal

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.service_api import Unpaced
from edgeshift.settings import Settings, TemporalSettings
from edgeshift.temporal import connect
from tests.faults_kit import on_queue
from worker.wiring import workers

PROCESSES: ForkServerContext = multiprocessing.get_context("forkserver")
# A worker that is forked from a process which has imported everything already starts at once.
PROCESSES.set_forkserver_preload(["tests.faults_worker"])

Moment = Literal["before", "after"]
MOMENTS: tuple[Moment, ...] = ("before", "after")


@dataclass(frozen=True)
class Kill:
    """Where a worker kills itself: before or after the ``nth`` run of an activity in the first process."""

    activity: str
    nth: int
    moment: Moment

    def __str__(self) -> str:
        return f"{self.moment} {self.activity} #{self.nth}"


@dataclass(frozen=True)
class Order:
    """What the worker processes need. ``folder``: where they leave a trace and the marks of their deaths.
    ``kills``: where they kill themselves, one for each process in turn, with the runs counted in each anew.
    """

    address: str
    queue: str
    settings: Settings
    environment: dict[str, str]
    folder: Path
    kills: tuple[Kill, ...] = ()

    def mark(self, place: int) -> Path:
        """There once a worker has killed itself at this place of ``kills``."""
        return self.folder / f"killed-{place}"

    @property
    def next_kill(self) -> int:
        """The place of the first kill that is still to come; as many as there are, if none is."""
        return sum(self.mark(place).exists() for place in range(len(self.kills)))

    @property
    def trace(self) -> Path:
        """A line for each activity that was begun."""
        return self.folder / "trace"


class Killer(Interceptor):
    """Kills its own process at the place that the order names for it."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._place = order.next_kill
        self._runs: Counter[str] = Counter()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of every activity, local ones too."""
        killer = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                name = activity.info().activity_type
                killer._runs[name] += 1
                nth = killer._runs[name]
                killer._note(name, nth)
                killer._maybe_die(name, nth, "before")
                found = await super().execute_activity(input)
                killer._maybe_die(name, nth, "after")
                return found

        return Inbound(next)

    def _note(self, name: str, nth: int) -> None:
        with self._order.trace.open("a") as trace:
            trace.write(f"{name} {nth}\n")

    def _maybe_die(self, name: str, nth: int, moment: Moment) -> None:
        place, kills = self._place, self._order.kills
        if place >= len(kills) or kills[place] != Kill(name, nth, moment):
            return
        self._order.mark(place).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def serve(order: Order) -> None:
    """The whole life of a worker process."""
    os.environ.update(order.environment)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(order))


async def _serve(order: Order) -> None:
    client = on_queue(await connect(TemporalSettings(address=order.address)), order.queue)
    async with workers(
        client,
        order.settings,
        pacer=lambda credential, campaign: Unpaced(),
        quota=False,
        interceptors=[Killer(order)],
        mends_every=1.0,
    ):
        await asyncio.Event().wait()


@asynccontextmanager
async def supervised(order: Order) -> AsyncIterator[list[int]]:
    """Keep one worker process running until the block ends. Yields the exit codes so far."""
    codes: list[int] = []
    running = [await asyncio.to_thread(_start, order)]

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.05)
            code = running[-1].exitcode
            if code is not None:
                codes.append(code)
                running.append(await asyncio.to_thread(_start, order))

    watching = asyncio.create_task(watch())
    try:
        yield codes
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        for process in running:
            process.kill()
            await asyncio.to_thread(process.join)


def _start(order: Order) -> ForkServerProcess:
    process = PROCESSES.Process(target=serve, args=(order,), daemon=True)
    process.start()
    return process
