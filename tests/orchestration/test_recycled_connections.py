"""A Temporal server closes each of its connections after some minutes, and takes new ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect, polling
from edgeshift.testbed.temporal_server.embedded import embedded_temporal

pytestmark = pytest.mark.embedded

AGE = {"frontend.keepAliveMaxConnectionAge": '"1s"'}
"""Instead of five minutes."""


async def test_whoever_waits_for_a_plan_goes_on_waiting(temporal_cli_path: Path) -> None:
    """Its look at the workers comes back cancelled now and then, beside a long poll that keeps the old
    connection; asked over a new one, it is answered.
    """
    async with embedded_temporal(None, settings=AGE) as server:
        client = await connect(TemporalSettings(address=server.address), identity="test")
        waiting = asyncio.create_task(_never(client))
        try:
            for _ in range(120):
                assert await polling(client, Queue.CONTROL) == []
                await asyncio.sleep(0.05)
        finally:
            waiting.cancel()


async def _never(client: Client) -> None:
    handle = await client.start_workflow("Nobody", id="nobody", task_queue="served by nobody")
    await handle.result()
