"""A zone's workflow, alone, of which whoever starts it tells the campaign what it waits for: when it says so
nevertheless.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import ValidationError
from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.areas.assessment import Verdict
from edgeshift.messages import (
    Announce,
    Message,
    Part,
    Prepared,
    ReportKind,
    SayAgain,
    Stop,
    ToldReading,
    ZonePhase,
    ZoneReport,
    ZoneStart,
    ZoneState,
)
from tests.harness.disturbances.operators import reset
from tests.kit import eventually
from tests.kit.alone import zone_alone
from workflows.waf import WafZone

pytestmark = pytest.mark.embedded

READING = Prepared(verdict=Verdict.READY, snapshot="1" * 64, digest="2" * 64, fingerprint="3" * 64)


class Told:
    """A campaign that hears the zone's words, and an archive that has nothing of it."""

    def __init__(self) -> None:
        self.words: list[ZoneReport] = []

    @activity.defn(name="tell_campaign")
    async def tell(self, announce: Announce) -> None:
        """Keep the word."""
        self.words.append(announce.report)

    @activity.defn(name="look_back_at_commits")
    async def look_back(self, start: ZoneStart) -> Part:
        """Nothing is left of it."""
        return Part()


@asynccontextmanager
async def zone(
    client: Client, *before: tuple[str, Message], planned: Prepared | ToldReading | None = None
) -> AsyncIterator[tuple[WorkflowHandle[Any, Any], Told]]:
    """A zone that begins with a reading, and what it tells. ``before``: what it is told before it begins."""
    start = zone_alone("told", planned=planned or ToldReading(told=READING))
    told, tag = Told(), f"told-{uuid.uuid4().hex[:8]}"
    handle = await client.start_workflow("WafZone", start, id=tag, task_queue=tag)
    for name, word in before:
        await handle.signal(name, word)
    async with Worker(
        client,
        task_queue=tag,
        workflows=[WafZone],
        activities=[told.tell, told.look_back],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        yield handle, told


async def waits(handle: WorkflowHandle[Any, Any]) -> None:
    """Until the zone waits for a sign-off."""

    async def is_asking() -> bool:
        state = await handle.query("state", result_type=ZoneState)
        return bool(state.phase is ZonePhase.AWAITING_SIGN_OFF)

    await eventually(is_asking, 20, "the zone waits for a sign-off")


async def said(told: Told) -> ZoneReport:
    """The zone's first word."""

    async def has_said() -> bool:
        return bool(told.words)

    await eventually(has_said, 20, "the zone says what it waits for")
    return told.words[0]


async def test_a_zone_says_nothing_of_a_reading_of_which_its_campaign_is_told(
    temporal_client: Client,
) -> None:
    """Nor does it where it is read as it begins; one that began under an earlier version says so itself."""
    async with zone(temporal_client) as (handle, told):
        await waits(handle)
        assert told.words == []
    async with zone(temporal_client, planned=READING) as (handle, told):
        assert (await said(told)).kind is ReportKind.AWAITING


async def test_a_zone_that_is_asked_says_what_it_waits_for(temporal_client: Client) -> None:
    """Its campaign may not have been told: its answer is the one to that question."""
    async with zone(temporal_client) as (handle, told):
        await waits(handle)
        await handle.signal("say_again", SayAgain(campaign_run="r", attempt=1))
        word = await said(told)
        assert (word.kind, word.fingerprint) == (ReportKind.AWAITING, READING.fingerprint)
        assert word.again == handle.first_execution_run_id


async def test_a_zone_that_is_asked_before_it_begins_answers_once_it_waits(temporal_client: Client) -> None:
    """Its first task may come late, as where many zones are started at a time."""
    asked = ("say_again", SayAgain(campaign_run="r", attempt=1))
    async with zone(temporal_client, asked) as (handle, told):
        word = await said(told)
        assert (word.kind, word.fingerprint) == (ReportKind.AWAITING, READING.fingerprint)
        assert word.again == handle.first_execution_run_id and len(told.words) == 1


async def test_a_zone_that_is_stopped_before_it_begins_waits_for_no_question(
    temporal_client: Client,
) -> None:
    """It ends, though it was asked what it waits for."""
    asked = ("say_again", SayAgain(campaign_run="r", attempt=1))
    stop = ("stop", Stop(campaign_run="r", by="olga", reason="enough"))
    async with zone(temporal_client, asked, stop) as (handle, told):
        assert (await asyncio.wait_for(handle.result(), 30))["outcome"] == "aborted"
        assert [word.kind for word in told.words] == [ReportKind.FINISHED]


async def test_a_zone_that_is_reset_to_its_beginning_says_what_it_waits_for(temporal_client: Client) -> None:
    """Its campaign may have heard of more by then, of which the new run knows nothing."""
    async with zone(temporal_client) as (handle, told):
        await waits(handle)
        assert told.words == []
        assert await reset(temporal_client, temporal_client.get_workflow_handle(handle.id), 4)
        assert (await said(told)).kind is ReportKind.AWAITING


def test_an_earlier_worker_leaves_the_zone_to_a_later_one() -> None:
    """It finds no reading that it could read; else it would have the zone speak, which no replay follows."""
    with pytest.raises(ValidationError):
        Prepared.model_validate(ToldReading(told=READING).model_dump(mode="json"))
