"""What goes wrong beside a campaign: a share of the harness's cases, and what they have brought to light."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.harness.cases import World
from tests.harness.families.disturbances import cases
from tests.harness.running.played import played
from tests.harness.running.share import share_of
from tests.harness.verdict import added
from tests.kit.faults import staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long]

SHARE = 2
"""Cases that are played with the other tests, of few zones; the harness plays all of them."""

MOST_ZONES = 3


@pytest.mark.timeout(600)
async def test_a_few_cases_of_what_goes_wrong_beside_a_campaign(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Other ones by another seed; none has a complaint."""
    seed = share_of(dict(os.environ))[1]
    small = [case for case in cases() if case.zones <= MOST_ZONES]
    chosen = random.Random(f"{seed}/disturbances").sample(small, SHARE)
    worlds = [World(temporal_client, embedded.address, tmp_path / str(place)) for place in range(SHARE)]
    verdict = added(await asyncio.gather(*map(played, chosen, worlds)))
    ids = ", ".join(case.id for case in chosen)
    assert not verdict.complaints, f"{ids}: {verdict.complaints}"
    assert verdict.unsigned_commits == verdict.double_commits == verdict.lost_zones == 0


@pytest.mark.timeout(300)
async def test_a_zone_that_is_reset_while_its_change_is_taken_back_is_rolled_back(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Its approval is used, and its change may be there in part: the rest is taken back at once. It was tried
    again twenty times before that, for a quarter of an hour.
    """
    (case,) = [one for one in cases() if one.id == "reset-zone/log-fields/unseen/rolling_back"]
    verdict = await played(case, World(temporal_client, embedded.address, tmp_path))
    assert not verdict.complaints and verdict.outcomes == {"rolled_back": 8}, verdict


async def test_a_second_commit_that_is_refused_since_the_first_one_shows_late_is_no_failure(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The first one's answer is lost, and its effect shows only after it was sent again: migrated."""
    async with staged(
        temporal_client, tmp_path, zone("late"), simulator={"visibility_seconds": 5.5 * 14_400}
    ) as stage:
        await stage.fault("gateway_timeout", "entrypoint.put", "late", effect="after")
        result = await stage.finish()
        assert result.outcomes == {"migrated": 1}
        assert await stage.outcome("late") is ZoneOutcome.MIGRATED


async def test_a_zone_that_is_terminated_while_it_waits_for_a_permit_is_found_in_the_pause(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nobody has to resume first to hear of it; begun again, it is migrated."""
    async with staged(temporal_client, tmp_path, zone("gone"), zone("other")) as stage:
        await stage.waits("gone")
        await stage.play.ask("pause", "a look")
        await stage.play.sign_zone(stage.name("gone"))
        await stage.phase("gone", ZonePhase.AWAITING_PERMIT)
        await stage.play.until(lambda seen: seen.places.get("ready") == 1)
        await stage.play.zone(stage.name("gone")).terminate("by hand")
        await stage.play.until(lambda seen: seen.places.get("failed") == 1)
        await stage.play.again("retry", stage.name("gone"))
        await stage.play.ask("resume")
        result = await stage.finish()
        assert result.outcomes == {"migrated": 2}
        await stage.check({3, 4})
