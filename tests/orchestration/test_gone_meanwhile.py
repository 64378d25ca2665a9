"""A campaign that is ended from outside while its zones gather evidence: what they found counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from edgeshift.messages import ZonePhase
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
    more = {"validation": {"window": "8h"}, "sweep": "24h"}
    async with staged(temporal_client, tmp_path, zone("big", "enterprise"), **more) as stage:
        play = stage.play
        await play.zone_until(stage.name("big"), lambda found: found.phase is ZonePhase.VALIDATING)
        await play.campaign.terminate("by mistake")
        await waits_and_is_finished(stage, "big", {4, 7})
