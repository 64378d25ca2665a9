"""A refused credential, an outage: the campaign pauses itself, calls hardly at all, and goes on by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from tests.faults_kit import staged, zone
from tests.held_kit import calls_since, last, most_in, set_status, stands_still

pytestmark = pytest.mark.embedded


async def test_a_revoked_token_pauses_the_campaign_until_it_is_taken_again(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing fails: the zones wait, one probe a minute is made, all are migrated once it is taken again."""
    zones = [zone(f"z{number}") for number in range(4)]
    async with staged(temporal_client, tmp_path, *zones, paced=True, window=4) as stage:
        play = stage.play
        waiting = await play.until(lambda found: found.places.get("awaiting", 0) == 4)
        await set_status(play, "expired")
        await play.sign([item.fingerprint for item in waiting.waiting])
        found = await stands_still(play)
        assert "the service refuses the credential env:EDGESHIFT_TEST_TOKEN" in found.why
        assert found.state in ("pausing", "paused")
        await asyncio.sleep(2)
        before = await last(play)
        await asyncio.sleep(5)
        during = await calls_since(play, before)
        assert {(await play.state(stage.name(short))).phase for short in stage.names} == {
            ZonePhase.WAITING_FOR_SERVICE
        }
        await set_status(play, "active")
        result = await stage.finish()
        assert during and most_in(during, 0.9) <= 1
        assert result.outcomes == {"migrated": 4}
        await stage.check()
