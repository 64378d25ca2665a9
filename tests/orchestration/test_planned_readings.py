"""Zones that begin with what a plan has read, and that are not as they were read any more."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.campaign_file.parts import TargetSpec
from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import Target, ZoneOutcome, assessment_id
from edgeshift.operations import BadInput, assess, frozen_by, start_campaign
from edgeshift.operations.plans import last_plan
from tests.kit import OPERATOR, TOO_MANY_RULES, Scene, fleet_of, scene

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ZONE = "read.example"
OVERRIDE = {"urls": ["read.example/api/*"], "rules": {"100001": "disable"}}


async def planned_then(play: Scene, patch: dict[str, Any] | None) -> int:
    """Plan the campaign, change the zone, and start by the plan; how many requests there were by then."""
    _, result = await assess(play.client, play.archive, play.spec)
    if patch is not None:
        await play.control.send("PATCH", f"zones/{play.zone_id(ZONE)}", patch)
    before = len(await play.control.journal())
    play.start = await start_campaign(
        play.client, play.archive, play.spec, by=OPERATOR, frozen=frozen_by(result, play.now())
    )
    play.targets = [Target.model_validate(item) for item in await play.archive.get_json(result.targets)]
    return before


async def calls(play: Scene, before: int) -> Counter[str]:
    """The calls of the zone since then, by name."""
    zone = play.zone_id(ZONE)
    return Counter(one["call"] for one in (await play.control.journal())[before:] if one["zone"] == zone)


def asks(found: ZoneState) -> bool:
    """Whether the zone waits for a sign-off."""
    return found.phase is ZonePhase.AWAITING_SIGN_OFF


async def test_a_zone_that_others_have_migrated_since_is_not_committed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """What was signed is compared with the service just before it is sent, and the zone is read anew."""
    fleet = fleet_of({"name": ZONE, "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet, begin=False) as play:
        before = await planned_then(play, {"state": "complete"})
        await play.zone_until(ZONE, asks)
        await play.sign_zone(ZONE)
        assert await play.outcome(ZONE) is ZoneOutcome.ALREADY_MIGRATED
        assert (await calls(play, before))["entrypoint.put"] == 0


async def test_a_zone_that_has_come_over_a_limit_since_is_not_committed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It needs support: nothing is sent to it, and a ticket is opened (rule 4)."""
    fleet = fleet_of({"name": ZONE, "plan": "pro"})
    rules = [{**rule, "action": "bypass"} for rule in TOO_MANY_RULES]
    async with scene(temporal_client, tmp_path, fleet, begin=False) as play:
        before = await planned_then(play, {"add_firewall_rules": rules})
        await play.zone_until(ZONE, asks)
        await play.sign_zone(ZONE)
        await play.zone_until(ZONE, lambda found: found.phase is ZonePhase.NEEDS_SUPPORT)
        assert (await calls(play, before))["entrypoint.put"] == 0
        await play.ask("abort", "the test is over")
        await play.result()
        await play.check_rules(absent={1, 2, 3, 5, 6, 8, 9})


async def test_a_zone_that_has_a_new_override_since_is_blocked(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The service refuses it, and no zone is migrated past its overrides."""
    fleet = fleet_of({"name": ZONE, "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet, begin=False) as play:
        await planned_then(play, {"add_uri_overrides": [OVERRIDE]})
        await play.zone_until(ZONE, asks)
        await play.sign_zone(ZONE)
        assert await play.outcome(ZONE) is ZoneOutcome.BLOCKED
        assert (await play.control.get(f"zones/{play.zone_id(ZONE)}"))["migration_state"] == "start"


async def test_a_zone_that_is_not_enterprise_any_more_gets_no_validation(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its plan is asked for once more before anything is sent with validation (rule 3)."""
    fleet = fleet_of({"name": ZONE, "plan": "enterprise"})
    async with scene(temporal_client, tmp_path, fleet, begin=False) as play:
        before = await planned_then(play, {"plan": "pro"})
        assert (await play.result()).outcomes == {"blocked": 1}
        found = await calls(play, before)
        assert found["entrypoint.put"] == 0 and found["zones.get"] >= 2


async def test_an_old_reading_is_made_anew(temporal_client: Client, tmp_path: Path) -> None:
    """A reading counts for as long as the campaign says, here for no time at all."""
    fleet = fleet_of({"name": ZONE, "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet, begin=False, plan={"fresh": "1ms"}) as play:
        before = await planned_then(play, None)
        await play.zone_until(ZONE, asks)
        assert (await calls(play, before))["waf.check"] >= 1


THEIRS = [{"action": "skip", "action_parameters": {"ruleset": "current"}, "expression": 'http.host eq "a"'}]
"""A rule of the new WAF that somebody gives the zone."""


async def test_a_zone_that_has_rules_of_its_own_since_is_not_validated_over_them(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nobody signs a validation: the zone is read again, and blocked."""
    fleet = fleet_of({"name": ZONE, "plan": "enterprise"})
    async with scene(temporal_client, tmp_path, fleet, begin=False) as play:
        before = await planned_then(play, {"entry_point": {"rules": THEIRS}})
        await play.until(lambda seen: bool(seen.places.get("blocked")), 60)
        assert await play.outcome(ZONE) is ZoneOutcome.BLOCKED
        assert (await calls(play, before))["entrypoint.put"] == 0


async def test_a_validation_that_somebody_has_begun_since_with_rules_of_their_own_is_adopted(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing replaces them before somebody has signed it."""
    fleet = fleet_of({"name": ZONE, "plan": "enterprise"})
    async with scene(temporal_client, tmp_path, fleet, begin=False) as play:
        before = await planned_then(play, {"state": "validation", "entry_point": {"rules": THEIRS}})
        await play.zone_until(ZONE, asks)
        assert (await calls(play, before))["entrypoint.put"] == 0
        await play.ask("abort", "the test is over")
        await play.result()


async def test_the_last_plan_is_the_last_that_finished(temporal_client: Client, tmp_path: Path) -> None:
    """One that fails after it, or is stopped, does not take its place; none is where none has finished."""
    fleet = fleet_of({"name": ZONE, "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet, begin=False) as play:
        wrong = play.spec.model_copy(update={"targets": TargetSpec(include=("raed.example",))})

        async def fails() -> None:
            with pytest.raises(BadInput, match=r"raed\.example"):
                await assess(play.client, play.archive, wrong)

        await fails()
        assert await last_plan(temporal_client, play.spec.name) is None
        await assess(play.client, play.archive, play.spec)
        _, result = await assess(play.client, play.archive, play.spec)
        made = await last_plan(temporal_client, play.spec.name)
        assert made is not None and made.result == result
        await fails()
        assert await last_plan(temporal_client, play.spec.name) == made
        stopped = await temporal_client.start_workflow(
            "Assessment", id=assessment_id(play.spec.name), task_queue="nobody", memo={"spec": made.spec}
        )
        assert await last_plan(temporal_client, play.spec.name) == made
        await stopped.terminate("stopped")
        assert await last_plan(temporal_client, play.spec.name) == made
