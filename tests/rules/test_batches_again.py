"""How often a campaign tries a batch that fails for good: soon at first, and for weeks."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from workflows.campaign.batches import AGAIN_AT_LAST, AGAIN_IN, again_in

EVENTS = 11
"""Events of a try: two tasks of the workflow, the activity, and the pause."""

MOST_EVENTS = 51_200
"""Events of one run, after which Temporal ends it."""


def test_a_batch_is_tried_soon_at_first() -> None:
    """Somebody who fixes what failed does not wait for long."""
    assert [again_in(tried) for tried in range(10)] == [AGAIN_IN] * 10
    assert all(again_in(tried) <= AGAIN_AT_LAST for tried in range(2_000))


def test_a_campaign_whose_batches_all_fail_lasts_two_weeks() -> None:
    """A run in which three are tried at the same time does not come to its end by them."""
    tried, lasted = 0, timedelta(0)
    for tried in count():
        lasted += again_in(tried)
        if 3 * EVENTS * (tried + 2) > MOST_EVENTS:
            break
    assert lasted > timedelta(days=14), (tried, lasted)
