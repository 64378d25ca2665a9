"""A batch of zones that is started again: its worker did not get to say so, or its campaign was reset."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.connections import Connections
from activities.fanout import ZoneActivities
from activities.proof.authority import Authority
from edgeshift.messages import StartZones
from edgeshift.model.fleet import campaign_id
from tests.kit.faults import staged, zone
from tests.kit.missed import Without, missed_while_looked_at
from tests.kit.starting import ended_while_starting

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]


@pytest.mark.parametrize("attempt", [1, 2], ids=["campaign reset", "worker died"])
async def test_a_zone_that_has_ended_meanwhile_is_not_started_once_more(
    attempt: int, temporal_client: Client, tmp_path: Path
) -> None:
    """Its campaign has heard of its end, and may have closed: nobody would know of the second one."""
    migrated = zone("done", migration={"state": "complete"})
    async with staged(temporal_client, tmp_path, migrated) as stage:
        play = stage.play
        assert (await stage.finish()).outcomes == {"already_migrated": 1}
        handle = play.zone(stage.name("done"))
        first = await handle.describe()
        memo = await first.memo()

        async def targets(digest: str) -> list[Any]:
            return play.targets

        connections = SimpleNamespace(
            temporal=play.client,
            archive=play.archive,
            targets=targets,
            task_timeout=timedelta(seconds=10),
            authority=Authority(None, play.archive),
        )
        assert play.start is not None
        batch = StartZones(
            campaign=campaign_id(play.spec.name),
            campaign_run=str(memo["campaign_run"]),
            start=play.start,
            indexes=(0,),
            attempts=(int(memo["attempt"]),),
            permits=(None,),
        )
        again = ActivityEnvironment()
        again.info = dataclasses.replace(
            again.info, attempt=attempt, workflow_run_id=str(memo["campaign_run"])
        )
        zones = ZoneActivities(cast(Connections, connections), {})
        assert (await again.run(zones.start, batch)).excluded == ()
        assert (await handle.describe()).run_id == first.run_id
        # The run that wants the next attempt was reset, or has ended: nothing is begun in its name.
        next_one = batch.model_copy(update={"attempts": (batch.attempts[0] + 1,)})
        with pytest.raises(ApplicationError, match="no open run") as gone:
            await again.run(zones.start, next_one)
        assert gone.value.type == "CampaignGone"
        assert (await handle.describe()).run_id == first.run_id


@pytest.mark.parametrize("times, outcomes", [(1, {"migrated": 3}), (9, {"migrated": 2, "failed": 1})])
async def test_a_zone_that_was_never_started_is_started_when_it_is_missed(
    times: int, outcomes: dict[str, int], temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign looks for it, finds nothing under its name, and starts it: once, so that no campaign waits
    without end for one that cannot be started.
    """
    without = Without(2, times)
    zones = [zone(name) for name in ("a", "b", "c")]
    async with staged(temporal_client, tmp_path, *zones, interceptors=[without]) as stage:
        assert (await stage.finish()).outcomes == outcomes
        assert without.asked == 2
        notes = (await stage.play.summary()).notes
        assert any("started once more" in note for note in notes), notes
        if times == 1:
            await stage.check({3, 4, 7})


async def test_a_look_from_before_a_zone_was_started_says_nothing_of_it(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It found nothing of a zone that had been missed, and answers once that is started in the same attempt:
    the zone was told as failed, and went on, where nobody could sign it.
    """
    async with missed_while_looked_at(temporal_client, tmp_path) as stage:
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check({3, 4, 7})


async def test_a_zone_that_ends_while_its_batch_is_starting_is_heard(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its word was dropped: it held its place in the window until two sweeps had passed."""
    async with ended_while_starting(temporal_client, tmp_path) as stage:
        await stage.play.until(lambda seen: seen.places.get("already_migrated") == 1, 20)
        assert (await stage.finish()).outcomes == {"already_migrated": 1, "migrated": 1}
