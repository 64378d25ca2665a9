"""A campaign's book of decisions: a word over many fingerprints is kept once; what it takes is bounded."""

from __future__ import annotations

import random
import string
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.campaign.book import MOST_APPROVED, ROOM, SHORT, DecidingWord, DecisionBook
from edgeshift.messages import Book
from edgeshift.model.digests import sha256
from edgeshift.model.sign_off import Choice, Decision
from tests.rules.ledger_kit import NOW, OTHER, SHAPE

DAY, THIRD = timedelta(days=1), "c" * 64
SHAPES = (SHAPE, OTHER, THIRD)


def word(by: str = "ann", choice: Choice = Choice.APPROVE, reason: str = "", after: int = 0) -> DecidingWord:
    return DecidingWord(choice, by, reason, NOW + timedelta(milliseconds=after))


def test_who_decides_anew_takes_the_place_of_what_they_had_said() -> None:
    """For the same fingerprint and wave alone; what was said before is given back."""
    book, first, second = DecisionBook(), word(), word(choice=Choice.REJECT)
    assert book.record(SHAPE, None, first) is None
    assert book.record(SHAPE, 1, first) is None
    assert book.record(SHAPE, None, second) is first
    assert [decision.choice for decision in book.said(SHAPE, 1)] == [Choice.REJECT, Choice.APPROVE]
    assert [decision.choice for decision in book.said(SHAPE, 0)] == [Choice.REJECT]
    assert book.said(OTHER, 0) == [] and len(book) == 2


def test_what_is_forgotten_counts_no_more_and_takes_no_room() -> None:
    """In every wave."""
    book = DecisionBook()
    for wave in (None, 0, 1):
        book.record(SHAPE, wave, word(reason="because"))
    book.record(OTHER, None, word("bob"))
    alone = DecisionBook()
    alone.record(OTHER, None, word("bob"))
    book.forget(SHAPE)
    assert SHAPE not in book and OTHER in book
    assert len(book) == len(alone) and book.packed() == alone.packed()


def test_reasons_are_kept_as_far_as_there_is_room() -> None:
    """First whole, then their beginnings, then not at all; and whole again once there is room."""
    book = DecisionBook()
    reasons = []
    for number in range(400):
        reasons.append(book.kept(f"{number:04d}" + "w" * 496))
        book.record(f"{number:064x}", None, word(reason=reasons[-1]))
    lengths = [len(reason) for reason in reasons]
    assert lengths == sorted(lengths, reverse=True) and set(lengths) == {500, SHORT, 0}
    assert sum(lengths) <= 2 * ROOM
    for number in range(400):
        book.forget(f"{number:064x}")
    assert len(book.kept("w" * 500)) == 500


def test_an_earlier_runs_rejection_does_not_take_the_place_of_what_was_said_since() -> None:
    """The same person has decided anew; what another said before counts beside it."""
    book = DecisionBook()
    book.record(SHAPE, None, word("ann"))
    before = [Decision(choice=Choice.REJECT, digest=SHAPE, by=by, at=NOW) for by in ("ann", "bob")]
    book.take(Book(fingerprint=SHAPE, decisions=before))
    assert {(one.by, one.choice) for one in book.said(SHAPE, 0)} == {
        ("ann", Choice.APPROVE),
        ("bob", Choice.REJECT),
    }


WORDS = st.tuples(
    st.sampled_from(["ann", "bob", "eve"]),
    st.sampled_from(Choice),
    st.sampled_from(["", "seen", "w" * 500]),
    st.integers(-(10**10), 10**10),
)


@given(
    st.lists(
        st.tuples(WORDS, st.sets(st.sampled_from(SHAPES), min_size=1), st.sampled_from([None, 0, 3])),
        max_size=8,
    ),
    st.permutations(SHAPES),
)
def test_a_book_is_the_same_after_it_was_carried(
    said: list[tuple[tuple[str, Choice, str, int], set[str], int | None]], known: list[str]
) -> None:
    """With some fingerprints named elsewhere; and it goes on the same."""
    book = DecisionBook()
    for (by, choice, reason, after), fingerprints, wave in said:
        one = word(by, choice, book.kept(reason), after)
        for fingerprint in sorted(fingerprints):
            book.record(fingerprint, wave, one)
    some = known[:2]
    packed = book.packed(some)
    carried = DecisionBook.unpacked(packed, some)
    for both in (book, carried):
        both.record(SHAPE, None, word("ann", Choice.REJECT, "late"))
        both.forget(OTHER)
    assert carried.latest(99) == book.latest(99) and len(carried) == len(book)
    assert carried.packed(some) == book.packed(some) and carried.kept("w" * 90) == book.kept("w" * 90)
    for fingerprint in SHAPES:
        assert carried.said(fingerprint, 3) == book.said(fingerprint, 3)
        assert carried.waves_of(fingerprint) == book.waves_of(fingerprint)


def test_one_word_over_many_fingerprints_is_kept_once() -> None:
    """However long its reason is."""
    book, one = DecisionBook(), word(reason="w" * 500)
    for number in range(1_000):
        book.record(f"{number:064x}", None, one)
    assert len(book.packed([f"{number:064x}" for number in range(1_000)])) < 1_000
    carried, room = DecisionBook.unpacked(book.packed()), ROOM - 500
    assert len(carried) == len(book) == 1_000
    assert (len(carried.kept("w" * room)), len(carried.kept("w" * (room + 1)))) == (room, SHORT)
    assert len(book.latest(10)) == 10 and book.latest(1)[0].fingerprint == f"{999:064x}"


MANY = [sha256(b"%d" % number) for number in range(2_000)]


def test_approvals_by_wave_of_many_fingerprints_have_room() -> None:
    """Of two people, for 1,000 fingerprints in each of ten waves: they take 2 KB."""
    book, after = DecisionBook(), 0
    for wave in range(10):
        for by in ("ann", "bob"):
            one, after = word(by, after=after), after + 3_600_000
            assert book.has_room_for(MANY[:1_000], wave, one, MANY)
            for fingerprint in MANY[:1_000]:
                book.record(fingerprint, wave, one)
    assert len(book) == 20_000 and len(book.packed(MANY)) < 3_000


def full() -> DecisionBook:
    """A book with as many approvals as fit, each given by itself, in no order."""
    dice, book, after = random.Random(1), DecisionBook(), 0
    asked = [(fingerprint, wave) for fingerprint in MANY for wave in range(10)]
    dice.shuffle(asked)
    for number, (fingerprint, wave) in enumerate(asked):
        one, after = word(after=after), after + dice.randrange(10**7)
        if number % 500 == 0 and not book.has_room_for(MANY[:1], 99, one, MANY):
            return book
        book.record(fingerprint, wave, one)
    raise AssertionError("it is never full")


def test_a_full_book_takes_rejections_renewals_and_what_takes_the_place_of_many() -> None:
    """Approvals that expired are given anew, and one word in the place of those that were given one by one
    makes room for others.
    """
    book = full()
    assert 5_000 < len(book) < 10_000
    assert not book.has_room_for(MANY[:500], 99, word("bob"), MANY)
    assert book.has_room_for(MANY[:1_000], None, word("bob", Choice.REJECT), MANY)
    one = word(after=10**10)
    for wave in range(10):
        here = [fingerprint for fingerprint in MANY if wave in book.waves_of(fingerprint)]
        assert book.has_room_for(here, wave, one, MANY), "it takes the place of what they had said"
        for fingerprint in here:
            book.record(fingerprint, wave, one)
    assert book.has_room_for(MANY[:1_000], 99, word("bob"), MANY)


def test_rejections_of_earlier_runs_take_no_room_from_approvals() -> None:
    """However many there are."""
    book = DecisionBook()
    for number in range(10_000):
        before = Decision(
            choice=Choice.REJECT, digest=sha256(b"x%d" % number), by="ann", at=NOW + number * DAY
        )
        book.take(Book(fingerprint=before.digest, decisions=[before]))
    assert book.has_room_for(MANY, None, word("bob"), MANY)


def test_decisions_that_would_take_too_long_to_carry_are_too_many() -> None:
    """However little they take: more approvals than are kept; a rejection has room as well then."""
    book = DecisionBook()
    for wave in range(MOST_APPROVED // len(MANY)):
        one = word(after=wave)
        for fingerprint in MANY:
            book.record(fingerprint, wave, one)
    assert not book.has_room_for(MANY[:1], 99, word(), MANY)
    assert book.has_room_for(MANY, 99, word(choice=Choice.REJECT), MANY)


CHINESE = "".join(map(chr, range(0x4E00, 0x9000)))


@pytest.mark.parametrize("letters", [string.ascii_letters + string.digits, CHINESE], ids=["latin", "chinese"])
def test_names_take_room_too(letters: str) -> None:
    """Whoever makes up people with long names, by the thousand, fills no campaign: a new one has no room long
    before it. Who has approved may do so again, and anybody may reject.
    """
    dice, book = random.Random(1), DecisionBook()
    for number in range(MOST_APPROVED):
        one = word("".join(dice.choices(letters, k=200)), after=number * 7_000)
        if not book.has_room_for(MANY[:1], None, one, MANY):
            break
        book.record(MANY[0], None, one)
    assert 100 < len(book) < 1_000 and len(book.packed(MANY)) < 100_000
    assert book.has_room_for(MANY[:1], None, word(book.said(MANY[0], 0)[0].by), MANY)
    assert book.has_room_for(MANY[:1], None, word("bob", Choice.REJECT), MANY)


def test_the_latest_decisions_are_shown_and_the_others_counted() -> None:
    """So many of an entry, and so many in all, of which the latest entries have theirs first."""
    book = DecisionBook()
    for number in range(30):
        for fingerprint in SHAPES:
            book.record(fingerprint, None, word(f"p{number}"))
    assert [(entry.fingerprint, entry.earlier) for entry in book.latest(2, 20)] == [(OTHER, 10), (THIRD, 10)]
    assert [one.by for one in book.latest(1, 2)[0].decisions] == ["p28", "p29"]
    assert [(len(entry.decisions), entry.earlier) for entry in book.latest(9, 20, 25)] == [(5, 25), (20, 10)]
    assert [entry.earlier for entry in book.latest(9)] == [0, 0, 0]
