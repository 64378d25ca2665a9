"""Zones whose workflows Temporal has forgotten, as it does by itself once the retention is over: what a
worker has signed of how they ended is on record all the same.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities import looks
from edgeshift.messages import DescribedZones, DescribeZones, SilentZone
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.runtime.queues import Queue
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import esc_stage, esc_zone
from tests.kit.faults import Stage
from tests.kit.foreign import Forged, foreign_worker, scheduled

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ENDS = {"off": ZoneOutcome.SETTLED, "worse": ZoneOutcome.ROLLED_BACK}
"""What became of the zones: one is settled, and the change of the other was taken back."""


async def looked(stage: Stage, run: str, attempt: int) -> dict[str, SilentZone]:
    """How the campaign's zones have ended, which are taken to be in this attempt."""
    play, start = stage.play, stage.play.start
    assert start is not None
    indexes = {play.index(stage.name(short)): short for short in ENDS}
    asked = DescribeZones(
        campaign=play.campaign.id,
        campaign_run=run,
        targets=start.targets,
        spec=start.spec,
        area=start.area,
        indexes=tuple(indexes),
        attempts=(attempt,) * len(indexes),
        settles_in=timedelta(0),
    )
    async with scheduled(play.client, "describe_zones", asked, Queue.CONTROL, 60) as handle:
        found = DescribedZones.model_validate(await handle.result())
    return {indexes[one.index]: one for one in found.closed}


async def _forgotten(*_: Any) -> None:
    """As the server answers of what it does not know: a deletion takes it a minute."""


async def test_a_zone_that_is_forgotten_has_ended_as_a_worker_has_signed(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this attempt, and as the service shows it still; also where somebody else's execution came after."""
    zones = (esc_zone("off"), esc_zone("worse", worse=True))
    async with esc_stage(temporal_client, tmp_path, *zones, authority=ONE) as stage:
        play = stage.play
        run = (await play.campaign.describe()).run_id or ""
        assert (await stage.finish()).outcomes == {"settled": 1, "rolled_back": 1}
        identifiers, described = [play.zone(stage.name(short)).id for short in ENDS], looks.described
        monkeypatch.setattr(looks, "described", _forgotten)

        async def is_known() -> bool:
            found = await looked(stage, run, 1)
            assert {short: one.outcome for short, one in found.items()} == ENDS
            return all((one.attempt, one.told) == (1, None) for one in found.values())

        assert await is_known()
        # What is on record of an attempt says nothing of another one, nor of another start of the campaign.
        for other, attempt in ((run, 2), ("another-run", 1)):
            found = await looked(stage, other, attempt)
            assert {one.outcome for one in found.values()}.isdisjoint(ENDS.values())
            assert {one.attempt for one in found.values()} == {0}
        monkeypatch.setattr(looks, "described", described)
        async with foreign_worker(play.client) as queue:
            for identifier in identifiers:
                await play.client.execute_workflow(
                    Forged.run, {"outcome": "failed"}, id=identifier, task_queue=queue
                )
        assert await is_known()
