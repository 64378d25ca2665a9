"""More zones failed than a campaign allows: it sends nothing more, until a person says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.cli import control
from edgeshift.model.campaign_phase import CampaignPhase
from tests.journeys.cli_kit import Ran, in_process
from tests.kit.faults import Stage, staged, zone
from tests.kit.halted import NONE_MAY_FAIL, REFUSED, halted_with_one_ready

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

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
    async with halted_with_one_ready(temporal_client, tmp_path) as stage:
        await _quiet(stage)
        assert "1 zone failed" in (await stage.play.summary()).why
        assert len(await stage.changes()) == 1
        await stage.play.ask("resume", "looked at it")
        assert (await stage.finish(60)).outcomes == {"failed": 1, "migrated": 1}
        await stage.check({3, 4, 7})


async def _resumed_all(stage: Stage, stands: control._Stands, patch: pytest.MonkeyPatch) -> Ran:
    """All campaigns are resumed, where this one is the only one and stood so when they were listed."""

    async def this_one(client: Client, verb: str) -> dict[str, Any]:
        return {stage.play.spec.name: stands}

    patch.setattr(control, "_running", this_one)
    address, archive = stage.play.client.service_client.config.target_host, stage.play.archive.folder
    at = ("--address", address, "--archive", str(archive))
    return await asyncio.to_thread(in_process, "resume", "--all", "--yes", "--by", "olga", *at)


async def test_a_pause_hides_no_halt_and_its_end_accepts_nothing(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks during the pause is told of both. The resume that ends it says that the campaign is
    halted, and nothing is sent, also where somebody resumes all who saw it paused; the next one by name
    accepts the failure.
    """
    async with halted_with_one_ready(temporal_client, tmp_path) as stage:
        play = stage.play
        await play.ask("pause", "release freeze")
        seen = await play.summary()
        assert seen.state == "paused" and "1 zone failed" in seen.halted, seen
        assert "release freeze" in seen.why and "1 zone failed" in seen.why, seen.why
        assert "ends the pause alone" in seen.why
        answer = await play.ask("resume", "freeze is over")
        assert answer.text.startswith("is not paused any more, but it is halted: 1 zone failed"), answer
        assert answer.text.endswith(f"edgeshift resume {play.spec.name} once more accepts these failures")
        ran = await _resumed_all(stage, control._Stands(CampaignPhase.PAUSED, by_hand=True), monkeypatch)
        assert ran.code == 1 and "its pause has ended meanwhile, it is halted" in ran.err, ran
        await _quiet(stage)
        assert len(await stage.changes()) == 1
        answer = await play.ask("resume", "looked at it")
        assert answer.text == "is running again; it was halted"
        assert (await stage.finish(60)).outcomes == {"failed": 1, "migrated": 1}
        await stage.check({3, 4})


async def test_a_pause_and_its_end_leave_failures_counted_that_are_allowed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """One may fail. After a pause and a resume it still counts: the next one that fails halts the rest."""
    one_may_fail: dict[str, Any] = {"window": 1, "advance": {"percent": 1, "failures": 1}}
    async with staged(temporal_client, tmp_path, *map(zone, "abc"), **one_may_fail) as stage:
        play = stage.play
        for name in "ab":
            await stage.fault(
                "server_error", "entrypoint.put", name, effect="before", status=400, body=REFUSED
            )
        await play.until(lambda seen: seen.places.get("awaiting") == 3)
        await play.sign_zone(stage.name("a"))
        await play.until(lambda seen: seen.places.get("failed") == 1)
        await play.ask("pause", "release freeze")
        assert (await play.ask("resume", "freeze is over")).text == "is running again; it was paused"
        await play.sign_zone(stage.name("b"))
        await play.until(lambda seen: seen.places.get("failed") == 2)
        await play.sign_zone(stage.name("c"))
        await play.until(lambda seen: seen.places.get("ready") == 1)
        await _quiet(stage)
        assert "2 zones failed" in (await play.summary()).why
        await play.ask("resume", "looked at them")
        assert (await stage.finish(60)).outcomes == {"failed": 2, "migrated": 1}
        await stage.check({3, 4})


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
