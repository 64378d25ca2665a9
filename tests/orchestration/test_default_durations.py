"""Campaigns with the real default durations, on the time-skipping server."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import ZoneOutcome
from tests.kit import Scene, SkippedClock, fleet_of, scene

pytestmark = pytest.mark.time_skipping


def asks_for_sign_off(state: ZoneState) -> bool:
    """Whether the zone waits for a person."""
    return state.phase is ZonePhase.AWAITING_SIGN_OFF


async def passes(env: WorkflowEnvironment, time: timedelta) -> None:
    """Let a time pass, in steps: each is one call of the server, which has half a minute for all that is due
    on the way.
    """
    step = timedelta(hours=6)
    for _ in range(time // step):
        await env.sleep(step)
    if rest := time % step:
        await env.sleep(rest)


async def _readings(play: Scene) -> int:
    """How often zones were read as a whole."""
    return len(await play.journal("waf.check"))


HOUR = {"migration_seconds": 3300, "validation_seconds": 2, "visibility_seconds": 200}


async def test_a_professional_zone_survives_a_migration_of_an_hour(
    time_skipping_env: WorkflowEnvironment, tmp_path: Path
) -> None:
    """The effect shows after 58 minutes; nothing is sent twice and nothing fails early."""
    clock = SkippedClock(time_skipping_env)
    fleet = fleet_of({"name": "shop.example", "plan": "pro"})
    async with scene(time_skipping_env.client, tmp_path, fleet, clock=clock, simulator=HOUR) as play:
        state = await play.zone_until("shop.example", asks_for_sign_off)
        await play.sign([state.fingerprint])
        before = clock.now()
        assert await play.outcome("shop.example") is ZoneOutcome.MIGRATED
        assert clock.now() - before >= timedelta(minutes=55)
        assert len(await play.commits()) == 1
        await play.result()
        await play.check_rules(absent={3, 4, 6, 7})


@pytest.mark.long
async def test_an_enterprise_zone_is_watched_for_72_hours_before_anybody_is_asked(
    time_skipping_env: WorkflowEnvironment, tmp_path: Path
) -> None:
    """The default window passes in validation mode; its evidence is there when people are asked to sign, and
    so is what the zone has by then, which was read once more.
    """
    clock = SkippedClock(time_skipping_env)
    fleet = fleet_of({"name": "big.example", "plan": "enterprise"})
    async with scene(time_skipping_env.client, tmp_path, fleet, clock=clock, simulator=HOUR) as play:
        await play.zone_until("big.example", lambda found: found.phase is ZonePhase.VALIDATING)
        began = clock.now()
        await passes(time_skipping_env, timedelta(hours=71))
        assert (await play.state("big.example")).phase is ZonePhase.VALIDATING
        await passes(time_skipping_env, timedelta(hours=2))
        state = await play.zone_until("big.example", asks_for_sign_off)
        await clock.refresh()
        assert clock.now() - began >= timedelta(hours=72)
        assert state.evidence
        assert await _readings(play) == 2
        await play.sign_zone("big.example")
        assert await play.outcome("big.example") is ZoneOutcome.MIGRATED
        assert await _readings(play) == 2
        await play.result()
        await play.check_rules(absent={4, 6, 7})


@pytest.mark.long
async def test_a_zone_that_too_few_sign_goes_on_hold_after_14_days(
    time_skipping_env: WorkflowEnvironment, tmp_path: Path
) -> None:
    """One approval of two changes nothing about that. The other zone, which two people sign on day 13, is
    read once more, and migrates.
    """
    clock = SkippedClock(time_skipping_env)
    fleet = fleet_of(
        {"name": "a.example", "plan": "pro"}, {"name": "b.example", "plan": "pro", "paused": True}
    )
    policy = {"required": 2}
    async with scene(
        time_skipping_env.client, tmp_path, fleet, clock=clock, simulator=HOUR, sweep="12h", sign_off=policy
    ) as play:
        await play.zone_until("a.example", asks_for_sign_off)
        await play.zone_until("b.example", asks_for_sign_off)
        await play.sign_zone("a.example")
        await passes(time_skipping_env, timedelta(days=13))
        assert (await play.state("a.example")).phase is ZonePhase.AWAITING_SIGN_OFF
        before = await _readings(play)
        await play.sign_zone("b.example", by="bob")
        await play.sign_zone("b.example", by="ann")
        assert await play.outcome("b.example") is ZoneOutcome.MIGRATED
        # What the commit takes away for good is in the archive as it was then.
        assert await _readings(play) == before + 1
        await passes(time_skipping_env, timedelta(days=2))
        assert await play.outcome("a.example") is ZoneOutcome.ON_HOLD
        assert await play.commits("a.example") == []
