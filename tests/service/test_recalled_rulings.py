"""Rejections that a campaign has from its earlier runs: all of them, in an answer that Temporal takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.testing import ActivityEnvironment

from activities.connections import Connections
from activities.proof.records import WorkerRecords
from activities.rulings import RulingActivities
from edgeshift.campaign.book import DecisionBook, unpacked_rejections
from edgeshift.campaign.rulings import entry_of, fingerprints_prefix
from edgeshift.messages import Book, RecalledRulings, RecallRulings, RecordRulings, RulingNote
from edgeshift.model.digests import sha256
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import Archive, ArchiveUnavailable
from edgeshift.stores.documents import RulingRecord, encoded, unproven_there
from tests.service.records_kit import kept_in

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CAMPAIGN = "campaign/spring"
TAKEN = 2_000_000
"""Bytes that Temporal takes in one answer."""


class Slow(Archive):
    """One that takes a while for each record, and says how many it had to do with at the same time."""

    at_once = most = 0
    fails_after: int | None = None

    async def create_once(self, key: str, data: bytes, *, lasting: bool = True) -> bool:
        """Slowly."""
        async with self._slowly():
            return await super().create_once(key, data, lasting=lasting)

    async def get_named(self, key: str) -> bytes | None:
        """Slowly."""
        async with self._slowly():
            return await super().get_named(key)

    @asynccontextmanager
    async def _slowly(self) -> AsyncIterator[None]:
        if self.fails_after is not None:
            if self.fails_after == 0:
                raise ArchiveUnavailable("the store does not answer")
            self.fails_after -= 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.01)
        yield
        self.at_once -= 1


async def recalled(archive: Archive, *, unpacks: bool) -> RecalledRulings:
    """What a later run of the campaign finds, where no signatures count."""
    records = WorkerRecords(None, archive, SystemClock())
    return await found_by(cast(Connections, SimpleNamespace(archive=archive, records=records)), unpacks)


async def found_by(connections: Connections, unpacks: bool = True, attempt: int = 1) -> RecalledRulings:
    """What a later run of the campaign finds, at a try of the activity."""
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt)
    message = RecallRulings(campaign=CAMPAIGN, run="later", unpacks=unpacks)
    return await environment.run(RulingActivities(connections).recall, message)


async def reject(archive: Archive, number: int, at_once: int) -> None:
    """An earlier run rejects so many fingerprints, of which some are rejected in one message each."""
    activities = RulingActivities(cast(Connections, SimpleNamespace(archive=archive)))
    notes = tuple(
        RulingNote(
            verb="rejected",
            at=NOW + timedelta(seconds=first),
            by=f"person-{first % 3}",
            reason=f"{first}: it blocks the shop's checkout. " + "w" * 460,
            fingerprints=tuple(sha256(b"%d" % one) for one in range(first, first + at_once)),
            wave=first % 2 or None,
        )
        for first in range(0, number, at_once)
    )
    message = RecordRulings(campaign=CAMPAIGN, run="earlier", targets="0" * 64, notes=notes)
    await ActivityEnvironment().run(activities.record, message)


def book_of(entries: tuple[Book, ...]) -> DecisionBook:
    """What a campaign makes of it."""
    book = DecisionBook()
    for entry in entries:
        book.take(entry)
    return book


async def test_more_rejections_than_one_answer_takes_written_out_are_recalled(tmp_path: Path) -> None:
    """3,000 with long reasons: written out they are too long, and no zone of the new run would begin."""
    archive = Archive(tmp_path)
    await reject(archive, 3_000, 1)
    written = await recalled(archive, unpacks=False)
    assert len(written.book) == 3_000 and len(written.model_dump_json()) > TAKEN
    found = await recalled(archive, unpacks=True)
    assert not found.book and len(found.model_dump_json()) < TAKEN / 3
    assert book_of(unpacked_rejections(found.packed)).packed() == book_of(written.book).packed()


async def test_a_campaign_of_an_earlier_version_has_them_written_out(tmp_path: Path) -> None:
    """It does not say that it takes them packed; both say the same."""
    archive = Archive(tmp_path)
    assert book_of(unpacked_rejections((await recalled(archive, unpacks=True)).packed)).packed() == (
        DecisionBook().packed()
    )
    await reject(archive, 60, 20)
    written, found = [await recalled(archive, unpacks=unpacks) for unpacks in (False, True)]
    assert not written.packed and len(written.book) == 60
    book = book_of(written.book)
    assert book_of(unpacked_rejections(found.packed)).packed() == book.packed() and len(book) == 60


def noted(notes: int, fingerprints: int) -> RecordRulings:
    """Rejections of so many fingerprints each, to be recorded."""
    return RecordRulings(
        campaign=CAMPAIGN,
        run="earlier",
        targets="0" * 64,
        notes=tuple(
            RulingNote(
                verb="rejected",
                at=NOW + timedelta(seconds=number),
                by="grace",
                reason="",
                fingerprints=tuple(sha256(b"%d-%d" % (number, one)) for one in range(fingerprints)),
            )
            for number in range(notes)
        ),
    )


async def record(archive: Archive, message: RecordRulings, told: list[Any]) -> list[tuple[Any, ...]]:
    """A try that begins with what an earlier one told; what it tells itself."""
    beats: list[tuple[Any, ...]] = []
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=2 if told else 1, heartbeat_details=told)
    environment.on_heartbeat = lambda *some: beats.append(some)
    activities = RulingActivities(cast(Connections, SimpleNamespace(archive=archive)))
    await environment.run(activities.record, message)
    return beats


async def test_many_are_recorded_and_recalled_side_by_side(tmp_path: Path) -> None:
    """With a store that takes seconds for a record, one after the other would end with no try."""
    archive = Slow(tmp_path)
    await record(archive, noted(1, 100), [])
    assert archive.most == 16
    archive.most = 0
    assert len((await recalled(archive, unpacks=False)).book) == 100
    assert archive.most == 16


async def test_a_second_try_records_the_notes_that_are_left(tmp_path: Path) -> None:
    """And has then recorded all, as one try would have."""
    archive, message = Slow(tmp_path / "slow"), noted(5, 3)
    archive.fails_after = 7
    with pytest.raises(Exception, match="does not answer"):
        await record(archive, message, [])
    archive.fails_after = 3 * 3
    assert await record(archive, message, ["notes", 2]) == [
        ("notes", 2),
        ("notes", 3),
        ("notes", 4),
        ("notes", 5),
    ]
    whole = Archive(tmp_path / "whole")
    assert await record(whole, message, []) == [("notes", done) for done in range(1, 6)]
    assert [key async for key in archive.list()] == [key async for key in whole.list()]


@pytest.mark.parametrize(
    "told", [[3], [], ["notes"], ["notes", 9], ["notes", -1], ["other", 1], [["notes"], 1]]
)
async def test_what_is_no_progress_has_all_recorded(tmp_path: Path, told: list[Any]) -> None:
    """Of a worker of another version, whose heartbeats told the number of a zone."""
    archive = Archive(tmp_path)
    await record(archive, noted(3, 1), told)
    assert len((await recalled(archive, unpacks=False)).book) == 3


def ruling(by: str = "mallory", **more: Any) -> bytes:
    """What somebody lays in the place of a ruling."""
    said = {"verb": "rejected", "at": NOW, "by": by, "campaign": CAMPAIGN, "run": "other", **more}
    return encoded(RulingRecord(**said))


def place_of(number: int, about: str = "all", subject: str = "") -> str:
    """Where a rejection by another run lies. ``subject``: in the place of a fingerprint."""
    name = entry_of("rejected", NOW + timedelta(seconds=number), about, f"person-{number}", "other").name
    return f"{fingerprints_prefix(CAMPAIGN, subject or 'f' * 64)}/{name}"


PLANTED = {
    "no JSON": (place_of(1), b"x"),
    "a list": (place_of(1), b"[]"),
    "nobody's word": (place_of(1), ruling(by="")),
    "a name too long": (place_of(1), ruling(by="m" * 5_000)),
    "half a letter": (place_of(1), ruling().replace(b"mallory", b"\\ud800")),
    "no wave": (place_of(1, "x"), ruling()),
    "no digits": (place_of(1, "1_0"), ruling()),
    "a wave past all numbers": (place_of(1, "9" * 100), ruling()),
    "no fingerprint": (place_of(1, subject="shop"), ruling()),
    "a fingerprint within a folder": (place_of(1, subject=f"a/{'f' * 64}"), ruling()),
}
NO_NAME = {what for what in PLANTED if what.startswith(("no wave", "no digits", "no fingerprint"))}
NO_NAME |= {"a wave past all numbers", "a fingerprint within a folder"}
"""Those whose names no campaign can have given."""


async def genuine(archive: Archive) -> None:
    """One rejection that people have given."""
    await reject(archive, 1, 1)


@pytest.mark.parametrize("what", PLANTED)
async def test_a_planted_ruling_keeps_no_campaign_from_beginning_where_signatures_count(
    tmp_path: Path, what: str
) -> None:
    """It is passed over, and told of; the others are recalled."""
    kept, (key, data) = kept_in(tmp_path), PLANTED[what]
    await genuine(kept.archive)
    kept.lay(key, data)
    found = unpacked_rejections((await found_by(kept.connections)).packed)
    assert [entry.fingerprint for entry in found] == [sha256(b"0")]
    assert [one.key for one in (await unproven_there(kept.archive)).found] == [key]


@pytest.mark.parametrize("what", PLANTED)
async def test_without_roots_what_may_be_a_rejection_keeps_a_campaign_from_beginning(
    tmp_path: Path, what: str
) -> None:
    """It alone may say what was rejected; what no campaign can have written says nothing there, either."""
    archive, (key, data) = Archive(tmp_path), PLANTED[what]
    await genuine(archive)
    (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / key).write_bytes(data)
    if what in NO_NAME:
        assert len((await recalled(archive, unpacks=False)).book) == 1
        return
    with pytest.raises(Exception, match="in the archive") as failed:
        await recalled(archive, unpacks=True)
    assert getattr(failed.value, "type", "") == "ArchiveCorrupt"
    (tmp_path / key).write_bytes(ruling())
    assert len((await recalled(archive, unpacks=False)).book) == 2


class Withholding(Archive):
    """One that never gives one of its records, as to whoever does not have the key to it."""

    withheld = ""

    async def get_named(self, key: str) -> bytes | None:
        """All but that one."""
        if key == self.withheld:
            raise ArchiveUnavailable("access denied")
        return await super().get_named(key)


async def test_a_ruling_that_the_archive_never_gives_is_passed_over_at_a_later_try(tmp_path: Path) -> None:
    """What is only away for a moment is waited for before."""
    kept = kept_in(tmp_path)
    archive = Withholding(tmp_path / "archive")
    archive.withheld = place_of(1)
    there = cast(Connections, SimpleNamespace(**{**vars(kept.connections), "archive": archive}))
    await genuine(archive)
    kept.lay(archive.withheld, ruling())
    for attempt in (1, 3):
        with pytest.raises(Exception, match="access denied"):
            await found_by(there, attempt=attempt)
    assert len(unpacked_rejections((await found_by(there, attempt=4)).packed)) == 1


async def test_a_flood_of_rulings_keeps_no_campaign_from_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first that were stored are looked at, and as many of them carried as a campaign takes."""
    kept = kept_in(tmp_path)
    monkeypatch.setattr("activities.rulings.MOST_RECALLED", 300)
    await genuine(kept.archive)
    for number in range(400):
        kept.lay(place_of(number), ruling(), -timedelta(seconds=number + 1))
    found = unpacked_rejections((await found_by(kept.connections)).packed)
    assert {entry.fingerprint for entry in found} == {sha256(b"0"), "f" * 64}
    (told,) = (await unproven_there(kept.archive)).found
    assert told.key.startswith(fingerprints_prefix(CAMPAIGN)) and "more than 300 names" in told.why

    monkeypatch.setattr("activities.rulings.MOST_PACKED", 500)
    assert len((await found_by(kept.connections)).packed) <= 500
