"""The in-flight window that sizes itself."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from edgeshift.model.window import FEW, MORE, MORE_BOUNDED, Growth, enough

FIVE_MINUTES = timedelta(minutes=5)


def grown(successes: int, took: timedelta, rate: float) -> Growth:
    found = Growth()
    for _ in range(successes):
        found = found.succeeded(took, rate)
    return found


def test_a_window_begins_with_few_zones() -> None:
    """Before anything has succeeded, few zones are in flight, whatever the limit would allow."""
    assert Growth().at_most(1_000.0) == FEW


def test_each_success_lets_some_more_zones_begin() -> None:
    """So a full window is eight times as large after each round of successes."""
    sizes = [grown(number, FIVE_MINUTES, 0.8).size for number in range(4)]
    assert sizes == [FEW, FEW + 7, FEW + 14, FEW + 21]
    assert grown(FEW, FIVE_MINUTES, 0.8).size == 8 * FEW


def test_the_first_zones_open_the_whole_window_where_failures_bound_it() -> None:
    """At 0.8 zones a second and five minutes each: 240 zones use all of the limit."""
    found = Growth()
    for _ in range(FEW):
        found = found.succeeded(FIVE_MINUTES, 0.8, MORE_BOUNDED)
    assert 240 <= found.at_most(0.8) <= 360


def test_it_stops_at_what_the_limit_can_use() -> None:
    """At 0.8 zones a second and five minutes each, 240 zones use all of the limit; half as many is room."""
    assert grown(2_000, FIVE_MINUTES, 0.8).at_most(0.8) == 360


def test_it_shrinks_where_zones_take_less_than_before() -> None:
    """What was needed for slow zones is not kept for quick ones."""
    slow = grown(2_000, FIVE_MINUTES, 0.8)
    quick = slow
    for _ in range(200):
        quick = quick.succeeded(timedelta(seconds=10), 0.8)
    assert quick.at_most(0.8) < 20


def test_one_odd_zone_hardly_changes_it() -> None:
    """A zone that took an hour among many of five minutes does not double the window."""
    usual = grown(2_000, FIVE_MINUTES, 0.8)
    assert usual.succeeded(timedelta(hours=1), 0.8).at_most(0.8) <= 1.1 * 360 + 1


def test_a_success_of_which_nobody_knows_how_long_it_took_counts_as_one() -> None:
    """As after an outage: it makes room for more, and says nothing of the durations."""
    assert Growth().succeeded(None, 0.8) == Growth(size=FEW + MORE)
    known = grown(3, FIVE_MINUTES, 0.8)
    assert known.succeeded(None, 0.8) == known.model_copy(update={"size": known.size + MORE})
    full = grown(2_000, FIVE_MINUTES, 0.8)
    assert full.succeeded(None, 0.8) == full


@given(
    st.lists(st.floats(0, 86_400), max_size=60),
    st.floats(0.001, 1_000, allow_nan=False),
)
def test_it_is_never_below_a_few_nor_above_what_has_succeeded(took: list[float], rate: float) -> None:
    """Whatever the durations are, the window stays between a few and what each success makes room for."""
    found = Growth()
    for seconds in took:
        found = found.succeeded(timedelta(seconds=seconds), rate)
    assert FEW <= found.at_most(rate) <= FEW + MORE * len(took)
    assert found.at_most(rate) <= max(FEW, enough(rate, max([0.0, *took])))
