"""What a zone says again, since its campaign may not know what it waits for; and which zones are asked to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.common import SearchAttributePair, TypedSearchAttributes

from activities.reminders import is_doubtful
from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.campaign.zone_reports import ANY, RUN
from edgeshift.messages import UNTOLD, ReportKind, Step, ZoneReport
from edgeshift.runtime.temporal import FINGERPRINT, PHASE
from tests.rules.ledger_kit import HOUR, NOW, OTHER, SHAPE, awaiting, ledger, place, report


def again(sequence: int, kind: ReportKind = ReportKind.AWAITING, **more: Any) -> ZoneReport:
    more = {"fingerprint": SHAPE, "step": Step.COMMIT, "again": "run-of-the-zone-0001", **more}
    return report(sequence, kind, **more)


def heard(*, sequence: int = 40) -> Ledger:
    """A zone has said that it waits, and a sweep has begun since."""
    found = ledger()
    found.hear(awaiting(sequence), NOW)
    found.recently_reported.clear()
    return found


@pytest.mark.parametrize("sequence", [7, 40, 90])
def test_what_a_zone_says_again_is_taken_in_whatever_its_number(sequence: int) -> None:
    """One that was reset counts from a lower one. It counts on from there."""
    found = heard()
    assert found.hear_again(again(sequence, ReportKind.SUPPORT), NOW)
    assert place(found) is TargetState.SUPPORT and found.asked == {3: "run-of-the-z"}
    assert found.hear(awaiting(sequence + 1), NOW) and place(found) is TargetState.AWAITING


def test_what_is_no_news_changes_nothing_and_the_zone_is_not_asked_again() -> None:
    """Nor after a continue-as-new; a new attempt is asked."""
    found = heard()
    assert not found.hear_again(again(7), NOW)
    assert place(found) is TargetState.AWAITING
    carried = ledger()
    carried.unpack(found.packed())
    assert carried.asked == {3: "run-of-the-zone-0001"[:RUN]}
    carried.duplicate_sequences.add(5)
    once_more = ledger()
    once_more.unpack(carried.packed())
    assert once_more.duplicate_sequences == {5}
    carried.places[3] = TargetState.ABORTED
    carried.again(3)
    carried.begin(3)
    assert carried.asked == {}


def test_a_zone_that_has_a_permit_is_not_taken_back_by_what_it_says_again() -> None:
    """It said so before the permit reached it. A permit that it gives back is given back."""
    found = heard()
    found.permit(3, Step.COMMIT, "c", NOW + HOUR, lambda: 7)
    found.places[3] = TargetState.PERMITTED
    assert not found.hear_again(again(41), NOW)
    assert place(found) is TargetState.PERMITTED and set(found.permits) == {7}
    assert found.hear_again(again(42, releases=7), NOW)
    assert place(found) is TargetState.AWAITING and not found.permits


def test_a_word_of_its_own_is_newer_than_what_it_says_again() -> None:
    """It came since the sweep began."""
    found = heard()
    found.hear(report(41, ReportKind.READY, step=Step.COMMIT, fingerprint=SHAPE), NOW)
    assert not found.hear_again(again(41), NOW)
    assert place(found) is TargetState.READY


@pytest.mark.parametrize(("attempt", "newer_attempts"), [(0, set()), (2, {3})])
def test_another_attempts_word_does_not_count(attempt: int, newer_attempts: set[int]) -> None:
    """A later one shows that the campaign was reset to before it began that."""
    found = heard()
    assert not found.hear_again(again(90, ReportKind.SUPPORT, attempt=attempt), NOW)
    assert (place(found), found.newer_attempts, found.asked) == (TargetState.AWAITING, newer_attempts, {})
    assert not found.hear_again(again(90, index=10), NOW)


def test_after_a_reset_of_the_campaign_all_that_may_wait_are_doubted() -> None:
    """Not those that have ended, or hold a permit."""
    found = heard()
    found.permit(4, Step.COMMIT, "c", NOW + HOUR, lambda: 7)
    found.places[4] = found.places[5] = TargetState.PERMITTED
    found.places[6] = TargetState.MIGRATED
    found.doubt_all()
    assert found.duplicate_sequences == {0, 1, 2, 3, 5, 7, 8, 9}


class Described:
    """As much of a description as is looked at."""

    def __init__(
        self, run: str = "a", first: str = "a", phase: str = "", fingerprint: str = "", untold: bool = False
    ) -> None:
        self.run_id = run
        self.raw_description = SimpleNamespace(workflow_execution_info=SimpleNamespace(first_run_id=first))
        pairs = [SearchAttributePair(PHASE, phase or "assessing")]
        pairs += [SearchAttributePair(FINGERPRINT, fingerprint)] if fingerprint else []
        self.typed_search_attributes = TypedSearchAttributes(pairs)
        self._memo = {UNTOLD: True} if untold else {}

    async def memo(self) -> dict[str, Any]:
        return self._memo


WAITS = "awaiting_sign_off"


@pytest.mark.parametrize(
    ("described", "expected", "asked", "doubtful"),
    [
        (Described(), "", "", False),
        (Described(phase=WAITS, fingerprint=SHAPE), SHAPE[:RUN], "", False),
        (Described(phase=WAITS, fingerprint=SHAPE), ANY, "", False),
        (Described(phase=WAITS, fingerprint=OTHER), SHAPE[:RUN], "", True),
        (Described(phase=WAITS, fingerprint=OTHER), SHAPE[:RUN], "a", True),
        (Described(), SHAPE[:RUN], "", True),
        (Described(phase=WAITS, fingerprint=SHAPE), "", "", True),
        (Described(phase=WAITS, fingerprint=SHAPE), "", "a", False),
        (Described(run="b"), "", "", True),
        (Described(run="b"), "", "a", True),
        (Described(run="b"), "", "b", False),
        (Described(untold=True), "", "", True),
        (Described(untold=True), "", "a", True),
    ],
)
async def test_a_zone_is_asked_where_the_server_shows_that_something_is_unknown(
    described: Any, expected: str, asked: str, doubtful: bool
) -> None:
    """It proposes something else, has waited since, is in another run, or could not tell its last word. Once
    it has said that again in its run, only what is new counts.
    """
    assert await is_doubtful(described, expected, asked) is doubtful
