"""A campaign's memory: reports may come twice, late and out of order; permits settle once."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import OUTCOME_PLACE, TargetState
from edgeshift.messages import ReportKind, Step, ZoneReport
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from tests.rules.ledger_kit import (
    HOUR,
    NOW,
    OTHER,
    SHAPE,
    awaiting,
    finished,
    ledger,
    place,
    report,
)

# --- reports


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (awaiting(), TargetState.AWAITING),
        (awaiting(joins=False), TargetState.AWAITING_SEPARATE),
        (report(1, ReportKind.READY, step=Step.COMMIT, fingerprint=SHAPE), TargetState.READY),
        (report(1, ReportKind.READY, step=Step.VALIDATE), TargetState.READY_VALIDATE),
        (report(1, ReportKind.WAITING), TargetState.WAITING),
        (report(1, ReportKind.SUPPORT), TargetState.SUPPORT),
        *((finished(outcome=outcome), OUTCOME_PLACE[outcome]) for outcome in ZoneOutcome),
        (report(1, ReportKind.FINISHED), TargetState.UNKNOWN),
    ],
)
def test_a_report_moves_its_zone_and_no_other(said: ZoneReport, expected: TargetState) -> None:
    """To the place that its kind says; a zone that finished without an outcome is unknown."""
    found = ledger()
    assert found.hear(said, NOW)
    assert place(found) is expected
    assert all(place(found, index) is TargetState.WORKING for index in range(10) if index != 3)


KINDS = st.sampled_from([kind for kind in ReportKind if kind is not ReportKind.FINISHED])


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[ZoneReport], list[ZoneReport]]:
    """The reports of one zone's second attempt in their order, and as they may arrive: shuffled, twice, and
    among words of its first attempt.
    """
    said = []
    for sequence in range(1, draw(st.integers(1, 7))):
        kind = draw(KINDS)
        step = draw(st.sampled_from(Step))
        more = {"releases": draw(st.sampled_from([None, 1, 2])), "unused": draw(st.booleans()), "step": step}
        joins = draw(st.booleans())
        said.append(
            report(
                sequence,
                kind,
                attempt=2,
                fingerprint=draw(st.sampled_from([SHAPE, OTHER])),
                joins=joins,
                **more,
            )
        )
    said.append(finished(len(said) + 1, draw(st.sampled_from(ZoneOutcome)), attempt=2))
    stale = [item.model_copy(update={"attempt": 1, "sequence": item.sequence + 50}) for item in said]
    arriving = [*said, *draw(st.lists(st.sampled_from([*said, *stale]), max_size=8))]
    return said, draw(st.permutations(arriving))


def second_attempt() -> Ledger:
    found = ledger()
    found.hear(finished(1, ZoneOutcome.FAILED), NOW)
    found.again(3)
    found.begin(3)
    for _ in range(2):
        found.permit(3, Step.COMMIT, "c", NOW + HOUR, count(1).__next__)
    return found


@given(histories())
def test_any_arrival_of_a_zones_reports_gives_the_same_end(
    case: tuple[list[ZoneReport], list[ZoneReport]],
) -> None:
    """However they are interleaved, repeated and mixed with an earlier attempt: one outcome, no permit
    left.
    """
    said, arriving = case
    straight, shuffled = second_attempt(), second_attempt()
    for item in said:
        straight.hear(item, NOW)
    for item in arriving:
        shuffled.hear(item, NOW)
    assert place(straight) is place(shuffled) is OUTCOME_PLACE[said[-1].outcome or ZoneOutcome.UNKNOWN]
    assert straight.permits == shuffled.permits == {}


MOVING = st.sampled_from([ReportKind.AWAITING, ReportKind.WAITING, ReportKind.SUPPORT, ReportKind.READY])


@given(st.lists(MOVING, min_size=1, max_size=6), st.data())
def test_the_newest_word_decides_while_a_zone_is_open(kinds: list[ReportKind], data: st.DataObject) -> None:
    """A word that was newer_attempts changes nothing any more."""
    said = [report(n, kind, fingerprint=SHAPE, step=Step.COMMIT) for n, kind in enumerate(kinds, 1)]
    arriving = data.draw(st.permutations([*said, *data.draw(st.lists(st.sampled_from(said), max_size=4))]))
    straight, shuffled = ledger(), ledger()
    assert all([straight.hear(item, NOW) for item in said])
    for item in arriving:
        shuffled.hear(item, NOW)
    assert place(straight) is place(shuffled)


@pytest.mark.parametrize(
    "said",
    [
        awaiting(3),
        awaiting(2),
        awaiting(9, attempt=0),
        awaiting(9, index=-1),
        awaiting(9, index=10),
        finished(1),
    ],
)
def test_what_does_not_count_changes_nothing(said: ZoneReport) -> None:
    """Duplicates, newer_attempts words, attempts before, and indexes that are none."""
    found = ledger()
    assert found.hear(report(3), NOW)
    before = found.packed()
    assert not found.hear(said, NOW)
    # That a word came twice makes its zone doubtful, until the next sweep.
    assert found.duplicate_sequences <= {3}
    found.duplicate_sequences.clear()
    assert found.packed() == before


def test_nothing_moves_a_zone_out_of_its_outcome() -> None:
    """Nor a zone that is to be begun again, nor one that never was."""
    for again in (False, True):
        found = ledger()
        found.finish(3, ZoneOutcome.ABORTED)
        if again:
            found.again(3)
        was = place(found)
        assert not found.hear(awaiting(7), NOW)
        assert not found.hear(finished(8), NOW)
        assert place(found) is was
    fresh = ledger(begun=False)
    assert not fresh.hear(awaiting(1, attempt=0), NOW)


def test_a_zone_that_is_being_stopped_only_finishes() -> None:
    """What it said before it heard of it does not bring it back."""
    found = ledger()
    found.places[3] = TargetState.STOPPING
    found.hear(awaiting(5), NOW)
    assert place(found) is TargetState.STOPPING
    found.hear(finished(6, ZoneOutcome.ABORTED), NOW)
    assert place(found) is TargetState.ABORTED


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Step.COMMIT, TargetState.READY),
        (Step.DELETE_OVERRIDES, TargetState.READY),
        (Step.VALIDATE, TargetState.READY_VALIDATE),
    ],
)
def test_an_unused_permit_makes_its_zone_ready_again(step: Step, expected: TargetState) -> None:
    """It is granted another one later."""
    found = ledger()
    permit = found.permit(3, step, "c", NOW + HOUR, count(1).__next__)
    found.places[3] = TargetState.PERMITTED
    assert found.hear(report(1, ReportKind.RELEASED, releases=permit.number, unused=True, step=step), NOW)
    assert place(found) is expected and not found.permits


# --- permits


def test_permits_are_numbered_and_named_apart() -> None:
    """Also after a continue-as-new: a number that is out already is drawn again."""
    found, drawn = ledger(), iter([7, 7, 9])
    first = found.permit(3, Step.COMMIT, "c", NOW + HOUR, drawn.__next__)
    carried = ledger()
    carried.unpack(found.packed())
    second = carried.permit(4, Step.COMMIT, "c", NOW + HOUR, drawn.__next__)
    assert (first.number, first.name, second.number, second.name) == (7, "c-7", 9, "c-9")


def test_a_permit_settles_once_and_by_its_holder_alone() -> None:
    """Another zone's word, or a second one, changes nothing."""
    found = ledger()
    permit = found.permit(3, Step.COMMIT, "c", NOW + HOUR, count(1).__next__)
    assert not found.release(permit.number, 4)
    assert found.hear(report(1, index=4, releases=permit.number), NOW)
    assert found.permits
    assert found.release(permit.number, 3)
    assert not found.release(permit.number, 3)
    assert not found.release(99, 3)


@pytest.mark.parametrize(
    "late", [report(2, releases=1), report(9, attempt=0, releases=1), report(1, releases=1)]
)
def test_a_settled_permit_is_settled_whenever_its_holder_says_so(late: ZoneReport) -> None:
    """Also in a duplicate, an newer_attempts word or one of an earlier attempt, which move nothing else."""
    found = ledger()
    found.permit(3, Step.COMMIT, "c", NOW + HOUR, count(1).__next__)
    found.hear(report(2), NOW)
    assert found.hear(late, NOW)
    assert not found.permits and place(found) is TargetState.WAITING
    assert not found.hear(late, NOW)


def test_an_outcome_settles_whatever_its_zone_held() -> None:
    """So that no slot of the budget leaks; other zones keep theirs."""
    found = ledger()
    for index in (3, 3, 4):
        found.permit(index, Step.COMMIT, "c", NOW + HOUR, count(1).__next__)
    found.hear(finished(), NOW)
    assert [permit.index for permit in found.permits.values()] == [4]
    found.exclude(4, "another campaign has it")
    assert not found.permits and found.excluded == {4: "another campaign has it"}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 20)), max_size=30), st.integers(1, 20))
def test_any_words_about_permits_settle_each_at_most_once(words: list[tuple[int, int]], granted: int) -> None:
    """What is left is exactly what no holder has spoken of."""
    found = ledger()
    numbers = count(1)
    holders = {
        found.permit(n % 10, Step.COMMIT, "c", NOW, numbers.__next__).number: n % 10 for n in range(granted)
    }
    settled = [number for index, number in words if found.release(number, index)]
    assert len(settled) == len(set(settled))
    expected = {number for number, index in holders.items() if (index, number) not in words}
    assert set(found.permits) == expected


def test_a_permit_is_out_until_it_cannot_be_used_any_more() -> None:
    """Its expiry and what a request may take after it have passed, or its holder has settled it."""
    found = ledger()
    permit = found.permit(3, Step.COMMIT, "c", NOW + HOUR, count(1).__next__)
    assert found.outstanding(NOW + HOUR, HOUR) == [permit]
    assert found.outstanding(NOW + 2 * HOUR - timedelta(seconds=1), HOUR) == [permit]
    assert found.outstanding(NOW + 2 * HOUR, HOUR) == []
    found.release(permit.number, 3)
    assert found.outstanding(NOW, HOUR) == []


# --- what was to begin again


@pytest.mark.parametrize("outcome", list(ZoneOutcome))
@pytest.mark.parametrize("carried", [False, True])
def test_what_was_to_begin_again_and_does_not_stays_what_it_was(outcome: ZoneOutcome, carried: bool) -> None:
    """What its last attempt came to, such as a change of which nobody knows, is not told as aborted."""
    found = ledger()
    found.hear(finished(outcome=outcome), NOW)
    found.again(3)
    if carried:
        packed, found = found.packed(), ledger()
        found.unpack(packed)
    assert place(found) is TargetState.PENDING
    found.stand_down(3)
    assert place(found) is OUTCOME_PLACE[outcome]


def test_what_has_begun_again_is_aborted_as_any_other() -> None:
    """Only its new attempt says what became of it; a target that was never begun is aborted."""
    found = ledger()
    found.hear(finished(outcome=ZoneOutcome.FAILED), NOW)
    found.again(3)
    found.begin(3)
    assert not found.ended_as
    found.places[4] = TargetState.PENDING
    found.stand_down(4)
    assert place(found, 4) is TargetState.ABORTED


def test_a_reopening_is_remembered_and_a_retry_is_none() -> None:
    """Also when it is carried on, and through the attempts that follow."""
    found = ledger()
    ends = (ZoneOutcome.REJECTED, ZoneOutcome.FAILED, ZoneOutcome.ABORTED, ZoneOutcome.ABORTED)
    for index, outcome in enumerate(ends, 3):
        found.finish(index, outcome)
        found.again(index, named=index < 6)
        found.begin(index)
    found.finish(3, ZoneOutcome.FAILED)
    found.again(3)
    carried = ledger()
    carried.unpack(found.packed())
    assert found.reopened == carried.reopened == {3, 5}


# --- places in the window


@pytest.mark.parametrize(("step", "keeps"), [(Step.COMMIT, True), (Step.VALIDATE, False)])
@pytest.mark.parametrize("kind", [ReportKind.WAITING, ReportKind.AWAITING, ReportKind.READY])
def test_a_target_keeps_its_place_until_its_permit_is_settled(
    kind: ReportKind, step: Step, keeps: bool
) -> None:
    """Whatever else it says meanwhile, where it may change what was signed: its workflow may have been reset
    while that is in flight. A zone that is over a limit, and had a permit to validate, holds nobody up.
    """
    found = ledger()
    found.keeps_places = True
    before, numbers = found.in_flight(), count(1)
    permit = found.permit(3, step, "run", NOW + HOUR, draw=lambda: next(numbers))
    assert found.hear(report(1, kind), NOW)
    assert place(found) not in (TargetState.WORKING, TargetState.PERMITTED)
    assert found.in_flight() == before - (not keeps)
    assert found.hear(report(2, kind, releases=permit.number), NOW)
    assert found.in_flight() == before - 1


def test_a_target_that_looks_for_what_was_sent_takes_a_place() -> None:
    """What was sent to it may still come to show, though it is about to end."""
    found = ledger()
    found.keeps_places = True
    found.hear(awaiting(), NOW)
    waiting = found.in_flight()
    found.hear(report(2, ReportKind.WAITING, codes=(ReasonCode.EARLIER_CHANGE_AWAITED,)), NOW)
    assert found.in_flight() == waiting + 1
