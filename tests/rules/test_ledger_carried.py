"""A campaign's memory: the book of decisions, waiting times, counts, and how small all of it stays."""

from __future__ import annotations

import hashlib
import random
from datetime import timedelta
from itertools import count, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.campaign.attempts import MOST_NAMED
from edgeshift.campaign.book import DecidingWord
from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.packing import Bits, pack_bits
from edgeshift.campaign.target_states import TargetState
from edgeshift.campaign.zone_reports import MOST_GROUPS
from edgeshift.messages import ReportKind, Step
from edgeshift.model.fleet import Wave
from edgeshift.model.sign_off import Choice, Decision, SignOffPolicy
from tests.rules.ledger_kit import (
    FORTNIGHT,
    HOUR,
    NOW,
    OTHER,
    SHAPE,
    awaiting,
    finished,
    ledger,
    place,
    report,
    said,
)

WAVES = (Wave(number=0, name="one", first=0, end=5), Wave(number=1, name="two", first=5, end=10))
POLICY = SignOffPolicy(approvers=("ann", "bob"))
MOST = 256_000
"""Bytes of the carried state, at fleet size."""

KINDS = st.sampled_from([kind for kind in ReportKind if kind is not ReportKind.FINISHED])


# --- decisions


def decision(choice: Choice = Choice.APPROVE, digest: str = SHAPE, by: str = "ann") -> Decision:
    return Decision(choice=choice, digest=digest, by=by, at=NOW)


def decided(*words: Decision, wave: int | None = None) -> Ledger:
    """Zones 1 and 6 wait with the shape, 2 waits apart, 3 has another shape; the book says this of it."""
    found = ledger(waves=WAVES)
    found.hear(awaiting(index=1), NOW)
    found.hear(awaiting(index=6), NOW)
    found.hear(awaiting(index=2, joins=False), NOW)
    found.hear(awaiting(index=3, fingerprint=OTHER), NOW)
    said(found, *words, wave=wave)
    found.apply_to([SHAPE], POLICY, "zoe", NOW)
    return found


def places(found: Ledger, *indexes: int) -> list[TargetState]:
    return [place(found, index) for index in indexes]


def test_a_decision_counts_for_every_zone_that_waits_with_its_shape() -> None:
    """Not for one whose own evidence kept it apart, nor for another shape."""
    expected = [TargetState.READY, TargetState.READY, TargetState.AWAITING_SEPARATE, TargetState.AWAITING]
    assert places(decided(decision()), 1, 6, 2, 3) == expected


def test_a_rejection_counts_for_those_apart_too() -> None:
    """Whoever rejects a shape rejects every zone of it."""
    expected = [TargetState.REJECTING, TargetState.REJECTING, TargetState.REJECTING, TargetState.AWAITING]
    assert places(decided(decision(), decision(Choice.REJECT, by="bob")), 1, 6, 2, 3) == expected


def test_a_decision_for_a_wave_counts_in_it_alone() -> None:
    """The same shape in another wave goes on waiting."""
    assert places(decided(decision(), wave=1), 1, 6) == [TargetState.AWAITING, TargetState.READY]


@pytest.mark.parametrize("word", [decision(by="mallory"), decision(digest="c" * 64)])
def test_what_is_no_valid_decision_moves_nobody(word: Decision) -> None:
    """Of someone not listed, or on a fingerprint that nobody has proposed."""
    assert places(decided(word), 1, 6, 2, 3) == [
        TargetState.AWAITING,
        TargetState.AWAITING,
        TargetState.AWAITING_SEPARATE,
        TargetState.AWAITING,
    ]


def test_a_zone_that_arrives_later_finds_the_decision() -> None:
    """Agreed to once, it counts for whoever comes with the same shape; and again after a continue-as-new."""
    carried = ledger(waves=WAVES)
    carried.unpack(decided(decision()).packed())
    carried.hear(awaiting(index=7), NOW)
    carried.apply_book([7], POLICY, "zoe", NOW)
    assert place(carried, 7) is TargetState.READY


# --- waiting too long


@given(st.timedeltas(timedelta(0), FORTNIGHT * 3), st.timedeltas(timedelta(0), FORTNIGHT * 6))
def test_overdue_is_never_early_and_hardly_late(asked: timedelta, looked: timedelta) -> None:
    """A zone is overdue once it has waited as long as the policy says, give or take one tick on the late
    side.
    """
    found = ledger()
    found.hear(awaiting(), NOW + asked)
    waited = looked - asked
    overdue = 3 in found.overdue(NOW + looked, FORTNIGHT)
    if waited < FORTNIGHT:
        assert not overdue
    if waited >= FORTNIGHT + 2 * found.tick:
        assert overdue


def test_only_zones_that_wait_for_a_sign_off_can_be_overdue() -> None:
    """Those that wait for support, for a window or for a permit have clocks of their own."""
    found = ledger()
    for index, kind in enumerate([ReportKind.SUPPORT, ReportKind.WAITING, ReportKind.READY]):
        found.hear(report(1, kind, index), NOW)
    found.hear(awaiting(index=3), NOW)
    found.hear(awaiting(index=4, joins=False), NOW)
    assert found.overdue(NOW + FORTNIGHT * 2, FORTNIGHT) == [3, 4]


# --- counting


def test_counts_by_place_and_by_wave() -> None:
    """Every target is counted once, and final places are final."""
    found = ledger(waves=WAVES)
    found.hear(finished(), NOW)
    found.exclude(7, "x" * 500)
    assert found.tallies() == {"working": 8, "excluded": 1, "migrated": 1}
    assert found.tallies(1) == {"working": 4, "excluded": 1}
    assert (found.finished(), found.finished(1), found.number(TargetState.WORKING, wave=1)) == (2, 1, 4)
    assert list(found.indexes(TargetState.MIGRATED, TargetState.EXCLUDED)) == [3, 7]
    assert list(found.indexes(TargetState.WORKING, first=6, end=9)) == [6, 8]
    assert found.is_open(0) and not found.is_open(3) and len(found.excluded[7]) == 120


def test_only_so_many_exclusions_are_named() -> None:
    """All of them are counted."""
    found = ledger(MOST_NAMED + 5)
    for index in range(found.count):
        found.exclude(index, "taken")
    assert len(found.excluded) == MOST_NAMED and found.number(TargetState.EXCLUDED) == found.count


def test_beyond_the_shapes_that_are_kept_a_zone_waits_for_a_decision_of_its_own() -> None:
    """It keeps no shape, so that no decision on another one can count for it; its waiting time runs from
    now.
    """
    found = ledger(MOST_GROUPS + 1)
    for index in range(found.count):
        found.hear(
            awaiting(index=index, fingerprint=hashlib.sha256(b"%d" % index).hexdigest()), NOW + HOUR * 400
        )
    last = found.count - 1
    assert (
        len(found.known) == MOST_GROUPS
        and found.fingerprint_group(last) is None
        and found.fingerprint_group(last - 1)
    )
    assert place(found, last) is TargetState.AWAITING
    assert found.overdue(NOW + HOUR * 400 + FORTNIGHT / 2, FORTNIGHT) == []
    assert found.decisions(last) == []


# --- carrying it on


@given(st.lists(st.tuples(st.integers(0, 9), KINDS, st.sampled_from([SHAPE, OTHER])), max_size=25))
def test_what_is_carried_on_goes_on_the_same(words: list[tuple[int, ReportKind, str]]) -> None:
    """Packed and unpacked: the same places, and the same effect of whatever comes next."""
    found = ledger()
    found.permit(3, Step.VALIDATE, "c", NOW + HOUR, count(1).__next__)
    found.exclude(9, "taken")
    said(found, decision())
    for sequence, (index, kind, fingerprint) in enumerate(words, 1):
        found.hear(
            report(sequence, kind, index, fingerprint=fingerprint, step=Step.COMMIT), NOW + HOUR * sequence
        )
    carried = Ledger(10, NOW, FORTNIGHT / 100)
    carried.unpack(found.packed())
    assert carried.packed() == found.packed()
    assert (carried.permits, carried.excluded) == (found.permits, found.excluded)
    assert carried.book.latest(9) == found.book.latest(9)
    assert [carried.fingerprint_group(index) for index in range(10)] == [
        found.fingerprint_group(index) for index in range(10)
    ]
    for both in (found, carried):
        for index in range(10):
            both.hear(awaiting(40, index=index, fingerprint=SHAPE), NOW + HOUR * 40)
        both.hear(finished(41), NOW)
        both.apply_book(range(10), POLICY, "zoe", NOW)
    assert carried.packed() == found.packed()
    assert carried.overdue(NOW + 4 * FORTNIGHT, FORTNIGHT) == found.overdue(NOW + 4 * FORTNIGHT, FORTNIGHT)


@pytest.mark.parametrize("waiting", [True, False], ids=["all wait", "in the middle"])
def test_a_hundred_thousand_zones_fit_into_a_quarter_of_a_megabyte(waiting: bool) -> None:
    """With 200 shapes strewn at random, permits, a book and exclusions: the carried state is under 256 KB."""
    many, dice = 100_000, random.Random(1)
    found = Ledger(many, NOW, FORTNIGHT / 100)
    shapes = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(200)]
    for number, shape in enumerate(shapes):
        found.hear(awaiting(1, index=0, attempt=0, fingerprint=shape), NOW)
        found.begin(0)
        found.hear(awaiting(1, index=0, attempt=found.attempts[0], fingerprint=shape), NOW)
        found.permit(number, Step.COMMIT, "a-campaign-with-a-long-name-0a1b2c3d", NOW, count(1).__next__)
        said(found, decision(digest=shape))
    assert len(found.known) == 200
    final = [TargetState.MIGRATED] * 90 + [
        TargetState.ALREADY_MIGRATED,
        TargetState.BLOCKED,
        TargetState.FAILED,
        TargetState.ON_HOLD,
    ] * 2
    for index in range(many):
        found.attempts[index] = 1 + (dice.random() < 0.02)
        found.propose(index, dice.randint(1, 200))
        found.since[index] = min(99, int(index / many * 90 + dice.random() * 10))
        found.sequences[index] = dice.choice((2, 2, 2, 3, 4))
        if waiting:
            found.places[index] = TargetState.AWAITING
        else:
            found.places[index] = dice.choice(final) if index < many * 0.8 else TargetState.PENDING
            if many * 0.5 < index < many * 0.7:
                found.places[index] = dice.choice(
                    [TargetState.AWAITING, TargetState.WAITING, TargetState.READY, TargetState.PERMITTED]
                )
    for index in range(100):
        found.exclude(index, f"campaign/another-campaign has zone {index:032x} since 2026-03-01")
    packed = found.packed()
    assert len(packed) < MOST
    carried = Ledger(many, NOW, FORTNIGHT / 100)
    carried.unpack(packed)
    assert (
        bytes(carried.places) == bytes(found.places)
        and carried.group_numbers == found.group_numbers
        and carried.attempts == found.attempts
    )
    assert carried.known == found.known and carried.permits == found.permits
    assert carried.book.latest(200) == found.book.latest(200)
    assert carried.packed() == packed


@pytest.mark.long
@pytest.mark.parametrize("rare", [True, False])
@pytest.mark.parametrize(("at_once", "waves"), [(300, 1), (1, 1), (300, 20)])
def test_two_thousand_shapes_that_three_people_decide_on_stay_small(
    at_once: int, waves: int, rare: bool
) -> None:
    """Over 100,000 zones, with reasons of 500 characters: an eighth of what a run may be given, however the
    decisions came, also for each of 20 waves; none is refused. ``rare``: each is half as
    frequent as the one that is twice as far up.
    """
    many, dice = 100_000, random.Random(1)
    found = Ledger(many, NOW, FORTNIGHT / 100)
    shapes = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(2_000)]
    for shape in shapes:
        found.know(shape, Step.COMMIT)
    often = [1 / number if rare else 1 for number in range(1, 2_001)]
    numbers = dice.choices(range(1, 2_001), often, k=many)
    for index in range(many):
        found.attempts[index] = 1
        found.propose(index, numbers[index])
        found.since[index] = index * 3 // many
        found.sequences[index] = 17 if dice.random() < 0.1 else 11
        found.places[index] = TargetState.AWAITING_SEPARATE if dice.random() < 0.02 else TargetState.AWAITING
    several = product(range(waves), ("ann", "bob", "carl"))
    for hours, (wave, by) in enumerate(several):
        for first in range(0, 2_000, at_once):
            reason = found.book.kept("".join(dice.choices("abcdefghijklmnopqrstuvwxyz ", k=500)))
            at = NOW + HOUR * hours + timedelta(milliseconds=1_500 * first + dice.randrange(1_000))
            word = DecidingWord(Choice.APPROVE, by, reason, at)
            for shape in shapes[first : first + at_once]:
                found.book.record(shape, wave if waves > 1 else None, word)
        assert found.book.has_room_for(shapes[:at_once], wave if waves > 1 else None, word, shapes)
    packed = found.packed()
    assert len(packed) < MOST
    carried = Ledger(many, NOW, FORTNIGHT / 100)
    carried.unpack(packed)
    assert carried.packed() == packed and carried.book.latest(9_999) == found.book.latest(9_999)


def test_what_waiting_times_of_two_weeks_cost_is_bounded() -> None:
    """Where 2,000 shapes that are as frequent, the times since when zones wait and the numbers of their words
    are all strewn, none of them says anything of another: more than a quarter of a megabyte, and a sixth of
    what Temporal takes.
    """
    many, dice = 100_000, random.Random(1)
    found = Ledger(many, NOW, FORTNIGHT / 100)
    for number in range(2_000):
        found.know(hashlib.sha256(b"%d" % number).hexdigest(), Step.COMMIT)
    for index in range(many):
        found.attempts[index] = 1
        found.propose(index, dice.randint(1, 2_000))
        found.since[index] = dice.randrange(100)
        found.sequences[index] = dice.randint(1, 3)
        found.places[index] = TargetState.AWAITING
    assert MOST < len(found.packed()) < 320_000


@given(st.sets(st.integers(0, 99)))
def test_a_packed_set_of_indexes_answers_like_the_set(indexes: set[int]) -> None:
    """For every index, and beyond the end."""
    bits = Bits(pack_bits(indexes, 100))
    assert {index for index in range(-9, 200) if index in bits} == indexes == set(bits)
    assert 0 not in Bits(b"")
