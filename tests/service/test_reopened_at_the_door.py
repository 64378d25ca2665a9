"""Rejections and reopenings at the door: which of them count, and from when on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Choice
from edgeshift.stores.documents import NothingMore
from edgeshift.stores.documents.intents import ClosedAs
from tests.forgeries.doors import guarded


async def test_a_reopening_voids_what_was_signed_before_only_where_somebody_had_rejected(
    tmp_path: Path,
) -> None:
    """Zones on hold are reopened together: whoever approved their fingerprint before need not sign anew.
    Where one had rejected, the approval of before counts no more, and one of afterwards does.
    """
    async with guarded(tmp_path) as door:
        earlier = datetime.now(UTC) - timedelta(hours=1)
        await door.begin(issued=earlier - timedelta(hours=1))
        said: dict[str, Any] = {
            "about": "fingerprint",
            "subjects": (door.fingerprint,),
            "zone": None,
            "attempt": None,
        }
        await door.approve(**said, issued=earlier)
        await door.approve("grace", **said, issued=earlier, choice=Choice.REJECT)
        assert "grace rejected it" in (await door.commit()).reason
        await door.again("reopen")
        assert "0 of 1" in (await door.commit(permit=2)).reason
        await door.approve(**said)
        assert (await door.commit(permit=3)).status is ChangeStatus.ANSWERED
    async with guarded(tmp_path / "other") as door:
        await door.begin(issued=earlier - timedelta(hours=1))
        said["subjects"] = (door.fingerprint,)
        await door.approve(**said, issued=earlier)
        await door.again("reopen")
        assert (await door.commit()).status is ChangeStatus.ANSWERED


def tomorrow() -> datetime:
    """By a clock that is a day ahead."""
    return (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)


async def test_a_rejection_from_tomorrow_stops_and_can_be_reopened(tmp_path: Path) -> None:
    """It counts from when it was stored: whoever reopens the zone now comes after it, also once that day has
    come; and whoever has reopened it before does not.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.again("reopen")
        await door.approve(choice=Choice.REJECT, issued=tomorrow(), expires=tomorrow() + timedelta(days=1))
        await door.approve("grace")
        refused = await door.commit()
        assert refused.uncounted and "ada rejected it" in refused.reason
        await asyncio.sleep(1.1)
        now = datetime.now(UTC).replace(microsecond=0)
        await door.again("reopen", issued=now)
        refused = await door.commit(permit=2)
        assert refused.uncounted and "signed before it was reopened" in refused.reason
        await door.approve("grace", issued=now)
        assert (await door.commit(permit=3)).status is ChangeStatus.ANSWERED
        assert await door.sent() == 1


async def test_a_reopening_from_tomorrow_does_not_count_today(tmp_path: Path) -> None:
    """It voids neither a rejection nor what is approved once somebody has reopened the zone by now."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve(choice=Choice.REJECT)
        await door.again("reopen", issued=tomorrow(), expires=tomorrow() + timedelta(days=1))
        assert "ada rejected it" in (await door.commit()).reason
        now = datetime.now(UTC).replace(microsecond=0)
        await door.again("reopen", issued=now)
        await door.approve(issued=now)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_a_retry_from_tomorrow_begins_no_attempt_today(tmp_path: Path) -> None:
    """One of a clock that is far ahead would begin every later attempt."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve(attempt=2)
        second = door.with_start(attempt=2)
        await door.again("retry", issued=tomorrow(), expires=tomorrow() + timedelta(days=1))
        assert "nobody has signed that it begins again" in (await second.commit()).reason
        await door.again("retry")
        assert (await second.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_a_word_that_begins_nothing_is_told_with_the_reason(tmp_path: Path) -> None:
    """By a clock that is behind, it is from before the attempt before has sent anything; by an operator of
    another account it is nobody's. What a stranger signs hides neither.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    signed, sent = now - timedelta(minutes=32), now - timedelta(minutes=30)
    async with guarded(tmp_path) as door:
        await door.begin(issued=now - timedelta(hours=1))
        await door.approve(attempt=2)
        key = await door.sent_before("first", 0, at=sent)
        came = NothingMore.of(ClosedAs.NOTHING_CAME, "the service refused it")
        assert await door.gate.connections.records.create(key.replace("intent/", "nothing/", 1), came)
        second = door.with_start(attempt=2)
        await door.again("retry", issued=signed)
        await door.again("retry", signer=door.stranger)
        reason = (await second.commit()).reason
        said, before = (f"{one:%Y-%m-%d %H:%M:%S} UTC" for one in (signed, sent))
        assert f"for attempt 2: sam signed at {said}, before " in reason and f" at {before} (" in reason
        door.limit("sam", "f" * 32)
        await door.again("reopen", issued=now)
        assert "attempt 2: sam is no operator of this account" in (await second.commit(permit=2)).reason
        door.limit("sam", door.gate.zone.account)
        assert (await second.commit(permit=3)).status is ChangeStatus.ANSWERED


async def test_an_abort_from_tomorrow_does_not_stop_what_is_started_today(tmp_path: Path) -> None:
    """It stops the start that it names, and none that comes after it was stored."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say("abort", 1, issued=tomorrow(), expires=tomorrow() + timedelta(days=1))
        assert (await door.commit()).aborted_by == "sam"
        await asyncio.sleep(1.1)
        now = datetime.now(UTC).replace(microsecond=0)
        await door.begin(issued=now)
        await door.approve(issued=now)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


USUAL = ("aborted", "excluded", "on_hold")
"""What ``reopen`` begins again where nothing is named."""


@pytest.mark.parametrize(("places", "voids"), [(USUAL, False), (("rejected",), True), ((), True)], ids=str)
async def test_a_reopening_of_all_zones_voids_a_rejection_only_where_it_is_of_rejected_ones(
    places: tuple[str, ...], voids: bool, tmp_path: Path
) -> None:
    """Whoever reopens the zones that are on hold has nobody's rejection decided anew."""
    now = datetime.now(UTC).replace(microsecond=0)
    async with guarded(tmp_path) as door:
        await door.begin(issued=now - timedelta(hours=1))
        await door.approve("grace", choice=Choice.REJECT, issued=now - timedelta(minutes=30))
        await door.again("reopen", places=places, issued=now - timedelta(minutes=20))
        await door.approve_alike(issued=now - timedelta(minutes=10))
        result = await door.commit()
        assert (result.status is ChangeStatus.ANSWERED) is voids, result
        assert voids or "grace rejected it" in result.reason


@pytest.mark.parametrize("places", [USUAL, ("rejected",)], ids=str)
async def test_what_was_approved_after_a_rejection_outlives_a_reopening_of_other_zones(
    places: tuple[str, ...], tmp_path: Path
) -> None:
    """A rejection, a reopening of the zone by its name, an approval; then others on hold are reopened. Where
    rejected ones are reopened once more, people decide anew.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    async with guarded(tmp_path) as door:
        await door.begin(issued=now - timedelta(hours=1))
        rejection = door.decision("grace").model_copy(update={"issued": now - timedelta(minutes=30)})
        await door.put(rejection.model_copy(update={"choice": Choice.REJECT}))
        named: dict[str, Any] = {"zones": (door.gate.zone.id,), "places": ("on_hold", "rejected")}
        await door.again("reopen", **named, issued=now - timedelta(minutes=20))
        await door.approve_alike(issued=now - timedelta(minutes=10))
        await door.again("reopen", places=places, issued=now - timedelta(minutes=5))
        result = await door.commit()
        counts = places == USUAL
        assert (result.status is ChangeStatus.ANSWERED) is counts, result
        assert counts or "ada signed before it was reopened" in result.reason


@pytest.mark.parametrize(
    "elsewhere", [{"service": "https://rehearsal.example/client/v4"}, {"area": Area.ESC}], ids=str
)
async def test_a_reopening_of_elsewhere_voids_no_rejection(elsewhere: dict[str, Any], tmp_path: Path) -> None:
    """As one that was signed in a rehearsal of the same name, and copied into the archive."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve("grace", choice=Choice.REJECT)
        await door.again("reopen", **elsewhere, issued=datetime.now(UTC).replace(microsecond=0))
        await door.approve(issued=datetime.now(UTC).replace(microsecond=0))
        assert "grace rejected it" in (await door.commit()).reason
        assert await door.sent() == 0


@pytest.mark.parametrize("own", [True, False])
async def test_an_operator_of_another_account_voids_no_rejection(own: bool, tmp_path: Path) -> None:
    """An operator who is limited to an account reopens its zones, and no others."""
    now = datetime.now(UTC).replace(microsecond=0)
    async with guarded(tmp_path) as door:
        door.limit("sam", door.gate.zone.account if own else "f" * 32)
        await door.begin()
        await door.approve("grace", choice=Choice.REJECT)
        await door.again("reopen", issued=now)
        await door.approve(issued=now)
        result = await door.commit()
        assert (result.status is ChangeStatus.ANSWERED) is own, result
        assert own or "grace rejected it" in result.reason


async def test_what_was_stopped_by_a_clock_ahead_goes_on_after_it(tmp_path: Path) -> None:
    """An abort a minute ahead does not stop what people start next; nor a rejection, what they reopen."""
    now = datetime.now(UTC).replace(microsecond=0)
    async with guarded(tmp_path / "aborted") as door:
        await door.begin(issued=now - timedelta(minutes=1))
        await door.say("abort", 1, issued=now + timedelta(minutes=1))
        await asyncio.sleep(1.1)
        again = datetime.now(UTC).replace(microsecond=0)
        await door.begin(issued=again)
        await door.approve(issued=again)
        assert (await door.commit()).status is ChangeStatus.ANSWERED
    async with guarded(tmp_path / "rejected") as door:
        await door.begin(issued=now - timedelta(minutes=1))
        await door.approve(choice=Choice.REJECT, issued=datetime.now(UTC) + timedelta(minutes=1))
        await asyncio.sleep(1.1)
        again = datetime.now(UTC).replace(microsecond=0)
        await door.again("reopen", issued=again)
        await door.approve("grace", issued=again)
        assert (await door.commit()).status is ChangeStatus.ANSWERED
