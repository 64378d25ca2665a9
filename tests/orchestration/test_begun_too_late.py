"""A zone that is begun when its campaign has come to its end, or has been ended: nobody would answer it, so
it does not wait for good.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowHandle

from edgeshift.areas import AREAS
from edgeshift.messages import LEFT_ALONE, ZonePhase, ZoneResult, ZoneStart
from edgeshift.model.fleet import ZoneOutcome, campaign_id, migration_id
from edgeshift.runtime.queues import Queue
from tests.harness.campaigns.stages import esc_stage, esc_zone, log_stage, log_zone
from tests.harness.disturbances.operators import start_again
from tests.kit import TOO_MANY_RULES
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

OVERRIDES = [{"urls": ["{zone}/admin/*"], "rules": {"100000": "disable"}}]
WAF = (
    zone("pro"),
    zone("big", "enterprise"),
    zone("found", "enterprise", migration={"state": "validation"}),
    zone("many", firewall_rules=TOO_MANY_RULES),
    zone("legacy", "enterprise", uri_overrides=OVERRIDES),
)


async def begun(stage: Stage, run: str) -> dict[str, WorkflowHandle[object, ZoneResult]]:
    """Each zone begun once more for this run of the campaign, as by a batch that comes too late."""
    play, found = stage.play, {}
    assert play.start is not None
    campaign = campaign_id(play.spec.name)
    for index, target in enumerate(play.targets):
        message = ZoneStart(
            campaign=campaign,
            campaign_run=run,
            index=index,
            attempt=2,
            target=target,
            area=play.start.area,
            spec=play.start.spec,
            policy=play.start.policy,
            started_by=play.start.started_by,
            origin=run,
        )
        found[target.zone.name.split(".")[0]] = await play.client.start_workflow(
            AREAS[play.start.area].workflow,
            message,
            id=migration_id(target.zone, play.start.area),
            task_queue=Queue.ZONES,
            memo={"campaign": campaign, "campaign_run": run, "index": index, "attempt": 2},
            result_type=ZoneResult,
        )
    return found


async def all_end(stage: Stage) -> None:
    """The campaign is aborted at once and closes; zones that begin then end by themselves, and send
    nothing.
    """
    run = (await stage.play.campaign.describe()).run_id
    assert run is not None
    await stage.play.ask("abort")
    await stage.play.result()
    await end_by_themselves(stage, run)


async def end_by_themselves(stage: Stage, run: str) -> None:
    """Zones that begin now for this run of the campaign."""
    sent = await stage.changes()
    late = await begun(stage, run)
    assert late
    for short, handle in late.items():
        result = await asyncio.wait_for(handle.result(), 60)
        assert result.outcome is ZoneOutcome.ABORTED, (short, result)
        assert result.reason == f"ended by {LEFT_ALONE}", (short, result)
    assert await stage.changes() == sent


@pytest.mark.long
async def test_zones_of_waf_end_by_themselves(temporal_client: Client, tmp_path: Path) -> None:
    """Whatever their first word is: a proposal, a wish to validate, a window, a support case, a deletion."""
    consents = {"delete_uri_overrides": True}
    async with staged(temporal_client, tmp_path, *WAF, consents=consents) as stage:
        await all_end(stage)


async def test_scopes_of_esc_end_by_themselves(temporal_client: Client, tmp_path: Path) -> None:
    """With a secret they tell what they would lose; without one they ask to set one."""
    async with esc_stage(temporal_client, tmp_path, esc_zone("own", own=True), esc_zone("bare")) as stage:
        await all_end(stage)


async def test_zones_of_log_fields_end_by_themselves(temporal_client: Client, tmp_path: Path) -> None:
    """Their first word is their proposal."""
    async with log_stage(temporal_client, tmp_path, log_zone("logs"), log_zone("bare", job=False)) as stage:
        await all_end(stage)


async def test_zones_of_a_campaign_that_was_terminated_before_it_heard_of_them(
    temporal_client: Client, tmp_path: Path
) -> None:
    """They end as well; the campaign that is started anew begins them. One that it had heard of waits."""
    zones = (zone("a"), zone("big", "enterprise"))
    async with staged(temporal_client, tmp_path, *zones, zone("known"), sweep="24h") as stage:
        play = stage.play
        run = (await play.campaign.describe()).run_id
        assert run is not None
        for name in ("a", "big", "known"):
            await stage.waits(name)
        await play.campaign.terminate("by mistake")
        for name in ("a", "big"):
            await play.zone(stage.name(name)).terminate("not begun yet")
        play.targets, everybody = [one for one in play.targets if "known" not in one.zone.name], play.targets
        await end_by_themselves(stage, run)
        play.targets = everybody
        assert (await play.state(stage.name("known"))).phase is ZonePhase.AWAITING_SIGN_OFF
        await start_again(stage)
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check({4, 7})
