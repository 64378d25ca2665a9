"""A window that sizes itself, in a campaign of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import CampaignSummary
from edgeshift.model.window import FEW
from tests.kit import fleet_of, scene

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ZONES = 24
SLOW = {"migration_seconds": 3600, "visibility_seconds": 0}


async def test_a_window_begins_with_few_and_grows_with_each_success(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Five zones at first; as they succeed, more; never more than the failures that are allowed and one."""
    fleet = fleet_of(*[{"name": f"grow-{number:02d}.example", "plan": "pro"} for number in range(ZONES)])
    allowed = {"percent": 1, "failures": 11}
    async with scene(
        temporal_client, tmp_path, fleet, simulator=SLOW, window="auto", advance=allowed
    ) as play:
        assert play.spec.largest_window == 12
        first = await play.until(lambda found: found.places.get("awaiting", 0) > 0)
        assert first.window == FEW
        waits = await play.until(lambda found: found.places.get("awaiting") == ZONES)
        await play.sign(group.fingerprint for group in waits.waiting)
        sizes: list[int] = []

        def all_done(found: CampaignSummary) -> bool:
            sizes.append(found.window)
            assert found.places.get("permitted", 0) + found.places.get("working", 0) <= found.window <= 12
            return found.places.get("migrated") == ZONES

        await play.until(all_done)
        assert sizes[0] == FEW and max(sizes) == 12, sizes
        await play.check_rules(absent={3, 4, 7})
