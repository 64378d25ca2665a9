"""What a ledger takes in of a target that it believes to work, and that has said what it waits for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState, is_said
from edgeshift.messages import ReportKind, Step, ZoneReport
from edgeshift.model.fleet import ZoneOutcome

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def begun() -> Ledger:
    """A ledger of two targets, of which the first has been begun and has not been heard since the sweep."""
    ledger = Ledger(2, NOW, timedelta(minutes=1))
    ledger.begin(0)
    ledger.recently_reported.clear()
    return ledger


def word(sequence: int = 3, **more: object) -> ZoneReport:
    """That it waits for a sign-off."""
    told = {
        "campaign_run": "run",
        "index": 0,
        "attempt": 1,
        "sequence": sequence,
        "kind": ReportKind.AWAITING,
        "step": Step.COMMIT,
        "digest": "d" * 64,
        "fingerprint": "f" * 64,
    }
    return ZoneReport.model_validate(told | more)


def found(ledger: Ledger, said: ZoneReport) -> bool:
    """A target is found in an attempt, and what it said last is taken in; whether that changed anything."""
    ledger.take_up(said.index, said.attempt)
    return ledger.remember(said, NOW)


def test_a_target_that_waits_is_known_to_wait() -> None:
    """Its next word, with the next number, counts; the same one again does not."""
    ledger = begun()
    assert ledger.remember(word(), NOW)
    assert ledger.places[0] == TargetState.AWAITING
    assert not ledger.hear(word(), NOW)
    assert ledger.hear(word(4, kind=ReportKind.READY), NOW)
    assert ledger.places[0] == TargetState.READY


def test_a_target_that_was_reset_is_heard_again_from_its_own_number_on() -> None:
    """It counts from a lower one than the ledger has heard."""
    ledger = begun()
    ledger.hear(word(9), NOW)
    ledger.places[0] = TargetState.PERMITTED
    ledger.recently_reported.clear()
    assert not ledger.hear(word(2, kind=ReportKind.READY), NOW)
    assert ledger.remember(word(2, kind=ReportKind.READY), NOW)
    assert ledger.places[0] == TargetState.READY
    ledger.recently_reported.clear()
    assert ledger.hear(word(3, kind=ReportKind.WAITING), NOW)


def test_what_a_target_said_meanwhile_is_newer() -> None:
    """Its own word, that of an attempt before, and a permit that is out keep what is known."""
    ledger = begun()
    ledger.hear(word(2, kind=ReportKind.READY), NOW)
    assert not ledger.remember(word(), NOW)
    ledger = begun()
    ledger.begin(0)
    ledger.recently_reported.clear()
    assert not ledger.remember(word(attempt=1), NOW)
    ledger = begun()
    ledger.places[0] = TargetState.PERMITTED
    ledger.permit(0, Step.COMMIT, "run", NOW + timedelta(minutes=2), lambda: 7)
    assert not ledger.may_wait(0)
    assert not ledger.remember(word(), NOW)


@pytest.mark.parametrize(
    "place",
    [
        TargetState.WAITING,
        TargetState.SUPPORT,
        TargetState.AWAITING,
        TargetState.AWAITING_SEPARATE,
        TargetState.WORKING,
    ],
)
def test_a_target_that_was_reset_while_it_waited_is_doubted_and_found_where_it_is(place: TargetState) -> None:
    """It was in its window, with support or with a person, and is ready for its permit now."""
    ledger = begun()
    ledger.hear(word(42), NOW)
    ledger.places[0] = place
    ledger.recently_reported.clear()
    assert not ledger.hear(word(34, kind=ReportKind.READY), NOW)
    assert ledger.duplicate_sequences == {0} and ledger.may_wait(0)
    assert ledger.remember(word(34, kind=ReportKind.READY), NOW)
    assert ledger.places[0] == TargetState.READY


def test_a_target_that_waits_for_what_is_known_is_no_news() -> None:
    """Neither its place nor the time since which it waits changes, also where it is signed for alone."""
    ledger = begun()
    ledger.hear(word(joins=False), NOW)
    before = (ledger.places[0], ledger.since[0], ledger.sequences[0])
    ledger.recently_reported.clear()
    assert ledger.places[0] == TargetState.AWAITING_SEPARATE
    assert not ledger.remember(word(), NOW + timedelta(hours=1))
    assert (ledger.places[0], ledger.since[0], ledger.sequences[0]) == before
    assert ledger.remember(word(fingerprint="e" * 64), NOW)
    ledger.places[0] = TargetState.WAITING
    ledger.recently_reported.clear()
    assert not ledger.remember(word(kind=ReportKind.WAITING, fingerprint="e" * 64), NOW)


def test_an_unknown_fingerprint_is_no_news() -> None:
    """Past the shapes that a ledger keeps, a target that waits is not begun to be waited for again."""
    ledger = begun()
    ledger.places[0] = TargetState.AWAITING
    since = ledger.since[0]
    assert ledger.said_by(0) == "awaiting:" and is_said(word(), ledger.said_by(0))
    assert not ledger.remember(word(), NOW + timedelta(hours=1))
    assert ledger.since[0] == since


def test_the_words_of_a_reset_target_count_from_then_on_also_without_news() -> None:
    """It waits for what is known, with a lower number; what it says next is heard at once."""
    ledger = begun()
    ledger.hear(word(42), NOW)
    ledger.recently_reported.clear()
    assert not ledger.hear(word(20), NOW)
    assert not ledger.remember(word(20), NOW)
    assert ledger.hear(word(21, kind=ReportKind.READY), NOW)
    assert ledger.places[0] == TargetState.READY


@pytest.mark.parametrize("sequence", [-(2**53), -1, 0])
@pytest.mark.parametrize("kind", [ReportKind.AWAITING, ReportKind.READY, ReportKind.FINISHED])
def test_a_word_with_a_number_that_no_target_counts_from_is_nobodys(sequence: int, kind: ReportKind) -> None:
    """Of what is known or of something else, said by itself or again: nothing changes, and the next word of
    the target's own counts.
    """
    ledger = begun()
    ledger.proves_ends = True
    ledger.hear(word(42), NOW)
    permit = ledger.permit(0, Step.COMMIT, "run", NOW + timedelta(minutes=2), lambda: 7)
    ledger.recently_reported.clear()
    before = ledger.packed()
    nobodys = word(sequence, kind=kind, releases=permit.number, attempt=1, again="x")
    assert not ledger.hear_again(nobodys, NOW)
    assert not ledger.hear(nobodys, NOW)
    assert ledger.packed() == before and not ledger.asked and not ledger.ended_words
    assert ledger.hear(word(43, kind=ReportKind.READY), NOW)


@pytest.mark.parametrize("sequence", [-(2**53), -1, 0])
def test_no_number_that_is_looked_up_is_below_zero(sequence: int) -> None:
    """Whoever asks for what a target has said last, and whatever is found: the next word counts."""
    ledger = begun()
    ledger.hear(word(42), NOW)
    ledger.recently_reported.clear()
    assert not ledger.remember(word(sequence), NOW)
    assert ledger.sequences[0] == 0
    assert ledger.hear(word(1, kind=ReportKind.READY), NOW)


def test_a_target_that_did_not_end_by_what_it_was_told_is_found_where_it_is() -> None:
    """It read anew when it was told that nobody had signed; words of before do not bring it back."""
    ledger = begun()
    ledger.hear(word(3), NOW)
    ledger.places[0] = TargetState.STOPPING
    ledger.hear(word(4), NOW)
    assert ledger.places[0] == TargetState.STOPPING
    ledger.recently_reported.clear()
    assert ledger.remember(word(5), NOW)
    assert ledger.places[0] == TargetState.AWAITING


def test_a_target_that_was_reset_and_waits_for_the_service_is_told_to_go_on() -> None:
    """It keeps its place, and is among those that wait for the service."""
    ledger = begun()
    ledger.hear(word(42, kind=ReportKind.WAITING), NOW)
    ledger.recently_reported.clear()
    assert not ledger.hear(word(12, kind=ReportKind.SERVICE), NOW)
    assert ledger.held == set()
    assert ledger.remember(word(12, kind=ReportKind.SERVICE), NOW)
    assert ledger.held == {0} and ledger.places[0] == TargetState.WAITING
    ledger.recently_reported.clear()
    assert not ledger.remember(word(12, kind=ReportKind.SERVICE), NOW)


def test_a_later_attempt_that_is_found_is_taken_up() -> None:
    """The campaign began it before it was reset. Words of the attempt before it count no more."""
    ledger = begun()
    ledger.hear(word(42, kind=ReportKind.WAITING), NOW)
    assert not ledger.hear(word(3, attempt=2), NOW)
    assert found(ledger, word(3, attempt=2))
    assert ledger.places[0] == TargetState.AWAITING and ledger.attempts[0] == 2
    assert not ledger.hear(word(43, kind=ReportKind.FINISHED, outcome=ZoneOutcome.FAILED), NOW)
    assert ledger.hear(word(4, attempt=2, kind=ReportKind.READY), NOW)


def test_a_later_attempt_keeps_the_permit_that_it_was_sent() -> None:
    """What it says of it is heard from then on."""
    ledger = begun()
    ledger.places[0] = TargetState.PERMITTED
    permit = ledger.permit(0, Step.COMMIT, "run", NOW + timedelta(minutes=2), lambda: 7)
    assert not found(ledger, word(attempt=2))
    assert ledger.places[0] == TargetState.PERMITTED and permit.number in ledger.permits
    assert ledger.hear(word(8, attempt=2, releases=permit.number), NOW)
    assert ledger.places[0] == TargetState.AWAITING and not ledger.permits


@pytest.mark.parametrize("place", [TargetState.EXCLUDED, TargetState.FAILED, TargetState.MIGRATED])
def test_a_later_attempt_of_a_target_that_has_ended_is_taken_up(place: TargetState) -> None:
    """It was begun while the campaign was reset; the ledger doubts it once it says anything."""
    ledger = begun()
    ledger.finish(0, ZoneOutcome.FAILED)
    ledger.places[0] = place
    assert not ledger.hear(word(attempt=2), NOW)
    assert ledger.newer_attempts == {0}
    assert found(ledger, word(attempt=2))
    assert ledger.places[0] == TargetState.AWAITING and ledger.attempts[0] == 2


def test_a_target_that_is_about_to_be_begun_takes_up_nothing() -> None:
    """Its next attempt begins where it is found to run already, and nobody doubts it any more."""
    ledger = begun()
    ledger.places[0] = TargetState.PENDING
    ledger.hear(word(attempt=2), NOW)
    assert not found(ledger, word(attempt=2))
    assert ledger.attempts[0] == 1 and ledger.newer_attempts == {0}
    ledger.begin(0)
    assert ledger.attempts[0] == 2 and not ledger.newer_attempts


@pytest.mark.parametrize(
    "place", [TargetState.READY, TargetState.REJECTING, TargetState.EXPIRING, TargetState.AWAITING]
)
def test_what_was_to_become_of_the_attempt_before_does_not_become_of_the_later_one(
    place: TargetState,
) -> None:
    """It works, until it says what it waits for."""
    ledger = begun()
    ledger.places[0] = place
    assert ledger.take_up(0, 2)
    assert ledger.places[0] == TargetState.WORKING
    assert not ledger.take_up(0, 2)


def test_a_later_attempt_is_carried_until_it_is_looked_at() -> None:
    """Also where the target was said to have ended meanwhile, as by an abort."""
    ledger = begun()
    ledger.hear(word(attempt=2), NOW)
    ledger.finish(0, ZoneOutcome.ABORTED)
    carried = Ledger(2, NOW, timedelta(minutes=1))
    carried.unpack(ledger.packed())
    assert carried.newer_attempts == {0}
    assert carried.take_up(0, 2)
    assert not carried.newer_attempts


def test_an_outcome_is_of_the_attempt_that_was_found() -> None:
    """The next one is the one after it; an outcome of no attempt changes none."""
    ledger = begun()
    ledger.finish(0, ZoneOutcome.FAILED, 3)
    ledger.again(0)
    ledger.begin(0)
    assert ledger.attempts[0] == 4
    ledger.finish(0, ZoneOutcome.FAILED)
    assert ledger.attempts[0] == 4


def test_nobody_doubts_a_target_that_has_ended() -> None:
    """A word of it that comes twice is of no use any more."""
    ledger = begun()
    ledger.hear(word(), NOW)
    ledger.hear(word(), NOW)
    assert ledger.duplicate_sequences == {0}
    ledger.finish(0, ZoneOutcome.FAILED)
    assert ledger.duplicate_sequences == set()


def test_a_word_after_the_end_is_to_be_answered() -> None:
    """Unless it is the target's last, or of another attempt; who is begun again is not told."""
    ledger = begun()
    ledger.finish(0, ZoneOutcome.REJECTED)
    for last in (word(kind=ReportKind.FINISHED), word(kind=ReportKind.RELEASED), word(attempt=0)):
        assert not ledger.hear(last, NOW) and not ledger.woken_after_end
    assert not ledger.hear(word(), NOW)
    assert ledger.woken_after_end == {0} and ledger.places[0] == TargetState.REJECTED
    carried = Ledger(2, NOW, timedelta(minutes=1))
    carried.unpack(ledger.packed())
    assert carried.woken_after_end == {0}
    ledger.again(0)
    ledger.begin(0)
    assert not ledger.woken_after_end


def test_a_target_that_waits_to_begin_again_is_not_told_to_stop() -> None:
    """A late word of its last attempt asks for nothing."""
    ledger = begun()
    ledger.finish(0, ZoneOutcome.FAILED)
    ledger.again(0)
    assert not ledger.hear(word(), NOW) and not ledger.woken_after_end


def test_what_a_target_waits_for_is_known_from_its_start() -> None:
    """As if it had said so itself; of its words, each counts that comes later."""
    ledger = begun()
    assert ledger.hear_start(word(1), NOW)
    assert ledger.places[0] == TargetState.AWAITING and ledger.expected(0) == "f" * 12
    assert ledger.hear(word(3, fingerprint="e" * 64), NOW)
    assert ledger.expected(0) == "e" * 12


@pytest.mark.parametrize("more", [{"attempt": 2}, {"attempt": 0}, {"index": 1}, {"index": -1}, {"index": 9}])
def test_nothing_is_known_from_a_start_that_was_not_asked_for(more: dict[str, int]) -> None:
    """Of another attempt, of a target that was not begun, or of none; nor is anybody to be looked for."""
    ledger = begun()
    assert not ledger.hear_start(word(1, **more), NOW)
    assert (ledger.places[0], ledger.places[1]) == (TargetState.WORKING, TargetState.PENDING)
    assert not ledger.newer_attempts and not ledger.duplicate_sequences and not ledger.woken_after_end


def test_what_a_target_has_said_is_newer_than_its_start() -> None:
    """It spoke before whoever started it had answered: nothing is doubted by that."""
    for said in (
        word(3, fingerprint="e" * 64),
        word(4, kind=ReportKind.SERVICE),
        word(5, kind=ReportKind.FINISHED),
    ):
        ledger = begun()
        assert ledger.hear(said, NOW)
        before = (ledger.places[0], ledger.sequences[0], ledger.expected(0))
        assert not ledger.hear_start(word(1), NOW)
        assert (ledger.places[0], ledger.sequences[0], ledger.expected(0)) == before
        assert not ledger.duplicate_sequences
