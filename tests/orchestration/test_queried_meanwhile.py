"""A query that comes with the task of a local activity: the SDK writes a history that it does not replay."""

from __future__ import annotations

import asyncio
import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.mending import broken_at, mend_one
from tests.kit import eventually

pytestmark = pytest.mark.embedded

STOPS = 3
"""Messages after which the workflow below ends."""

begun, done = asyncio.Event(), asyncio.Event()
answer = threading.Event()


@activity.defn
async def look(which: str) -> None:
    """Local. The first one takes its time, so that messages come meanwhile; the second one takes none."""
    if which == "first":
        begun.set()
        await asyncio.sleep(0.6)
    else:
        done.set()


@workflow.defn(name="LooksTwice")
class LooksTwice:
    """Looks, waits for a message, looks again, and then takes a course that a marker guards."""

    def __init__(self) -> None:
        self._stops = 0

    @workflow.run
    async def run(self) -> int:
        await self._look("first")
        await workflow.wait_condition(lambda: self._stops > 0)
        await self._look("second")
        if workflow.patched("a-later-course"):
            await workflow.sleep(0.001)
        await workflow.wait_condition(lambda: self._stops >= STOPS)
        return self._stops

    @workflow.signal
    def stop(self) -> None:
        self._stops += 1

    @workflow.query
    def stops(self) -> int:
        # Answered once the second look is done, and another message has come.
        answer.wait(1.5)
        return self._stops

    async def _look(self, which: str) -> None:
        await workflow.execute_local_activity(look, which, start_to_close_timeout=timedelta(seconds=30))


async def queried_meanwhile(client: Client, queue: str) -> WorkflowHandle[Any, int]:
    """A workflow whose second look was done while a query was answered in the same task."""
    for event in (begun, done, answer):
        event.clear()
    handle = await client.start_workflow(LooksTwice.run, id=f"looks/{uuid.uuid4().hex}", task_queue=queue)
    await begun.wait()
    query = asyncio.create_task(handle.query("stops"))
    await asyncio.sleep(0.1)
    await handle.signal("stop")
    await done.wait()
    # The engine learns of the result, and the message waits for the task's end.
    await asyncio.sleep(0.2)
    await handle.signal("stop")
    answer.set()
    await query
    return handle


async def test_a_workflow_that_was_queried_during_a_local_activity_goes_on(temporal_client: Client) -> None:
    """Its next task fails on a worker that has not got it in its cache, again and again, until it is reset;
    no message is lost.
    """
    queue = f"looks-{uuid.uuid4().hex[:8]}"
    parts: dict[str, Any] = {
        "task_queue": queue,
        "workflows": [LooksTwice],
        "activities": [look],
        "workflow_runner": UnsandboxedWorkflowRunner(),
    }
    for _ in range(5):
        async with Worker(temporal_client, **parts):
            first = await queried_meanwhile(temporal_client, queue)
            await asyncio.sleep(0.5)
        # Of whichever run is the last one.
        handle = temporal_client.get_workflow_handle(first.id, result_type=int)
        async with Worker(temporal_client, **parts, max_cached_workflows=0):
            await handle.signal("stop")
            mended = 0

            async def is_over(handle: WorkflowHandle[Any, int] = handle) -> bool:
                nonlocal mended
                found = await handle.describe()
                mended += await mend_one(temporal_client, found)
                return found.close_time is not None

            await eventually(is_over, 30, "the workflow ends")
            assert await handle.result() == STOPS
            if mended:
                assert mended == 1
                history = await temporal_client.get_workflow_handle(
                    first.id, run_id=first.first_execution_run_id
                ).fetch_history()
                assert broken_at(history.events) is not None
                return
    pytest.fail(
        "no such history came of five tries: the SDK may have been mended, and activities/mending.py may be"
    )
