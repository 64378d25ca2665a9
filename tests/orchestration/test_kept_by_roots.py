"""What was sent stays in flight while the worker's roots keep it from being looked at."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from itertools import count

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import Announce, ReportKind, Step, ZonePhase, ZoneReport, ZoneStart
from edgeshift.model.reasons import ReasonCode
from tests.kit.alone import zone_alone
from tests.rules.ledger_kit import HOUR, NOW, ledger, place
from workflows.zone.parts import parts_of

pytestmark = pytest.mark.embedded


@workflow.defn(name="SentZone")
class SentZone:
    """A zone that looks at what it has sent, and has its permit still to give back."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._parts = parts_of(start)

    @workflow.run
    async def run(self, start: ZoneStart) -> None:
        """Its index is that of its phase."""
        self._parts.zone.enter(list(ZonePhase)[start.index])
        self._parts.zone.to_release = 1
        await self._parts.waits.served(
            lambda: workflow.execute_activity("look", start_to_close_timeout=timedelta(seconds=30)), sent=True
        )


class Worked:
    """A worker whose roots do not know the service at first, and a campaign that hears the zone's words."""

    def __init__(self) -> None:
        self.words: list[ZoneReport] = []
        self.looks = count(1)

    @activity.defn(name="look")
    async def look(self) -> None:
        """Not let at first."""
        if next(self.looks) == 1:
            raise ApplicationError("the roots do not know the service", type="NotLet", non_retryable=True)

    @activity.defn(name="tell_campaign")
    async def tell(self, announce: Announce) -> None:
        """Keep the word."""
        self.words.append(announce.report)


@pytest.mark.parametrize(
    ("phase", "keeps"),
    [
        (ZonePhase.COMMITTING, True),
        (ZonePhase.VERIFYING, True),
        (ZonePhase.WATCHING, False),
        (ZonePhase.ROLLING_BACK, False),
        (ZonePhase.STARTING_VALIDATION, False),
    ],
)
async def test_what_the_roots_keep_from_being_looked_at_keeps_its_place(
    temporal_client: Client, phase: ZonePhase, keeps: bool
) -> None:
    """Else a window of one has two commits in flight. A zone in validation holds nobody up."""
    index, worked, tag = list(ZonePhase).index(phase), Worked(), f"sent-{uuid.uuid4().hex[:8]}"
    async with Worker(
        temporal_client,
        task_queue=tag,
        workflows=[SentZone],
        activities=[worked.look, worked.tell],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        run = temporal_client.execute_workflow(
            "SentZone", zone_alone("sent", index=index), id=tag, task_queue=tag
        )
        await asyncio.wait_for(run, 30)
    (word,) = worked.words
    assert (word.kind, word.releases) == (ReportKind.WAITING, 1)
    assert (ReasonCode.EARLIER_CHANGE_AWAITED in word.codes) is keeps
    found, numbers = ledger(len(ZonePhase)), count(1)
    found.keeps_places = True
    before = found.in_flight()
    found.permit(index, Step.COMMIT, "r", NOW + HOUR, draw=lambda: next(numbers))
    assert found.hear(word, NOW)
    assert found.in_flight() == before - (not keeps)
    assert place(found, index) is (TargetState.WORKING if keeps else TargetState.WAITING)
