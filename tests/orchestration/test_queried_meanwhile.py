"""A query that comes with the task of a local activity: the SDK writes a history that it does not replay."""

from __future__ import annotations

import asyncio
import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle, WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, Worker

from edgeshift.operations.errors import Refused
from edgeshift.operations.repair import Repair, repair
from edgeshift.runtime.temporal import FAILS_OFTEN
from edgeshift.stores.archive import Archive
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


@pytest.mark.long
async def test_a_workflow_that_was_queried_during_a_local_activity_is_repaired(
    temporal_client: Client,
) -> None:
    """Its next task fails on a worker that has not got it in its cache, again and again, until a person has
    it reset; no message is lost, and nobody resets one that gets on.
    """
    queue = f"looks-{uuid.uuid4().hex[:8]}"
    parts: dict[str, Any] = {
        "task_queue": queue,
        "workflows": [LooksTwice],
        "activities": [look],
        "workflow_runner": UnsandboxedWorkflowRunner(),
    }
    for _ in range(10):
        async with Worker(temporal_client, **parts):
            first = await queried_meanwhile(temporal_client, queue)
            await asyncio.sleep(0.5)
            with pytest.raises(Refused, match="gets on"):
                await repaired(temporal_client, first.id)
        async with Worker(temporal_client, **parts, max_cached_workflows=0):
            await first.signal("stop")

            async def ends_or_fails(handle: WorkflowHandle[Any, int] = first) -> bool:
                found = await handle.describe()
                failing = found.raw_description.pending_workflow_task.attempt >= FAILS_OFTEN
                return found.close_time is not None or failing

            await eventually(ends_or_fails, 60, "the workflow ends, or its task fails again and again")
            if (await first.describe()).close_time is not None:
                # This time the query came too early or too late.
                continue
            tried = await repaired(temporal_client, first.id, dry_run=True)
            found = await repaired(temporal_client, first.id)
            assert (tried.run, tried.task) == ("", found.task)
            assert 0 < found.task < found.events
            assert found.why
            # Of whichever run is the last one.
            handle = temporal_client.get_workflow_handle(first.id, result_type=int)
            assert await handle.result() == STOPS
            with pytest.raises(Refused, match="closed"):
                await repaired(temporal_client, first.id)
            return
    pytest.fail("no such history came of ten tries: the SDK may replay them now (docs/decisions.md says not)")


async def repaired(client: Client, workflow: str, *, dry_run: bool = False) -> Repair:
    """As the verb does it, with the workflow above."""

    async def replay(history: WorkflowHistory) -> Exception | None:
        replayer = Replayer(workflows=[LooksTwice], workflow_runner=UnsandboxedWorkflowRunner())
        return (await replayer.replay_workflow(history, raise_on_replay_failure=False)).replay_failure

    # The workflow is of no campaign, which would have another.
    archive = Archive("/nowhere", make=False)
    return await repair(
        client, workflow, by="olga", reason="tried", replay=replay, archive=archive, dry_run=dry_run
    )
