"""Where a zone is, as far as Temporal's list tells it, where nobody answers for its campaign."""

from __future__ import annotations

import pytest
from temporalio.client import WorkflowExecutionStatus

from edgeshift.messages import ZonePhase
from edgeshift.views.alarming import place_of
from edgeshift.views.gathering import PROPOSED, listed_as
from edgeshift.views.words import PLACES, look

OPEN = WorkflowExecutionStatus.RUNNING


@pytest.mark.parametrize(
    ("phase", "place"), [(None, "working"), ("assessing", "working"), ("awaiting_sign_off", "proposed")]
)
def test_an_open_zone_is_where_its_search_attribute_says(phase: str | None, place: str) -> None:
    """Those that zones set (docs/architecture.md); each place has a look of its own."""
    assert listed_as(OPEN, phase) == place
    assert place in PLACES


def test_a_zone_that_waits_is_told_from_one_that_is_read() -> None:
    """It may have gone on since, and the words say so."""
    assert look(listed_as(OPEN, "awaiting_sign_off")).label == "awaiting a sign-off, or further"


@pytest.mark.parametrize(
    ("place", "phase", "found"),
    [
        (PROPOSED, ZonePhase.COMMITTING, "permitted"),
        (PROPOSED, ZonePhase.ROLLING_BACK, "rolling_back"),
        (PROPOSED, ZonePhase.AWAITING_SIGN_OFF, "awaiting"),
        ("working", ZonePhase.VALIDATING, "waiting"),
        ("working", ZonePhase.AWAITING_VALIDATION, "ready_validate"),
        ("working", ZonePhase.ASSESSING, "working"),
        # It is an open zone that says so: the outcome of that name is another place.
        ("working", ZonePhase.NEEDS_SUPPORT, "support"),
    ],
)
def test_alarms_take_a_zone_at_its_word_that_is_known_by_the_list_alone(
    place: str, phase: ZonePhase, found: str
) -> None:
    """The list tells nothing between its start and its proposal, nor after that."""
    assert place_of(place, phase, by_list=True) == found


@pytest.mark.parametrize(
    ("place", "phase"), [("ready", ZonePhase.COMMITTING), ("working", ZonePhase.VALIDATING)]
)
def test_where_its_campaign_says_more_that_counts(place: str, phase: ZonePhase) -> None:
    """A zone that the ledger keeps elsewhere than it is itself may be stuck for that."""
    assert place_of(place, phase, by_list=False) == place


@pytest.mark.parametrize(
    ("status", "place"),
    [
        (WorkflowExecutionStatus.COMPLETED, "closed"),
        (WorkflowExecutionStatus.TERMINATED, "terminated"),
        (WorkflowExecutionStatus.TIMED_OUT, "timed_out"),
    ],
)
def test_a_zone_that_has_ended_is_where_its_workflow_is(status: WorkflowExecutionStatus, place: str) -> None:
    """Whatever its search attribute says."""
    assert listed_as(status, "awaiting_sign_off") == place
