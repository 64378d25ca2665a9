"""Which permits a campaign knows of: every one under which something may still be sent."""

from __future__ import annotations

import pytest

from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import ReportKind, Step
from tests.rules.ledger_kit import HOUR, NOW, ledger, place, report


@pytest.mark.parametrize("another", [False, True])
def test_a_word_of_an_old_permit_does_not_free_the_place_of_the_next_one(another: bool) -> None:
    """The old one was taken back twice, and the second answer comes when there is another one."""
    found = ledger()
    found.places[3] = TargetState.PERMITTED
    for number in (7, 8) if another else (7,):
        found.permit(3, Step.COMMIT, "c", NOW + HOUR, lambda number=number: number)  # type: ignore[misc]
    found.hear(report(1, ReportKind.RELEASED, releases=7, unused=True, step=Step.COMMIT), NOW)
    assert place(found) is (TargetState.PERMITTED if another else TargetState.READY)


def test_a_target_that_is_missed_keeps_its_permit_until_that_runs_out() -> None:
    """Whatever was about to start it may still do so: a pause takes the permit back, or waits."""
    found = ledger()
    permit = found.permit(3, Step.VALIDATE, "c", NOW, lambda: 7)
    assert found.miss(3)
    assert found.outstanding(NOW, HOUR) == [permit]
