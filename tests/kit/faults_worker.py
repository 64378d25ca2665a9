"""Worker processes that are killed at chosen places, and their supervisor, which starts the next ones."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Any, Literal

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.parent_death import tied_to_parent
from edgeshift.runtime.settings import Settings, TemporalSettings
from edgeshift.runtime.temporal import connect
from tests.harness.switches import Switches, obeying
from tests.kit.queue import on_queue
from worker import queues
from worker.wiring import workers

PROCESSES: ForkServerContext = multiprocessing.get_context("forkserver")
# A worker that is forked from a process which has imported everything already starts at once.
PROCESSES.set_forkserver_preload(["tests.harness.running.warm"])

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
    ``processes``: how many there are at a time. ``plain``: whether they are as the SDK has them, which keep
    what queries have left and wait for ten seconds for the dead.
    """

    address: str
    queue: str
    settings: Settings
    environment: dict[str, str]
    folder: Path
    kills: tuple[Kill, ...] = ()
    processes: int = 1
    paced: bool = False
    plain: bool = False

    def mark(self, place: int) -> Path:
        """There once a worker has killed itself at this place of ``kills``."""
        return self.folder / f"killed-{place}"

    @property
    def trace(self) -> Path:
        """A line for each activity that was begun."""
        return self.folder / "trace"

    @property
    def log(self) -> Path:
        """What the workers say, all of them."""
        return self.folder / "workers.log"


class Killer(Interceptor):
    """Kills its own process at a place of the order's kills, or never."""

    def __init__(self, order: Order, place: int | None) -> None:
        self._order = order
        self._place = place
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
        place = self._place
        if place is None or self._order.kills[place] != Kill(name, nth, moment):
            return
        self._order.mark(place).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def serve(order: Order, place: int | None) -> None:
    """The whole life of a worker process. ``place``: of its kill. What it says goes to the order's log."""
    with order.log.open("ab") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    if tie := tied_to_parent(os.getppid()):
        tie()
    os.environ.update(order.environment)
    switches = Switches(order.folder)
    switches.admitted()
    if order.plain:
        vars(queues).update(forgetting=Worker, STICKY=timedelta(seconds=10))
    with suppress(KeyboardInterrupt), obeying(switches) as passing:
        asyncio.run(_serve(order, [Killer(order, place), passing]))


async def _serve(order: Order, interceptors: Sequence[Interceptor]) -> None:
    stop = asyncio.Event()
    # As edgeshift's own worker does: what is on the wire is seen through.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    client = on_queue(await connect(TemporalSettings(address=order.address)), order.queue)
    async with workers(
        client,
        order.settings,
        pacer=None if order.paced else lambda credential, campaign: Unpaced(),
        quota=order.paced,
        interceptors=interceptors,
    ):
        await stop.wait()


class Workers:
    """The worker processes of an order; one that ended is followed by another."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._running: list[tuple[ForkServerProcess, int | None]] = []
        self._starting: asyncio.Future[None] | None = None
        self.codes: list[int] = []
        """The exit codes of those that ended, in order."""

    @property
    def pids(self) -> list[int]:
        """Of those that run, stopped ones too."""
        return [process.pid for process, _ in self._running if process.pid is not None]

    async def start(self) -> None:
        """Start as many as the order says."""
        # Here, since what they are forked from ends with the thread that started it.
        ensure_running()
        while len(self._running) < self._order.processes:
            await self._start()

    async def watch(self) -> None:
        """Replace each that ends, without end."""
        while True:
            await asyncio.sleep(0.05)
            for one in list(self._running):
                code = one[0].exitcode
                if code is not None:
                    self._running.remove(one)
                    self.codes.append(code)
                    await self._start()

    async def stop(self) -> None:
        """Kill them all."""
        if self._starting is not None:
            await self._starting
        for process, _ in self._running:
            process.kill()
            await asyncio.to_thread(process.join)

    async def _start(self) -> None:
        # A start that nobody waits for any more goes on, and `stop` has to know of its process.
        self._starting = asyncio.ensure_future(asyncio.to_thread(self._start_now, self._next_kill()))
        await asyncio.shield(self._starting)

    def _start_now(self, place: int | None) -> None:
        process = PROCESSES.Process(target=serve, args=(self._order, place), daemon=True)
        process.start()
        self._running.append((process, place))

    def _next_kill(self) -> int | None:
        """The place of the first kill that is still to come and that no running process has."""
        given = {place for _, place in self._running}
        places = range(len(self._order.kills))
        due = (place for place in places if place not in given and not self._order.mark(place).exists())
        return next(due, None)


@asynccontextmanager
async def supervised(order: Order) -> AsyncIterator[Workers]:
    """Keep the worker processes of an order running until the block ends."""
    processes = Workers(order)
    try:
        await processes.start()
        watching = asyncio.create_task(processes.watch())
        try:
            yield processes
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
    finally:
        await processes.stop()
