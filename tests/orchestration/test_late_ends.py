"""A zone that is said to have ended, and is open still or cannot be read, is looked at a few times, and then
left to the next sweep.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import DescribeZones, ReportKind, ZoneReport
from edgeshift.model.fleet import ZoneOutcome
from tests.harness.campaigns.authority import ONE
from tests.kit import eventually
from tests.kit.faults import Stage, staged, zone
from tests.kit.held import set_status
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


async def test_a_zone_that_could_not_be_read_at_its_word_is_looked_at_again_soon(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The service refuses the token, so that nobody can say where a zone stands whose workflow is gone: its
    word is kept for two more looks. It has its outcome once the token counts again.
    """
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=ONE, sweep="2d") as stage:
        for short in stage.names:
            await stage.waits(short)
        await set_status(stage.play, "expired")
        await stage.play.zone(stage.name("a")).terminate("by mistake")
        index = await say_ended(stage, "a")

        async def looked() -> bool:
            found = [one for one in await looks_at_ends(stage) if index in one.ended]
            return len(found) == 1 + LOOKED_AT_AGAIN

        await eventually(looked, 60, "the zone is looked at again")
        await set_status(stage.play, "active")
        # Sooner than the sweep, which is to look as well.
        await say_ended(stage, "a")
        await stage.play.until(lambda seen: seen.places.get("failed") == 1, 60)
        assert (await stage.finish()).outcomes == {"failed": 1, "migrated": 1}
        await replayer().replay_workflow(await stage.play.campaign.fetch_history())
