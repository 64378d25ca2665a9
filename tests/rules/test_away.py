"""Temporal that goes away while somebody watches: what is said, how often it is tried, when it ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from edgeshift.operations.errors import TemporalTrouble
from edgeshift.views.away import LONGEST_PAUSE, STOPS_WITHIN, Away

GONE = TemporalTrouble("Temporal no longer answers", "try again")


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_is_said_once_that_it_went_and_once_that_it_is_back() -> None:
    """And for how long it was away."""
    clock = Clock()
    away = Away(clock)
    assert away.answered() == "" and away.lasts == 0
    assert away.failed(GONE) == "no answer: Temporal no longer answers; trying again, for 10m at most"
    clock.now += 42
    assert away.failed(GONE) == "" and away.lasts == 42
    assert away.answered() == "Temporal answers again, after 42s"
    assert away.answered() == "" and away.lasts == 0
    assert away.failed(GONE) != ""


def test_tries_come_ever_more_seldom() -> None:
    """Up to a longest pause; where it answers, as usual."""
    away = Away(Clock())
    assert away.pause(1.0) == 1.0
    pauses = []
    for _ in range(2000):
        away.failed(GONE)
        pauses.append(away.pause(1.0))
    assert pauses[:4] == [1.0, 2.0, 4.0, 8.0] and set(pauses[4:]) == {LONGEST_PAUSE}
    away.answered()
    assert away.pause(1.0) == 1.0


def test_it_ends_after_a_bound() -> None:
    """With exit code 3, and what to do; without a bound never."""
    clock = Clock()
    away, patient = Away(clock, timedelta(minutes=2)), Away(clock, None)
    away.failed(GONE)
    patient.failed(GONE)
    clock.now += 119
    away.failed(GONE)
    clock.now += 1
    with pytest.raises(TemporalTrouble, match="has not answered for 2m: Temporal no longer") as ended:
        away.failed(GONE)
    assert "edgeshift doctor" in ended.value.hint and ended.value.exit_code == 3
    clock.now += 1e6
    assert patient.failed(GONE) == ""


def test_with_no_patience_the_first_failure_ends_it() -> None:
    """As `--reconnect 0s` asks for."""
    with pytest.raises(TemporalTrouble):
        Away(Clock(), timedelta(0)).failed(GONE)


def test_what_was_there_a_moment_ago_is_not_gone_yet() -> None:
    """A server that is stopping says that nothing is there; where it goes on saying so, it is gone."""
    clock = Clock()
    never, away = Away(clock), Away(clock)
    never.missing()
    away.answered()
    for _ in range(2):
        with pytest.raises(TemporalTrouble, match="as a server that is stopping does"):
            away.missing()
        clock.now += STOPS_WITHIN / 2
    away.missing()
    away.answered()
    with pytest.raises(TemporalTrouble):
        away.missing()
