"""In which order sweeps look at targets, also where they are broken off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edgeshift.campaign.laps import in_lap, next_cursor


def test_a_sweep_goes_from_its_cursor_to_the_end_and_then_to_what_is_below() -> None:
    """Each target once."""
    assert in_lap([5, 1, 9, 5, 3], 4) == [5, 9, 1, 3]
    assert in_lap([5, 1, 9], 0) == [1, 5, 9]
    assert in_lap([], 7) == []


def test_a_sweep_that_is_broken_off_goes_on_where_it_was() -> None:
    """One that had come to what is below its cursor has done its lap."""
    assert next_cursor([9, 1, 3], 4, 0) == 9
    assert next_cursor([1, 3], 4, 20) == 20
    assert next_cursor([], 4, 20) == 20


@given(
    st.sets(st.integers(0, 60), min_size=1),
    st.sets(st.integers(0, 60)),
    st.integers(1, 8),
    st.integers(3, 10),
)
def test_every_target_is_looked_at_though_each_sweep_is_broken_off(
    waiting: set[int], silent: set[int], looks: int, lap: int
) -> None:
    """However many are silent each time, and however few a sweep comes to look at."""
    cursor, seen = 0, set[int]()
    for _ in range(200):
        some = sorted(index for index in waiting if index >= cursor)[:lap]
        end = some[-1] + 1 if len(some) == lap else 0
        left = in_lap([*silent, *some], cursor)
        seen.update(left[:looks])
        left = left[looks:]
        cursor = next_cursor(left, cursor, end)
    assert seen == waiting | silent
