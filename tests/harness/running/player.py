"""A process that plays cases, several at a time, on one Temporal server of its own: it reads orders, one line
of JSON each, and answers each with a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import IO

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.harness.cases import World
from tests.harness.families.every import case_of
from tests.harness.running.played import played

COLLECTS_AT = "400"
"""Percent by which the server's heap grows between its collections (Go's own setting): a fifth less work."""

SHARED = Path("/dev/shm")
"""The usual file system in memory."""


async def serve() -> None:
    """Play what is read until nothing more comes, and all that was read has been answered."""
    answers = _own_stdout()
    loop = asyncio.get_running_loop()
    this = asyncio.current_task()
    assert this is not None
    loop.add_signal_handler(signal.SIGTERM, this.cancel)
    orders = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    async with AsyncExitStack() as whole:
        data = whole.enter_context(tempfile.TemporaryDirectory(prefix="harness-", dir=_in_memory()))
        server = await whole.enter_async_context(embedded_temporal(Path(data)))
        playing = await whole.enter_async_context(asyncio.TaskGroup())
        client = await connect(TemporalSettings(address=server.address), identity="harness")

        async def play(order: dict[str, str]) -> None:
            world = World(client, server.address, Path(order["folder"]))
            verdict = await played(case_of(order["id"]), world)
            if verdict.complaints:
                await asyncio.to_thread(shutil.copy, server.log, world.folder / "server.log")
            answers.write(json.dumps({"id": order["id"], "verdict": verdict.model_dump()}) + "\n")
            answers.flush()

        while line := await orders.readline():
            playing.create_task(play(json.loads(line)))


def _in_memory() -> str | None:
    """Where files are kept in memory, or None. The server's own database in memory is gone for good once a
    busy machine has interrupted its last connection, and every case after that would be lost.
    """
    return str(SHARED) if SHARED.is_dir() and os.access(SHARED, os.W_OK) else None


def _own_stdout() -> IO[str]:
    """What was the standard output. From now on whoever prints prints to the standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def main() -> None:
    """The whole life of the process."""
    os.environ.setdefault("GOGC", COLLECTS_AT)
    asyncio.run(serve())
