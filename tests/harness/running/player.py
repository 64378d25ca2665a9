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
from pathlib import Path
from typing import IO

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.harness.cases import World
from tests.harness.families.every import case_of
from tests.harness.running.played import played

COLLECTS_AT = "400"
"""Percent by which the server's heap grows between its collections (Go's own setting): a fifth less work."""


async def serve() -> None:
    """Play what is read until nothing more comes, and all that was read has been answered."""
    answers = _own_stdout()
    loop = asyncio.get_running_loop()
    this = asyncio.current_task()
    assert this is not None
    loop.add_signal_handler(signal.SIGTERM, this.cancel)
    orders = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    async with embedded_temporal(None) as server, asyncio.TaskGroup() as playing:
        client = await connect(TemporalSettings(address=server.address), identity="harness")

        async def play(order: dict[str, str]) -> None:
            world = World(client, server.address, Path(order["folder"]))
            verdict = await played(case_of(order["id"]), world)
            if verdict.complaints:
                await asyncio.to_thread(shutil.copy, server.log, world.folder / "server.log")
            lost = bool(verdict.complaints) and await _is_lost(client)
            answer = {"id": order["id"], "verdict": verdict.model_dump(), "lost": lost}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()

        while line := await orders.readline():
            playing.create_task(play(json.loads(line)))


async def _is_lost(client: Client) -> bool:
    """Whether the server knows nothing any more. Its database in memory is gone for good once a busy machine
    has interrupted the last connection to it: no case can be played there, whatever edgeshift does.
    """
    try:
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    except RPCError:
        return True
    return False


def _own_stdout() -> IO[str]:
    """What was the standard output. From now on whoever prints prints to the standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def main() -> None:
    """The whole life of the process."""
    os.environ.setdefault("GOGC", COLLECTS_AT)
    asyncio.run(serve())
