"""Words of the campaign that come at an awkward moment: while a zone goes on in a new run, or while a step is
under way of which the campaign knows nothing.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.messages import (
    Announce,
    Expire,
    Message,
    ReportKind,
    Revoke,
    Ruling,
    Stop,
    ZonePhase,
    ZoneStart,
    ZoneState,
)
from edgeshift.model.sign_off import Choice, Decision
from tests.kit import eventually
from tests.kit.alone import zone_alone
from workflows.zone.parts import parts_of
from workflows.zone.state import Ended

pytestmark = pytest.mark.embedded

FLOODING, OTHER = 99, 7


@workflow.defn(name="FloodedZone")
class FloodedZone:
    """A zone that waits for a sign-off and has too many messages as soon as a permit is taken back."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._parts = parts_of(start)
        self._zone = self._parts.zone
        self._parts.waits.is_flooded = lambda: bool(self._zone.revoked)  # type: ignore[method-assign]

    @workflow.run
    async def run(self, start: ZoneStart) -> str:
        """What it heard. The one with the index 0 is in the middle of a word until it is told something."""
        if start.carried is not None:
            return "went on without it"
        if start.index == 0:
            await self._parts.reporter.turn.acquire()
            self._speaking = asyncio.create_task(self._speak())
        zone = self._zone
        zone.enter(ZonePhase.AWAITING_SIGN_OFF)
        try:
            await self._parts.waits.until(
                lambda: zone.expired or zone.ruling is not None, None, resumable=True
            )
        except Ended as ended:
            return ended.reason
        return "expired" if zone.expired else "rejected"

    async def _speak(self) -> None:
        zone = self._zone
        await workflow.wait_condition(lambda: zone.stop is not None or zone.expired or bool(zone.ruling))
        self._parts.reporter.turn.release()


@workflow.defn(name="BusyZone")
class BusyZone:
    """A zone in which a step is under way until the campaign says that it has to stop."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._zone = parts_of(start).zone
        self._zone.using = start.index

    @workflow.run
    async def run(self, start: ZoneStart) -> None:
        """The permit in use is the index of the zone."""
        await workflow.wait_condition(lambda: self._zone.stop is not None)
        # It was sent, and has been seen through.
        self._zone.using, self._zone.called_off = None, False
        await workflow.wait_condition(workflow.all_handlers_finished)


class Told:
    """A campaign that hears a zone's words."""

    def __init__(self) -> None:
        self.words: list[Announce] = []

    @activity.defn(name="tell_campaign")
    async def tell(self, announce: Announce) -> None:
        """Keep the word."""
        self.words.append(announce)


@asynccontextmanager
async def zone(
    client: Client, kind: type[FloodedZone | BusyZone], index: int = 0
) -> AsyncIterator[tuple[WorkflowHandle[Any, Any], Told]]:
    """A zone's workflow, alone, and what it tells."""
    start = zone_alone("words", index=index)
    told, tag = Told(), f"words-{uuid.uuid4().hex[:8]}"
    async with Worker(
        client,
        task_queue=tag,
        workflows=[kind],
        activities=[told.tell],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        name = "FloodedZone" if kind is FloodedZone else "BusyZone"
        handle = await client.start_workflow(name, start, id=tag, task_queue=tag)
        yield handle, told


REJECTED = Decision(choice=Choice.REJECT, digest="0" * 64, by="ann")


@pytest.mark.parametrize(
    "name, word, heard",
    [
        ("stop", Stop(campaign_run="r", by="olga", reason="enough"), "campaign aborted by olga: enough"),
        ("expire", Expire(campaign_run="r", attempt=1), "expired"),
        ("ruling", Ruling(campaign_run="r", decision=REJECTED), "rejected"),
    ],
)
async def test_a_word_that_comes_while_a_flooded_zone_leaves_is_heard(
    temporal_client: Client, name: str, word: Message, heard: str
) -> None:
    """A zone that goes on in a new run waits for what it still has to say: until then it listens."""
    async with zone(temporal_client, FloodedZone) as (handle, _):

        async def waits() -> bool:
            state = await handle.query("state", result_type=ZoneState)
            return bool(state.phase is ZonePhase.AWAITING_SIGN_OFF)

        await eventually(waits, 20, "the zone waits for a sign-off")
        await handle.signal("revoke", Revoke(campaign_run="r", number=FLOODING))
        await asyncio.sleep(1)
        await handle.signal(name, word)
        assert await asyncio.wait_for(handle.result(), 20) == heard


async def test_a_rejection_of_an_earlier_attempt_does_not_count(temporal_client: Client) -> None:
    """It was on its way while people began the zone again."""
    async with zone(temporal_client, FloodedZone) as (handle, _):
        await handle.signal("ruling", Ruling(campaign_run="r", attempt=OTHER, decision=REJECTED))
        await handle.signal("stop", Stop(campaign_run="r", by="olga", reason="enough"))
        assert await asyncio.wait_for(handle.result(), 20) == "campaign aborted by olga: enough"


async def test_a_flooded_zone_that_hears_nothing_goes_on_in_a_new_run(temporal_client: Client) -> None:
    """As soon as it has said what it had to."""
    async with zone(temporal_client, FloodedZone, 1) as (handle, told):
        await handle.signal("revoke", Revoke(campaign_run="r", number=FLOODING))
        assert await asyncio.wait_for(handle.result(), 20) == "went on without it"
        assert [word.report.kind for word in told.words] == [ReportKind.RELEASED]


@pytest.mark.parametrize("using, waits", [(OTHER, True), (FLOODING, True), (-1, False)])
async def test_a_permit_counts_as_taken_back_once_nothing_can_be_sent(
    temporal_client: Client, using: int, waits: bool
) -> None:
    """A campaign that was reset does not know of the permit in use. The rollback holds no pause up."""
    async with zone(temporal_client, BusyZone, using) as (handle, told):
        await handle.signal("revoke", Revoke(campaign_run="r", number=FLOODING))
        if waits:
            await asyncio.sleep(1.5)
            assert told.words == []
            await handle.signal("stop", Stop(campaign_run="r", by="olga"))
        await eventually(lambda: _said(told), 20, "the campaign is told that the permit is settled")
        report = told.words[0].report
        assert (report.kind, report.releases) == (ReportKind.RELEASED, FLOODING)
        if not waits:
            await handle.signal("stop", Stop(campaign_run="r", by="olga"))
        await asyncio.wait_for(handle.result(), 20)


async def _said(told: Told) -> bool:
    return bool(told.words)
