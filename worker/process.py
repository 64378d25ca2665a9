"""One worker: connect, run until told to stop, finish what is on the wire.

It is two processes where it serves both what people wait for and the zones' work (``divided``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings
from worker.beside import Beside
from worker.serving import connected, serve, stop_signal
from worker.wiring import pen_of, roots_of

PEOPLE_WAIT_FOR = (Queue.CONTROL, Queue.QUOTA)
"""The queues that a process of its own serves: beside hundreds of zones at work an answer took seconds."""


def divided(settings: Settings) -> tuple[Settings, Settings | None]:
    """The settings of this process, and those of the one beside it; None where there is none."""
    served = settings.worker.served
    theirs = [queue for queue in served if queue in PEOPLE_WAIT_FOR]
    ours = [queue for queue in served if queue not in PEOPLE_WAIT_FOR]
    if settings.worker.processes == 1 or not theirs or not ours:
        return settings, None
    return _serving(settings, ours), _serving(settings, theirs)


def _serving(settings: Settings, queues: list[Queue]) -> Settings:
    worker = settings.worker.model_copy(update={"queues": ",".join(queue.short for queue in queues)})
    return settings.model_copy(update={"worker": worker})


async def run(settings: Settings, *, ready: Callable[[], None] | None = None) -> None:
    """Run a worker until SIGINT or SIGTERM; a change that is on the wire is seen through before it ends.

    Raises TemporalError where Temporal cannot be used, SecretRefError where its API key is not found,
    RootsError where the roots of authority cannot be used, ArchiveError where the archive cannot.
    """
    # Before anything runs: a worker that cannot read its roots would refuse everything, and of one without a
    # key nobody could tell what it has seen.
    pen_of(settings, roots_of(settings))
    stop = stop_signal()
    # Before the other process begins: where there is no Temporal, one error is enough.
    client = await connected(settings)
    ours, theirs = divided(settings)
    async with AsyncExitStack() as running:
        if theirs is not None:
            # Whoever sees something through may need a turn within the rate limit: the other one ends last.
            await running.enter_async_context(Beside(theirs))
        await serve(client, ours, stop, ready)
