"""How often a reading is tried: until the pauses in between make up the campaign's patience."""

from __future__ import annotations

from datetime import timedelta

import pytest
from temporalio.common import RetryPolicy

from workflows.options import READS, tries


@pytest.mark.parametrize(
    ("patience", "expected"),
    [
        (timedelta(0), 1),
        (timedelta(seconds=0.5), 2),
        (timedelta(seconds=20), 7),
        (timedelta(hours=1), 67),
    ],
    ids=["none", "one pause", "20 s", "1 h"],
)
def test_a_reading_is_tried_until_its_pauses_make_up_the_patience(patience: timedelta, expected: int) -> None:
    """Half a second, then twice as long each time, a minute at most."""
    assert tries(READS, patience) == expected


def test_a_pause_that_does_not_grow_is_counted_too() -> None:
    """Ten seconds each, for a minute."""
    even = RetryPolicy(initial_interval=timedelta(seconds=10), backoff_coefficient=1.0)
    assert tries(even, timedelta(minutes=1)) == 7
