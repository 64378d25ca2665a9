"""How often a reading is tried: until the pauses in between make up the campaign's patience."""

from __future__ import annotations

from datetime import timedelta

import pytest
from temporalio.common import RetryPolicy

from tests.kit.alone import zone_alone
from workflows import options
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


@pytest.mark.parametrize(
    ("patience", "longest", "number"), [(3600, 60, 67), (24, 2, 15), (0, 0.5, 1)], ids=["1 h", "24 s", "none"]
)
def test_no_pause_takes_more_than_a_twelfth_of_the_patience(
    patience: int, longest: float, number: int
) -> None:
    """As where ``time_scale`` has shortened that: a reading would wait most of it after one fault."""
    policy = zone_alone("reads").policy.model_copy(update={"patience": timedelta(seconds=patience)})
    retried = options.reading_the_service(policy)["retry_policy"]
    assert retried.maximum_interval == timedelta(seconds=longest) and retried.maximum_attempts == number


@pytest.mark.parametrize("look", ["verify", "watch"])
def test_a_look_at_what_was_sent_waits_for_a_worker_as_long_as_it_takes(look: str) -> None:
    """What nobody could look at for hours is not given up for that, nor taken back: the tries alone count,
    and each has the whole of its limit.
    """
    policy, limit = zone_alone("looks").policy, timedelta(hours=1)
    limits = options.verifying(limit, policy) if look == "verify" else options.watching(policy, limit)
    assert not {"schedule_to_close_timeout", "schedule_to_start_timeout"} & limits.keys()
    assert limits["retry_policy"].maximum_attempts > tries(READS, policy.patience)
    assert limits["start_to_close_timeout"] > limit and limits["heartbeat_timeout"] == policy.silence
