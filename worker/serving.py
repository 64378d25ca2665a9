"""Serving task queues in this process until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable

import structlog
from temporalio.client import Client

from edgeshift.runtime.process_name import process_name
from edgeshift.runtime.settings import Settings
from edgeshift.runtime.temporal import connect, ensure_search_attributes
from edgeshift.stores.archive import Archive
from worker.recording_roots import recording_roots
from worker.renewed_key import key_renewed
from worker.wiring import pen_of, roots_of, workers

log = structlog.get_logger("edgeshift.worker")

COLLECTED_EVERY = 5_000, 10, 10
"""New objects after which Python looks for those that only hold each other, and how often it looks among
older ones. By its usual 700, and with all that is loaded looked through, that took 3 % of the processor's
time of a campaign of 60 zones.
"""


def keep_loaded() -> None:
    """Leave out what is there by now, the code and its models, wherever Python looks for what nobody needs:
    none of it goes before the process does. A look among all of it also held everything up.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED_EVERY)


def stop_signal() -> asyncio.Event:
    """Set by SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return stop


async def connected(settings: Settings) -> Client:
    """A client of the settings' Temporal by a name of its own; the search attributes are there. Raises
    TemporalError, SecretRefError.
    """
    client = await connect(settings.temporal, identity=process_name())
    await ensure_search_attributes(client)
    return client


async def serve(
    client: Client, settings: Settings, stop: asyncio.Event, ready: Callable[[], None] | None = None
) -> None:
    """Serve the task queues of these settings until ``stop``. Raises RootsError, ArchiveError."""
    queues = ",".join(queue.short for queue in settings.worker.served)
    roots = roots_of(settings)
    pen = pen_of(settings, roots)
    keep_loaded()
    async with (
        key_renewed(client, settings.temporal),
        workers(client, settings),
        recording_roots(client.identity, roots, Archive(settings.archive), pen.key if pen else ""),
    ):
        log.info(
            "worker runs",
            address=settings.temporal.address,
            namespace=settings.temporal.namespace,
            queues=queues,
        )
        if ready is not None:
            ready()
        await stop.wait()
        log.info("worker stops: no new work, what is on the wire is seen through", queues=queues)
    log.info("worker stopped", queues=queues)
