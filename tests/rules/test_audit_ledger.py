"""A campaign's memory at its limits: 100,000 targets, many shapes, campaigns that last for long."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.campaign_file.spec import ValidationSpec
from edgeshift.messages import ReportKind, Step, ZoneReport
from edgeshift.model.fleet import Wave, ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision, SignOffPolicy
from tests.rules.ledger_kit import said

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
MOST = 100_000
YIELDS_WITHIN = 2.0
"""Seconds after which Temporal takes a workflow that does not yield for deadlocked."""


def waiting(index: int, fingerprint: str, sequence: int = 1) -> ZoneReport:
    return ZoneReport(
        campaign_run="r",
        index=index,
        attempt=1,
        sequence=sequence,
        kind=ReportKind.AWAITING,
        step=Step.COMMIT,
        fingerprint=fingerprint,
    )


def test_a_decision_on_many_shapes_in_many_waves_does_not_look_like_a_deadlock() -> None:
    """2,000 shapes over 100,000 targets in 20 waves, all of them in the book."""
    shapes = [f"{number:064x}" for number in range(2_000)]
    waves = tuple(Wave(number=n, name=f"w{n}", first=n * 5_000, end=n * 5_000 + 5_000) for n in range(20))
    found = Ledger(MOST, NOW, HOUR, waves=waves)
    for index in range(MOST):
        found.begin(index)
        found.hear(waiting(index, shapes[index * 7 % 2_000]), NOW)
    for shape in shapes:
        said(found, Decision(choice=Choice.APPROVE, digest=shape, by="ann", at=NOW))
    began = time.process_time()
    assert found.apply_to(shapes, SignOffPolicy(), "olga", NOW) == MOST
    assert time.process_time() - began < YIELDS_WITHIN
    assert found.number(TargetState.READY) == MOST


def test_an_abort_of_many_targets_does_not_look_like_a_deadlock() -> None:
    """1,000 permits are out while 99,000 targets have not begun."""
    found = Ledger(MOST, NOW, HOUR)
    for index in range(1_000):
        found.begin(index)
        found.permit(index, Step.COMMIT, "c", NOW, count(index).__next__)
    began = time.process_time()
    for index in list(found.indexes(TargetState.PENDING)):
        found.finish(index, ZoneOutcome.ABORTED)
    assert time.process_time() - began < YIELDS_WITHIN
    assert len(found.permits) == 1_000


@given(start=st.integers(0, 5_000_000), waited=st.integers(0, 600))
def test_a_zone_is_overdue_when_it_has_waited_its_time_however_old_the_campaign(
    start: int, waited: int
) -> None:
    """Times in minutes; a zone waits for an hour at most, and is seen within a tick of it."""
    found = Ledger(1, NOW, HOUR / 100)
    found.begin(0)
    began = NOW + timedelta(minutes=start)
    found.hear(waiting(0, "a" * 64), began)
    overdue = bool(found.overdue(began + timedelta(minutes=waited), HOUR))
    assert not overdue or waited >= 60
    assert overdue or waited <= 62


def test_an_index_is_in_the_wave_that_holds_it() -> None:
    """The first and the last of each wave."""
    waves = (Wave(number=0, name="a", first=0, end=1), Wave(number=1, name="b", first=1, end=10))
    places = Ledger(10, NOW, HOUR, waves=waves).places
    assert [places.wave_of(index) for index in (0, 1, 9)] == [0, 1, 1]


def test_a_validation_mode_is_named_once() -> None:
    """A mode has one window; twice the same would announce a proposal before its last window."""
    with pytest.raises(ValidationError, match="twice"):
        ValidationSpec.model_validate({"modes": ["shadow", "shadow"]})
