"""More zones failed than a campaign allows: it sends nothing more, until a person says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

NONE_MAY_FAIL: dict[str, Any] = {"window": 1, "advance": {"percent": 1, "failures": 0}}
REFUSED = '{"success":false,"errors":[{"code":1000,"message":"not now"}],"messages":[],"result":null}'
GONE = '{"success":false,"errors":[{"code":7003,"message":"not found"}],"messages":[],"result":null}'


async def _quiet(stage: Stage) -> None:
    """Time in which a campaign that is not halted would have gone on."""
    before = await stage.play.summary()
    await asyncio.sleep(3)
    after = await stage.play.summary()
    assert (before.state, after.state) == ("halted", "halted")
    assert (after.permits_out, after.places) == (0, before.places)


async def test_a_failed_commit_holds_up_all_others_until_a_person_resumes(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its wave is the only one. The next zone is signed and waits; a resume accepts the failure."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), **NONE_MAY_FAIL) as stage:
        await stage.fault("server_error", "entrypoint.put", "a", effect="before", status=400, body=REFUSED)
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 2)
        await stage.play.sign_zone(stage.name("a"))
        await stage.play.until(lambda seen: seen.places.get("failed") == 1)
        await stage.play.sign_zone(stage.name("b"))
        await stage.play.until(lambda seen: seen.places.get("ready") == 1)
        await _quiet(stage)
        assert "1 zone failed" in (await stage.play.summary()).why
        assert len(await stage.changes()) == 1
        await stage.play.ask("resume", "looked at it")
        assert (await stage.finish(60)).outcomes == {"failed": 1, "migrated": 1}
        await stage.check({3, 4, 7})


async def test_a_zone_that_begins_while_its_campaign_is_halted_is_read_and_not_validated(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The permit for validation, which otherwise comes with the start, waits as well."""
    zones = (zone("a"), zone("e", "enterprise"))
    async with staged(temporal_client, tmp_path, *zones, begin=False, **NONE_MAY_FAIL) as stage:
        await stage.fault(
            "server_error", "waf.check", "a", times=None, effect="before", status=404, body=GONE
        )
        await stage.play.begin()
        await stage.play.until(lambda seen: seen.places.get("failed") == 1)
        await stage.play.until(lambda seen: seen.places.get("ready_validate") == 1)
        await _quiet(stage)
        assert await stage.changes() == []
        await stage.play.ask("resume", "that zone is gone")
        assert (await stage.finish(60)).outcomes == {"failed": 1, "migrated": 1}
