"""A campaign that is ended from outside while its zones gather evidence: what they found counts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from edgeshift.messages import ZonePhase
from tests.harness.aimed.scene import Stalled
from tests.harness.campaigns.stages import esc_stage, esc_zone
from tests.harness.disturbances.operators import start_again
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]


async def waits_and_is_finished(stage: Stage, name: str, absent: set[int]) -> None:
    """The zone waits for its sign-off, and goes on once the campaign is started again."""
    play = stage.play
    await play.zone_until(stage.name(name), lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
    assert (await play.zone(stage.name(name)).describe()).status is WorkflowExecutionStatus.RUNNING
    await start_again(stage)
    summary = await stage.finish()
    assert "failed" not in summary.outcomes, summary
    await stage.check(absent)


async def test_a_window_that_ends_without_a_campaign_is_not_lost(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Another one would take three days."""
    more: dict[str, Any] = {"validation": {"window": "8h"}, "sweep": "24h"}
    async with staged(temporal_client, tmp_path, zone("big", "enterprise"), **more) as stage:
        play = stage.play
        await play.zone_until(stage.name("big"), lambda found: found.phase is ZonePhase.VALIDATING)
        await play.campaign.terminate("by mistake")
        await waits_and_is_finished(stage, "big", {4, 7})


async def test_a_probe_that_ends_without_a_campaign_is_not_lost(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The scope has its secret by then, and was heard of."""
    more: dict[str, Any] = {"interceptors": [stalls := Stalled("probe_esc_scope")], "sweep": "24h"}
    async with esc_stage(temporal_client, tmp_path, esc_zone("bare"), **more) as stage:
        await asyncio.wait_for(stalls.begun.wait(), 90)
        await stage.play.campaign.terminate("by mistake")
        stalls.go.set()
        await waits_and_is_finished(stage, "bare", {4, 7})
