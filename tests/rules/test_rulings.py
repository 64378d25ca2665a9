"""Which rejections of earlier runs still count: by their names in the archive alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from edgeshift.campaign.rulings import (
    Entry,
    by_subject,
    entry_of,
    fingerprints_prefix,
    short,
    standing,
    zones_prefix,
)
from edgeshift.messages import RulingVerb
from edgeshift.stores.archive import checked_key

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CAMPAIGN = "campaign/spring"
SHAPE = "a" * 64


def entry(verb: RulingVerb, second: float, by: str = "ann", about: str | int | None = None) -> Entry:
    return entry_of(verb, NOW + timedelta(seconds=second), about, by, "run")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ([], 0),
        ([entry("rejected", 1)], 1),
        ([entry("rejected", 1), entry("rejected", 2, "ben")], 2),
        ([entry("rejected", 1), entry("reopened", 2, "ben")], 0),
        ([entry("rejected", 1), entry("reopened", 2), entry("rejected", 3)], 1),
        ([entry("rejected", 1), entry("withdrawn", 2)], 0),
        ([entry("rejected", 1), entry("withdrawn", 2, "ben")], 1),
        ([entry("rejected", 1, about=2), entry("withdrawn", 2)], 1),
        ([entry("rejected", 1, about=2), entry("rejected", 1.5), entry("withdrawn", 2)], 1),
        ([entry("withdrawn", 1), entry("reopened", 1.000001), entry("rejected", 1.000002)], 1),
    ],
)
def test_a_rejection_stands_until_it_is_reopened_or_taken_back(given: list[Entry], left: int) -> None:
    """By whomever it is reopened; only whoever gave it takes it back, for the wave for which it was given."""
    keys = [f"{fingerprints_prefix(CAMPAIGN, SHAPE)}/{one.name}" for one in reversed(given)]
    found = by_subject(keys)
    assert found == ({SHAPE: given} if given else {})
    assert len(standing(found.get(SHAPE, []))) == left


def test_what_is_no_ruling_is_left_out() -> None:
    """Names that nobody here has written say nothing; a zone's ruling names its digest."""
    one = entry("rejected", 1, about=SHAPE)
    keys = [f"{zones_prefix(CAMPAIGN, 'z' * 32)}/{name}" for name in ("x", "1-rejected-all-a-b", one.name)]
    assert by_subject(keys) == {"z" * 32: [one]}
    assert (one.about, one.run) == (SHAPE, short("run"))


def test_names_are_keys_of_the_archive_and_tell_of_no_person() -> None:
    """A person's name may have any letters; in a key there is a digest of it."""
    name = entry("rejected", 1, "Ann Ö. <ann@example.com>").name
    assert checked_key(f"{fingerprints_prefix(CAMPAIGN, SHAPE)}/{name}")
    assert "ann" not in name
