"""Rejections that a campaign has from its earlier runs: all of them, in an answer that Temporal takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from temporalio.testing import ActivityEnvironment

from activities.connections import Connections
from activities.rulings import RulingActivities
from edgeshift.campaign.book import DecisionBook, unpacked_rejections
from edgeshift.messages import Book, RecalledRulings, RecallRulings, RecordRulings, RulingNote
from edgeshift.model.digests import sha256
from edgeshift.stores.archive import Archive

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CAMPAIGN = "campaign/spring"
TAKEN = 2_000_000
"""Bytes that Temporal takes in one answer."""


async def recalled(archive: Archive, *, unpacks: bool) -> RecalledRulings:
    """What a later run of the campaign finds."""
    activities = RulingActivities(cast(Connections, SimpleNamespace(archive=archive)))
    message = RecallRulings(campaign=CAMPAIGN, run="later", unpacks=unpacks)
    return await ActivityEnvironment().run(activities.recall, message)


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
