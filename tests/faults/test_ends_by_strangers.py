"""A zone that is changed is not told as one that is not: neither where somebody has its change made and
looked at before its own workflow comes to it, nor where a workflow of his ends in its place.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas.waf import Mode
from edgeshift.messages import ZonePhase
from edgeshift.messages.areas.waf import Verify
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.runtime.queues import Queue
from tests.faults.strangers_kit import LONG, committed, forge, forger, signed_of, stranger
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import forged_change, scheduled
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import LOG_FIELDS, esc_stage, esc_zone, log_stage, log_zone
from tests.kit import eventually
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

TOLD_WITHIN = 120
"""Seconds in which a zone is read, or a campaign tells how one has ended, on a busy machine."""

LONG_FIELDS = {**LOG_FIELDS["log_fields"], "verify": "4000h", "every": "2000h"}


async def changed(stage: Stage, short: str) -> Attack:
    """A zone that people have approved, and that a stranger has had changed while its own workflow waits for
    their word.
    """
    await stage.waits(short, TOLD_WITHIN)
    a = await stranger(stage, short)
    await a.genuine()
    _, told = await scheduled(a, "change_zone", await forged_change(a), Queue.CHANGES)
    assert told is not None and told["status"] == "answered", told
    return a


async def shows_migrated(stage: Stage, short: str) -> bool:
    """Whether the service has come to show it."""
    found = await stage.play.control.get(f"zones/{stage.id(short)}")
    return bool(found["migration_state"] == "complete")


async def seen(a: Attack) -> None:
    """Have a worker look at it, who signs what it has read."""
    message = Verify(
        start=await a.started_with(),
        mode=Mode.PENDING,
        proposal=a.state.proposal,
        snapshot=a.state.snapshot,
        digest=a.state.digest,
        limit=timedelta(seconds=20),
    )
    _, told = await scheduled(a, "verify_waf_zone", message, Queue.LONG)
    assert told is not None and told["reached"] and told["record"], told
    assert await signed_of(a.stage, a.short) == [ZoneOutcome.MIGRATED]


def result(outcome: str, **more: Any) -> dict[str, Any]:
    """What a forged workflow ends with."""
    return {"outcome": outcome, "reason": "forged", "why": [{"code": "failed"}], **more}


async def told(stage: Stage, place: str, zones: int = 1) -> list[tuple[ZoneOutcome, ZoneOutcome | None]]:
    """What the campaign names as told wrong, once it tells so many zones in this place."""
    seen = await stage.play.until(lambda found: found.places.get(place) == zones, TOLD_WITHIN)
    return [(one.told, one.shown) for one in seen.told_wrong]


@pytest.mark.parametrize("stops", ["abort", "reject"])
async def test_a_change_that_somebody_had_made_and_looked_at_is_not_told_as_none(
    temporal_client: Client, tmp_path: Path, stops: str
) -> None:
    """People see it, and stop: just then they are told what is in force. The zone's own workflow, which knows
    of no commit, reads it once more.
    """
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=ONE) as stage:
        await stage.waits("b", TOLD_WITHIN)
        await seen(await changed(stage, "a"))
        if stops == "abort":
            await stage.play.ask("abort", "enough")
            ended = await stage.play.result()
            assert ended.outcomes == {"migrated": 1, "aborted": 1}
            assert (ended.wrong, ended.told_wrong) == (0, ())
        else:
            await stage.play.sign_zone(stage.name("a"), choice=Choice.REJECT)
            assert await told(stage, "migrated") == []
        result = await stage.play.zone(stage.name("a")).result()
        assert (result.outcome, bool(result.record)) == (ZoneOutcome.MIGRATED, True)


async def test_what_a_worker_has_signed_is_told_whatever_a_workflow_ends_with(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Of a zone whose change it has seen, without another call of the service."""
    words = ("on_hold", "failed", "unknown")
    zones = [f"z{number}" for number in range(len(words))]
    async with (
        forger(temporal_client),
        staged(temporal_client, tmp_path, *map(zone, zones), zone("open"), authority=ONE) as stage,
    ):
        # At its close the campaign reads some of its zones.
        await stage.waits("open", TOLD_WITHIN)
        for short in zones:
            await seen(await changed(stage, short))
        calls = len(await stage.play.control.journal())
        for short, word in zip(zones, words, strict=True):
            await forge(stage, short, 1, result(word))
        wrong = await told(stage, "migrated", len(words))
        # That nobody knows is no wrong word.
        assert sorted(wrong) == [(ZoneOutcome(word), ZoneOutcome.MIGRATED) for word in ("failed", "on_hold")]
        assert len(await stage.play.control.journal()) == calls


async def test_a_change_of_the_campaigns_own_is_not_told_as_somebody_elses(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nor does a worker sign that; one that somebody else has migrated is told as found."""
    async with (
        forger(temporal_client),
        staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=ONE) as stage,
    ):
        await changed(stage, "a")
        await eventually(partial(shows_migrated, stage, "a"))
        await stage.waits("b", TOLD_WITHIN)
        await stage.change("b", state="complete")
        for short in ("a", "b"):
            await forge(stage, short, 1, result("already_migrated"))
        ended = await stage.play.result()
        assert ended.outcomes == {"migrated": 1, "already_migrated": 1}
        assert [(one.told, one.shown) for one in ended.told_wrong] == [
            (ZoneOutcome.ALREADY_MIGRATED, ZoneOutcome.MIGRATED)
        ]
        assert await signed_of(stage, "a") == [ZoneOutcome.MIGRATED]
        assert await signed_of(stage, "b") == [ZoneOutcome.ALREADY_MIGRATED]


async def test_a_change_that_nobody_has_looked_at_is_told_by_the_service(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Whatever the workflow ends with that somebody has put in the place of the zone's own. That nobody knows
    stays: people have it begun again, which makes a record of what is found.
    """
    words = ("aborted", "failed", "unknown")
    zones = [f"z{number}" for number in range(len(words))]
    async with (
        forger(temporal_client),
        staged(temporal_client, tmp_path, *map(zone, zones), authority=ONE) as stage,
    ):
        for short, word in zip(zones, words, strict=True):
            await changed(stage, short)
            await eventually(partial(shows_migrated, stage, short))
            await forge(stage, short, 1, result(word))
        wrong = await told(stage, "migrated", 2)
        assert sorted(wrong) == [(ZoneOutcome(word), ZoneOutcome.MIGRATED) for word in ("aborted", "failed")]
        await stage.play.until(lambda found: found.places.get("unknown") == 1, TOLD_WITHIN)


@pytest.mark.parametrize("area", ["esc", "log-fields"])
async def test_a_change_that_is_watched_still_is_told_by_the_service(
    temporal_client: Client, tmp_path: Path, area: str
) -> None:
    """It is in force, and nobody has seen its end: a workflow in the place of the zone's own says that
    nothing is, or that it has failed. That a rollback did not succeed, or that nobody knows, stays.
    """
    words = {
        "rejected": result("rejected"),
        "failed": result("failed"),
        "unknown": result("unknown"),
        "left": result("failed", why=[{"code": "not_rolled_back"}]),
    }
    kit: Any = esc_stage if area == "esc" else log_stage
    made, terms = (esc_zone, {"esc": LONG}) if area == "esc" else (log_zone, {"log_fields": LONG_FIELDS})
    async with (
        forger(temporal_client),
        kit(temporal_client, tmp_path, *map(made, words), authority=ONE, **terms) as stage,
    ):
        for short, word in words.items():
            await committed(stage, short)
            await forge(stage, short, 1, word)
        wrong = await told(stage, "unknown", 3)
        assert sorted(wrong) == [
            (ZoneOutcome.FAILED, ZoneOutcome.UNKNOWN),
            (ZoneOutcome.REJECTED, ZoneOutcome.UNKNOWN),
        ]
        await stage.play.until(lambda found: found.places == {"unknown": 3, "failed": 1}, TOLD_WITHIN)


async def test_a_zone_of_which_nothing_is_on_record_is_told_as_it_ends(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing was sent to it: the service is not asked about it again."""
    async with (
        forger(temporal_client),
        staged(temporal_client, tmp_path, zone("a"), zone("b"), zone("c"), authority=ONE) as stage,
    ):
        for short in stage.names:
            await stage.waits(short)
        calls = len(await stage.play.control.journal())
        await forge(stage, "a", 1, result("failed"))
        await forge(stage, "b", 1, result("unknown"))
        await stage.play.sign_zone(stage.name("c"), choice=Choice.REJECT)
        await stage.phase("c", ZonePhase.CLOSED)
        ends = {"failed": 1, "unknown": 1, "rejected": 1}
        found = await stage.play.until(lambda found: found.places == ends, TOLD_WITHIN)
        assert found.told_wrong == []
        assert len(await stage.play.control.journal()) == calls
