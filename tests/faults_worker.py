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
    """What a worker process needs. ``folder``: where it leaves its trace and the mark of its death."""

    address: str
    queue: str
    settings: Settings
    environment: dict[str, str]
    folder: Path
    kill: Kill | None

    @property
    def mark(self) -> Path:
        """There once the worker has killed itself."""
        return self.folder / "killed"

    @property
    def trace(self) -> Path:
        """A line for each activity that was begun."""
        return self.folder / "trace"


class Killer(Interceptor):
    """Kills its own process at the place that the order names, once."""

    def __init__(self, order: Order) -> None:
        self._order = order
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
        if self._order.kill != Kill(name, nth, moment) or self._order.mark.exists():
            return
        self._order.mark.touch()
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
