"""One worker process: connect, run until told to stop, finish what is on the wire."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

import structlog

from edgeshift.runtime.settings import Settings
from edgeshift.runtime.temporal import connect, ensure_search_attributes
from worker.wiring import workers

log = structlog.get_logger("edgeshift.worker")


async def run(settings: Settings, *, ready: Callable[[], None] | None = None) -> None:
    """Run a worker until SIGINT or SIGTERM; a change that is on the wire is seen through before it ends.

    Raises TemporalError where Temporal cannot be used.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    client = await connect(settings.temporal)
    await ensure_search_attributes(client)
    async with workers(client, settings):
        log.info("worker runs", address=settings.temporal.address, namespace=settings.temporal.namespace)
        if ready is not None:
            ready()
        await stop.wait()
        log.info("worker stops: no new work, what is on the wire is seen through")
    log.info("worker stopped")
