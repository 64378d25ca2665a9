"""Somebody cancels a zone's workflow while it waits to see through what it has sent."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, Worker

from edgeshift.messages import Announce, GoOn, ZonePhase, ZoneReport, ZoneStart
from edgeshift.model.reasons import ReasonCode
from edgeshift.rate_limit.circuit import Trouble, held
from tests.kit import eventually
from tests.kit.alone import zone_alone
from workflows import options
from workflows.zone.parts import parts_of

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]

KEPT = {
    "service": ApplicationError(
        "held",
        held(Trouble.REFUSED, "403", datetime(2026, 11, 1, tzinfo=UTC)),
        type="ServiceCircuitOpen",
        non_retryable=True,
    ),
    "roots": ApplicationError("the roots do not know the service", type="NotLet", non_retryable=True),
}
"""What keeps a worker from looking."""


@workflow.defn(name="SeesThrough")
class SeesThrough:
    """A zone that looks at what it has sent, and has its permit still to give back."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._parts = parts_of(start)

    @workflow.run
    async def run(self, start: ZoneStart) -> str:
        """Why it stops, once it has looked."""
        zone = self._parts.zone
        zone.enter(ZonePhase.VERIFYING)
        zone.to_release = 1
        await self._parts.waits.served(
            lambda: workflow.execute_activity("look", start_to_close_timeout=timedelta(seconds=30)),
            sent=True,
            whole=True,
        )
        return "" if zone.stop is None or zone.stop.cause is None else zone.stop.cause.value


class Worked:
    """A worker that is not let look at first, and a campaign that hears the zone's words. ``told``: what
    becomes of the first word.
    """

    def __init__(self, kept: ApplicationError, told: str) -> None:
        self._kept, self._told = kept, told
        self.words: list[ZoneReport] = []
        self.looks, self.begun = 0, asyncio.Event()

    @activity.defn(name="look")
    async def look(self) -> None:
        """Not let at first."""
        self.looks += 1
        if self.looks == 1:
            raise self._kept

    @activity.defn(name="tell_campaign")
    async def tell(self, announce: Announce) -> None:
        """Keep the word."""
        first = not self.begun.is_set()
        self.begun.set()
        if first and self._told == "hangs":
            await asyncio.Event().wait()
        if first and self._told == "fails":
            raise ApplicationError("not now")
        self.words.append(announce.report)


async def waits(handle: WorkflowHandle[Any, Any]) -> bool:
    """Whether it has begun to wait for a time."""
    events = [event async for event in handle.fetch_history_events()]
    return any(event.HasField("timer_started_event_attributes") for event in events)


@pytest.mark.parametrize("kept", sorted(KEPT))
@pytest.mark.parametrize("told", ["", "hangs", "fails"])
async def test_what_was_sent_is_seen_through_and_nothing_is_begun_after_a_cancellation(
    temporal_client: Client, monkeypatch: pytest.MonkeyPatch, kept: str, told: str
) -> None:
    """Once it waits; while it tells the campaign so; and before that is tried again. The permit goes back."""
    if told == "fails":
        # The next try comes late, by a timer of the workflow.
        telling = {
            **options.telling(),
            "retry_policy": RetryPolicy(initial_interval=timedelta(seconds=50)),
            "local_retry_threshold": timedelta(seconds=1),
        }
        monkeypatch.setattr(options, "telling", lambda: telling)
    worked, tag = Worked(KEPT[kept], told), f"whole-{uuid.uuid4().hex[:8]}"
    async with Worker(
        temporal_client,
        task_queue=tag,
        workflows=[SeesThrough],
        activities=[worked.look, worked.tell],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        handle = await temporal_client.start_workflow(
            "SeesThrough", zone_alone("whole"), id=tag, task_queue=tag, result_type=str
        )
        await asyncio.wait_for(worked.begun.wait(), 30)
        if told != "hangs":
            await eventually(lambda: waits(handle), 30, "it waits")
        await handle.cancel()
        if kept == "service":
            await eventually(lambda: heard(handle), 30, "it has heard of the cancellation")
            await handle.signal("go_on", GoOn(campaign_run="r"))
        assert await asyncio.wait_for(handle.result(), 60) == ReasonCode.CANCELLED
    assert worked.looks == 2
    assert [word.releases for word in worked.words] == ([] if told == "hangs" else [1])
    history = await handle.fetch_history()
    again = Replayer(
        workflows=[SeesThrough],
        workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=temporal_client.data_converter,
    )
    await again.replay_workflow(history)


async def test_what_was_looked_at_as_it_was_cancelled_is_looked_at_again(temporal_client: Client) -> None:
    """While no worker took tasks of its workflow, what a look gave came in, and somebody cancelled it: one
    task has both, and the cancellation hides what was found. It ended as cancelled, without an outcome.
    """
    looks, begun, go = [0], asyncio.Event(), asyncio.Event()

    @activity.defn(name="look")
    async def look() -> None:
        looks[0] += 1
        begun.set()
        await go.wait()

    tag = f"whole-{uuid.uuid4().hex[:8]}"
    workflows = partial(
        Worker,
        temporal_client,
        task_queue=tag,
        workflows=[SeesThrough],
        workflow_runner=UnsandboxedWorkflowRunner(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )
    async with Worker(temporal_client, task_queue=tag, activities=[look]):
        async with workflows():
            handle = await temporal_client.start_workflow(
                "SeesThrough", zone_alone("whole"), id=tag, task_queue=tag, result_type=str
            )
            await asyncio.wait_for(begun.wait(), 30)
        go.set()
        await eventually(lambda: looked(handle), 30, "what the look gave comes in")
        await handle.cancel()
        async with workflows():
            assert await asyncio.wait_for(handle.result(), 60) == ReasonCode.CANCELLED
    assert looks == [2]
    again = Replayer(
        workflows=[SeesThrough],
        workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=temporal_client.data_converter,
    )
    await again.replay_workflow(await handle.fetch_history())


async def looked(handle: WorkflowHandle[Any, Any]) -> bool:
    """Whether what a look gave has come in."""
    events = [event async for event in handle.fetch_history_events()]
    return any(event.HasField("activity_task_completed_event_attributes") for event in events)


async def heard(handle: WorkflowHandle[Any, Any]) -> bool:
    """Whether a task of it that has heard of the cancellation is over."""
    events = [event.WhichOneof("attributes") async for event in handle.fetch_history_events()]
    asked = "workflow_execution_cancel_requested_event_attributes"
    return asked in events and "workflow_task_completed_event_attributes" in events[events.index(asked) :]
