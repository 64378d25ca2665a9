"""What an earlier start of a campaign migrated is told and written as that, once it is started again."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.areas.waf.terraform import RANGES, terraform_version
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.operations.campaigns import start_campaign
from edgeshift.views.areas.waf_export import terraform_of
from edgeshift.views.finding import Named, zone_runs
from edgeshift.views.timeline import build_timeline
from tests.kit.faults import staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]


async def test_what_an_earlier_start_migrated_is_told_and_written(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Attempts count from 1 in both starts; the second finds the zone migrated, and has no record of it."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other")) as stage:
        await stage.waits("one")
        await stage.play.sign_zone(stage.name("one"))
        assert await stage.outcome("one") is ZoneOutcome.MIGRATED
        await stage.play.ask("abort")
        await stage.play.result()
        client, archive, spec = stage.play.client, stage.play.archive, stage.play.spec
        await start_campaign(client, archive, spec, by="olga", again=True)
        await stage.play.until(lambda found: found.places.get("already_migrated") == 1)
        named = Named(stage.id("one"), Area.WAF)
        told = build_timeline(named.id, await zone_runs(client, named))
        assert "attempt 1 sent nothing that changes it, but attempt 1 of an earlier start" in told.sentence
        written = await terraform_of(client, archive, spec.name, RANGES["4"], terraform_version("1.5"))
        assert [one.zone.name for one in written.zones] == [stage.name("one")]
        assert [one.name for one in written.left_out] == [stage.name("other")]
