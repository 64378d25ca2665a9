"""A zone that is open still when somebody says that it has ended is looked at a few times, and then left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import DescribeZones, ReportKind, ZoneReport
from edgeshift.model.fleet import ZoneOutcome
from tests.faults_kit import Stage, staged, zone
from tests.harness.campaigns.authority import ONE
from worker.wiring import replayer
from workflows.campaign.ends import LOOKED_AT_AGAIN

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

OPEN = "was said to have ended, and is open"


async def looks_at_ends(stage: Stage) -> list[DescribeZones]:
    """The batches of zones that were said to have ended."""
    found: list[DescribeZones] = []
    async for event in stage.play.campaign.fetch_history_events():
        asked = event.activity_task_scheduled_event_attributes
        if asked.activity_type.name == "describe_zones":
            found += [DescribeZones.model_validate_json(one.data) for one in asked.input.payloads]
    return [one for one in found if one.ended]


async def say_ended(stage: Stage, short: str) -> int:
    """The word that a zone has ended, which is open; its index."""
    play = stage.play
    index = play.index(stage.name(short))
    run = (await play.campaign.describe()).run_id or ""
    word: dict[str, Any] = {"campaign_run": run, "index": index, "attempt": 1, "sequence": 900}
    said = ZoneReport(**word, kind=ReportKind.FINISHED, outcome=ZoneOutcome.BLOCKED)
    await play.campaign.signal("zone_report", said)
    return index


async def test_a_zone_that_closes_after_its_word_is_looked_at_again_soon(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Not only at the next sweep, until which it keeps its place; nor for ever: anybody may have said so."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=ONE) as stage:
        for short in stage.names:
            await stage.waits(short)
        index = await say_ended(stage, "a")
        await stage.play.until(lambda seen: any(OPEN in note for note in seen.notes), 60)
        looked = [one for one in await looks_at_ends(stage) if index in one.ended]
        assert len(looked) == 1 + LOOKED_AT_AGAIN
        assert sum(OPEN in note for note in (await stage.play.summary()).notes) == 1
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await replayer().replay_workflow(await stage.play.campaign.fetch_history())
