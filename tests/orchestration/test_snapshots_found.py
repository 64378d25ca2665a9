"""What a campaign or an attempt has read of a zone is found by its name, over Temporal and the archive."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import Area
from edgeshift.operations.errors import NotFound
from edgeshift.views.snapshots import Asked, choices, chosen, needs_temporal, target_of
from tests.kit.faults import again, staged, zone

pytestmark = pytest.mark.embedded


async def test_snapshots_are_found_by_campaign_and_attempt(temporal_client: Client, tmp_path: Path) -> None:
    """Two attempts with other rules in between: each has its own; an attempt that was not is an error."""
    overrides = [{"urls": ["{zone}/admin/*"], "rules": {"100000": "disable"}}]
    zones = zone("twice", uri_overrides=overrides), zone("beside")
    async with staged(temporal_client, tmp_path, *zones) as stage:
        play, name, campaign = stage.play, stage.name("twice"), stage.play.spec.name
        await play.until(lambda seen: bool(seen.places.get("blocked")), 60)
        await stage.change("twice", uri_overrides=[])
        await again(stage, "retry", "twice")
        state = await stage.waits("twice")

        async def found(attempt: int) -> str:
            asked = Asked(zone=name, campaign=campaign, attempt=attempt)
            assert needs_temporal(asked)
            named = await target_of(play.client, play.archive, asked)
            assert (named.id, named.area) == (stage.id("twice"), Area.WAF)
            some = await choices(play.client, play.archive, named, asked)
            taken, document = await chosen(play.archive, named, some, "")
            assert bool(document["reading"]["overrides"]) is (attempt == 1)
            return taken.digest

        assert await found(0) == await found(2) == state.snapshot
        assert await found(1) != state.snapshot
        with pytest.raises(NotFound, match="attempt 3 has no snapshot"):
            await found(3)
        assert (await stage.finish()).outcomes == {"migrated": 2}
        assert await found(0) == state.snapshot
