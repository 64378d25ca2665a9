"""A fingerprint that was rejected, and a campaign that is started anew: the rejection binds until it is
reopened, also zones that had not come to it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.rulings import rejected_digests
from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome, campaign_id
from edgeshift.model.sign_off import Choice
from edgeshift.views.gathering import known_campaign, zone_rows
from edgeshift.views.report_file import gather_report
from edgeshift.views.rows import ZoneRow
from tests.harness.disturbances.operators import start_again
from tests.kit import eventually
from tests.kit.faults import Stage, again, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240), pytest.mark.long]

OTHER: dict[str, Any] = {"firewall_rules": [{"expression": "ip.src eq 192.0.2.1", "products": ["waf"]}]}
WAVES = [{"name": "first", "zones": 1}, {"name": "rest"}]


async def rejected_in_the_first_wave(stage: Stage) -> str:
    """The fingerprint of the first wave's zone, which was rejected; the second wave has not begun."""
    state = await stage.waits("a")
    await stage.play.ask("pause", "people look")
    await stage.play.sign([state.fingerprint], Choice.REJECT, by="ben", reason="the editor is blocked")
    assert await stage.outcome("a") is ZoneOutcome.REJECTED
    await stage.play.until(lambda seen: seen.places == {"rejected": 1, "pending": 2})
    await recorded(stage, "fingerprints", 1)
    return state.fingerprint


async def ended_from_outside(stage: Stage) -> None:
    """The campaign's workflow is terminated, and its pause ends with it."""
    play = stage.play
    await play.campaign.terminate("by mistake")
    play.stops[-1] = play.stops[-1].model_copy(update={"resumed_at": play.now()})


async def row_of(stage: Stage, short: str) -> ZoneRow:
    """What people are shown of a zone."""
    play = stage.play
    known = await known_campaign(play.client, play.spec.name)
    rows = await zone_rows(play.client, play.archive, known)
    return next(row for row in rows if row.name == stage.name(short))


async def recorded(stage: Stage, what: str, number: int) -> None:
    """So many rulings are in the archive, on fingerprints or on zones."""

    async def are_there() -> bool:
        prefix = f"rulings/{campaign_id(stage.play.spec.name)}/{what}"
        return len([key async for key in stage.play.archive.list(prefix)]) == number

    await eventually(are_there, 30, f"{number} rulings on {what}")


async def test_a_rejected_fingerprint_binds_zones_that_had_not_come_to_it(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Of the new run's zones the one that was rejected and the one of its fingerprint are sent nothing,
    though somebody approves it; the zone of another fingerprint is free. A reopening frees the others, for
    every later run too.
    """
    async with staged(
        temporal_client, tmp_path, zone("a"), zone("b"), zone("c", **OTHER), waves=WAVES
    ) as stage:
        play = stage.play
        fingerprint = await rejected_in_the_first_wave(stage)
        await ended_from_outside(stage)
        await start_again(stage)
        await play.until(lambda seen: seen.places == {"rejected": 2, "awaiting": 1})
        assert any("1 fingerprint was rejected before" in note for note in (await play.summary()).notes)
        reason = (await play.zone(stage.name("b")).result()).reason
        assert reason == "rejected by ben: the editor is blocked"
        assert (await play.state(stage.name("c"))).phase is ZonePhase.AWAITING_SIGN_OFF
        await play.sign([fingerprint])
        assert (await play.summary()).places == {"rejected": 2, "awaiting": 1}

        await again(stage, "reopen", "b")
        assert (await stage.waits("b")).attempt == 2
        await recorded(stage, "fingerprints", 2)
        await play.campaign.terminate("once more")
        await start_again(stage)
        await play.until(lambda seen: seen.places == {"rejected": 1, "awaiting": 2})
        # Before this start it was in its second attempt.
        shown = await row_of(stage, "b")
        assert (shown.place, shown.attempt, shown.closed_at) == ("awaiting", 1, None) and shown.digest
        assert (await play.state(stage.name("b"))).fingerprint == fingerprint
        assert "rejected before" in (await play.zone(stage.name("a")).result()).reason
        known = await rejected_digests(play.archive, campaign_id(play.spec.name))
        assert set(known) == {stage.id("a"), stage.id("b")} and not known[stage.id("b")]
        await again(stage, "reopen", "a")
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check({3, 4, 7})


async def test_a_rejection_that_was_taken_back_binds_nobody(temporal_client: Client, tmp_path: Path) -> None:
    """Whoever rejected it has approved it since, before its campaign is started anew: it is asked for anew,
    for what was approved does not outlive the run.
    """
    async with staged(
        temporal_client, tmp_path, zone("a"), zone("b"), zone("c", **OTHER), waves=WAVES
    ) as stage:
        play = stage.play
        fingerprint = await rejected_in_the_first_wave(stage)
        await play.sign([fingerprint], by="ben")
        await recorded(stage, "fingerprints", 2)
        await ended_from_outside(stage)
        await start_again(stage)
        # The zone that was rejected by it stays so until it is reopened itself.
        await play.until(lambda seen: seen.places == {"rejected": 1, "awaiting": 2})
        assert (await play.state(stage.name("b"))).phase is ZonePhase.AWAITING_SIGN_OFF
        assert await stage.changes() == []


async def test_what_has_not_begun_anew_is_shown_as_not_started(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever became of it in an earlier start, also where the campaign is too large to be asked for each
    target's place. The report has the timelines of this start alone.
    """
    async with staged(temporal_client, tmp_path, zone("a"), zone("b")) as stage:
        play = stage.play
        for short in "ab":
            await stage.waits(short)
        await play.ask("abort", "other waves")
        assert (await play.result()).outcomes == {"aborted": 2}
        spec = {**play.spec.model_dump(), "waves": WAVES}
        play.spec = type(play.spec).model_validate(spec)
        await start_again(stage)
        await play.until(lambda seen: seen.places == {"awaiting": 1, "pending": 1})
        for most in (5_000, 1):
            monkeypatch.setattr("edgeshift.views.gathering.MOST_PLACES", most)
            shown = {row.place: row for row in [await row_of(stage, short) for short in "ab"]}
            assert set(shown) == {"awaiting", "pending"}
            assert (shown["pending"].run_id, shown["pending"].attempt) == ("", 0)
        told = (await gather_report(play.client, play.archive, play.spec.name)).timelines
        assert set(told) == {shown["awaiting"].index}
        assert len(told[shown["awaiting"].index].attempts) == 1
        assert (await stage.finish()).outcomes == {"migrated": 2}
