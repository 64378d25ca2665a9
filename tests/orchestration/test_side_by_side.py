"""What a campaign does goes on side by side: what hangs or fails in one thing holds up none of the others.
A campaign that somebody cancels leaves none of its zones alone.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.messages import (
    Again,
    Answer,
    CampaignSummary,
    DescribeZones,
    ReportKind,
    ZonePhase,
    ZoneReport,
    ZoneState,
)
from edgeshift.model.fleet import ZoneOutcome
from tests.harness.campaigns.authority import ONE
from tests.kit import OPERATOR
from tests.kit.faults import ASIDE, Stage, staged, zone
from tests.kit.tiers import tiered

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]


class Hanging(Interceptor):
    """Activities of one name hang after so many runs of them, or fail for good, until ``go`` is set."""

    def __init__(self, name: str, after: int = 0, *, fails: bool = False) -> None:
        self._name, self._after, self._fails = name, after, fails
        self._runs = 0
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        hanging = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                if activity.info().activity_type == hanging._name and not _looks_into_ends(input):
                    await hanging.held_up()
                return await super().execute_activity(input)

        return Inbound(next)

    async def held_up(self) -> None:
        """Wait, or fail, where it is time for that."""
        self._runs += 1
        if self._runs <= self._after or self.go.is_set():
            return
        self.begun.set()
        if self._fails:
            raise ApplicationError("the archive is damaged", type="ArchiveCorrupt", non_retryable=True)
        await self.go.wait()


def _looks_into_ends(input: ExecuteActivityInput) -> bool:
    """Whether it is asked what became of targets that are said to have ended, without which none has."""
    return any(isinstance(given, DescribeZones) and bool(given.ended) for given in input.args)


TWO_AT_A_TIME: dict[str, Any] = {"window": 2, "commit": {"lease": "6s"}}


async def first_migrates(stage: Stage, hanging: Hanging) -> None:
    """The first zone is signed off and migrated, while starting the third one does not get on."""
    await stage.waits("a")
    await asyncio.wait_for(hanging.begun.wait(), 30)
    await stage.play.sign_zone(stage.name("a"))
    assert await asyncio.wait_for(stage.play.outcome(stage.name("a")), 60) is ZoneOutcome.MIGRATED
    assert not hanging.go.is_set()


@pytest.mark.parametrize("fails", tiered([False, True]), ids=["hangs", "fails for good"])
async def test_a_start_that_does_not_get_on_holds_up_no_permit_and_no_pause(
    temporal_client: Client, tmp_path: Path, fails: bool
) -> None:
    """A pause waits for it no longer than a permit that it takes along can be used."""
    hanging = Hanging("start_zones", after=1, fails=fails)
    zones = (zone("a"), zone("b"), zone("c"))
    async with staged(temporal_client, tmp_path, *zones, interceptors=[hanging], **TWO_AT_A_TIME) as stage:
        await first_migrates(stage, hanging)
        answer = await asyncio.wait_for(stage.play.ask("pause"), 60)
        assert "paused" in answer.text
        hanging.go.set()
        await asyncio.wait_for(stage.play.ask("resume"), 30)
        assert (await stage.finish(120)).outcomes == {"migrated": 3}
        await stage.check({3, 4})


async def test_a_sweep_that_hangs_holds_up_neither_starts_nor_permits_nor_expiry(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nobody can be looked at; one zone is signed and migrated, the other one waits in vain until it may."""
    hanging = Hanging("describe_zones")
    spec: dict[str, Any] = {"interceptors": [hanging], "sign_off": {"expires_after": "8h"}}
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), **spec) as stage:
        await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"))
        await asyncio.wait_for(hanging.begun.wait(), 60)
        assert await stage.play.outcome(stage.name("b")) is ZoneOutcome.ON_HOLD
        assert await stage.play.outcome(stage.name("a")) is ZoneOutcome.MIGRATED
        hanging.go.set()
        result = await stage.play.result()
        assert result.outcomes == {"migrated": 1, "on_hold": 1}
        await stage.check(ASIDE)


async def test_a_permit_that_comes_late_is_not_for_the_next_attempt(
    temporal_client: Client, tmp_path: Path
) -> None:
    """While it hangs on its way, somebody ends the zone's workflow, and the zone is begun again: the campaign
    knows of no permit any more that a pause would have to take back.
    """
    hanging = Hanging("tell_zones")
    slow: dict[str, Any] = {"interceptors": [hanging], "silence": "60s", "commit": {"lease": "100s"}}
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), **slow) as stage:
        await stage.waits("b")
        await stage.waits("a")
        a = stage.name("a")
        await stage.play.sign_zone(a)
        await asyncio.wait_for(hanging.begun.wait(), 30)
        await stage.play.zone(a).terminate("by hand")
        await stage.play.until(lambda seen: seen.places.get("failed") == 1)
        again = Again(by=OPERATOR, indexes=(stage.play.index(a),))
        await stage.play.campaign.execute_update("retry", again, result_type=Answer)

        def begun_again(seen: ZoneState) -> bool:
            return seen.attempt == 2 and seen.phase is ZonePhase.AWAITING_SIGN_OFF

        await stage.play.zone_until(a, begun_again)
        await asyncio.wait_for(stage.play.ask("pause"), 60)
        await stage.play.sign_zone(a)
        hanging.go.set()
        await asyncio.sleep(5)
        assert (await stage.play.state(a)).phase is ZonePhase.AWAITING_PERMIT
        await stage.play.ask("resume")
        assert (await stage.finish(120)).outcomes == {"migrated": 2}
        await stage.check({3, 4})


async def test_a_campaign_that_is_cancelled_as_it_closes_closes_with_its_outcomes(
    temporal_client: Client, tmp_path: Path
) -> None:
    """All zones have their outcome and a last look hangs: the cancellation ends nothing but the wait."""
    hanging = Hanging("describe_zones")
    async with staged(temporal_client, tmp_path, zone("a"), interceptors=[hanging]) as stage:
        await stage.waits("a")
        await asyncio.wait_for(hanging.begun.wait(), 60)
        await stage.play.sign_zone(stage.name("a"))
        assert await stage.play.outcome(stage.name("a")) is ZoneOutcome.MIGRATED

        def all_have_ended(seen: CampaignSummary) -> bool:
            return seen.places == {"migrated": 1}

        await stage.play.until(all_have_ended)
        await stage.play.campaign.cancel()
        await asyncio.sleep(1)
        hanging.go.set()
        assert (await asyncio.wait_for(stage.play.result(), 60)).outcomes == {"migrated": 1}
        described = await stage.play.campaign.describe()
        assert described.status is WorkflowExecutionStatus.COMPLETED
        await stage.check(ASIDE)


async def test_a_campaign_that_is_cancelled_as_it_compares_its_outcomes_compares_them_anew(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It closes with its outcomes, compared, and nobody has aborted it."""
    hanging = Hanging("compare_outcomes")
    async with staged(temporal_client, tmp_path, zone("a"), interceptors=[hanging], authority=ONE) as stage:
        await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"))
        await asyncio.wait_for(hanging.begun.wait(), 60)
        await stage.play.campaign.cancel()
        await asyncio.sleep(1)
        hanging.go.set()
        result = await asyncio.wait_for(stage.play.result(), 60)
        assert (result.outcomes, result.aborted) == ({"migrated": 1}, False)
        assert result.compared is not None and result.compared.read == 1
        await stage.check(ASIDE)


async def test_a_zone_that_begins_again_while_its_campaign_closes_is_seen_to_its_end(
    temporal_client: Client, tmp_path: Path
) -> None:
    """All zones have their outcome and a last look hangs; then a word comes of an attempt that the campaign
    does not know, so that it is not over yet, and takes a reopening.
    """
    hanging = Hanging("describe_zones")
    spec: dict[str, Any] = {"interceptors": [hanging], "sign_off": {"expires_after": "8h"}}
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), **spec) as stage:
        await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"))
        await asyncio.wait_for(hanging.begun.wait(), 60)

        def all_have_ended(seen: CampaignSummary) -> bool:
            return seen.places == {"migrated": 1, "on_hold": 1}

        await stage.play.until(all_have_ended)
        campaign, a, b = stage.play.campaign, *(stage.play.index(stage.name(name)) for name in "ab")
        first = (await campaign.describe()).run_id
        stray = ZoneReport(campaign_run=first, index=a, attempt=2, sequence=1, kind=ReportKind.WAITING)
        await campaign.signal("zone_report", stray)
        await campaign.execute_update("reopen", Again(by=OPERATOR, indexes=(b,)), result_type=Answer)
        hanging.go.set()
        await stage.waits("b")
        await stage.play.sign_zone(stage.name("b"))
        assert (await asyncio.wait_for(stage.play.result(), 90)).outcomes == {"migrated": 2}
        await stage.check(ASIDE)


async def test_a_campaign_that_is_cancelled_in_its_middle_takes_its_zones_along(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Those that wait end as aborted, one that has begun is seen through, and none is left open."""
    zones = (zone("a"), zone("b"), zone("c"))
    async with staged(temporal_client, tmp_path, *zones, window=2) as stage:
        await stage.waits("a")
        await stage.play.campaign.cancel()
        result = await asyncio.wait_for(stage.play.result(), 60)
        assert (result.aborted, result.outcomes) == (True, {"aborted": 3})
        await stage.check(ASIDE | {1, 2, 5, 8, 9})
