"""What edgeshift is measured against: a workflow that does nothing, in as many activities as a zone's."""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import PollerBehaviorSimpleMaximum, Worker

QUEUE = "bench-bare"


@activity.defn
async def nothing(name: str) -> str:
    """Do nothing."""
    return name


@workflow.defn
class BareZone:
    """Local, remote, remote, local: the activities of a Professional zone, each of them empty."""

    @workflow.run
    async def run(self, name: str) -> str:
        """Run the four activities."""
        limit = timedelta(seconds=30)
        await workflow.execute_local_activity(nothing, name, start_to_close_timeout=limit)
        await workflow.execute_activity(nothing, name, start_to_close_timeout=limit)
        await workflow.execute_activity(nothing, name, start_to_close_timeout=limit)
        return await workflow.execute_local_activity(nothing, name, start_to_close_timeout=limit)


async def measure_bare(client: Client, zones: int, window: int) -> float:
    """Bare workflows per second, ``window`` of them at a time."""
    run = uuid.uuid4().hex[:8]
    at_once = asyncio.Semaphore(window)

    async def one(number: int) -> None:
        async with at_once:
            await client.execute_workflow(BareZone.run, "x", id=f"bare-{run}-{number}", task_queue=QUEUE)

    async with Worker(
        client,
        task_queue=QUEUE,
        workflows=[BareZone],
        activities=[nothing],
        workflow_task_poller_behavior=PollerBehaviorSimpleMaximum(20),
        activity_task_poller_behavior=PollerBehaviorSimpleMaximum(20),
    ):
        await one(-1)
        began = time.perf_counter()
        await asyncio.gather(*(one(number) for number in range(zones)))
        return zones / (time.perf_counter() - began)
