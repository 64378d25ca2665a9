"""The arithmetic of pace where the time that a quota was told was ahead: no window holds more for that, and
nobody waits for that time to come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeshift.rate_limit.slots import CLOCKS_APART, MOST_SLOTS, SlotBook, block, bounded, lease, with_terms
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.rules.test_pacing_slots import START, busiest, slots, terms_of_a_user

asks_and_setbacks = st.lists(
    st.tuples(
        st.floats(0.01, 0.6) | st.none(),  # how much later, as a part of a block; or when it says
        st.none() | st.sampled_from([bounded, with_terms, block, lease]),  # set back, and heard of by what
    ),
    min_size=2,
    max_size=20,
)


@settings(max_examples=150, deadline=None)
@given(terms_of_a_user.filter(lambda terms: terms.window <= 10), asks_and_setbacks, st.floats(0.001, 1e5))
def test_no_window_holds_more_where_a_clock_is_set_back(
    terms: PaceTerms, asked: list[tuple[float | None, Callable[..., Any] | None]], ahead: float
) -> None:
    """Two holders take all that they can have. Slots that were handed out by a time that was ahead are spent
    meanwhile, also where it is set back several times, in a new run or by a word of the service.
    """
    step = 2 * terms.block_length + CLOCKS_APART + ahead
    told = step * sum(first is not None for _, first in asked)
    book, now, times, waits = SlotBook(terms=terms), START, [], 0.0
    for later, first in asked:
        now += waits if later is None else later * terms.block_length
        told -= step if first else 0
        if first in (bounded, with_terms, block):
            more = {with_terms: (terms,), block: (0.0,)}.get(first, ())
            book = first(book, now + told, *more)
        for holder in "ab":
            for lane in Lane:
                book, given = lease(book, now + told, holder, lane, MOST_SLOTS)
                times += slots(now, given)
        waits = given.first_in
    assert busiest(times, terms.window) <= terms.budget


@pytest.mark.parametrize("run_ends", [False, True])
def test_a_clock_that_was_ahead_stops_nobody_for_longer_than_slots_are_out(run_ends: bool) -> None:
    """It was ahead by an hour for two seconds: a block and a half later there are slots again."""
    book, _ = lease(SlotBook(), START, "a", Lane.NORMAL, 40)
    book, given = lease(with_terms(book, START + 3601, PaceTerms()), START + 3601, "a", Lane.NORMAL, 40)
    assert given.count
    now = START + 2
    book = bounded(book, now) if run_ends else with_terms(book, now, PaceTerms())
    book, given = lease(book, now, "a", Lane.NORMAL, 40)
    assert not given.count and not given.closed and given.first_in < 1.7 * PaceTerms().block_length
    _, given = lease(book, now + given.first_in, "a", Lane.NORMAL, 40)
    assert given.count


@pytest.mark.parametrize("run_ends", [False, True])
def test_of_a_block_that_was_told_while_a_clock_was_ahead_the_seconds_that_were_left_count(
    run_ends: bool,
) -> None:
    """The service refuses every call for five minutes, and not for an hour and five minutes."""
    ahead = START + 7200
    book = block(SlotBook(), ahead, 300)
    book, given = lease(book, ahead + 10, "a", Lane.NORMAL, 40)
    assert given.closed
    now = START + 11
    book = bounded(book, now) if run_ends else book
    book, given = lease(block(book, now, 1), now, "a", Lane.NORMAL, 40)
    assert given.closed and given.first_in == pytest.approx(290)
    _, given = lease(book, now + 290, "a", Lane.NORMAL, 40)
    assert given.count


def test_terms_that_were_asked_by_while_a_clock_was_ahead_do_not_count_for_as_long() -> None:
    """Whoever asked by the stricter ones has gone: others have their own a window later."""
    strict, lax = PaceTerms(people=0.5), PaceTerms()
    book = with_terms(SlotBook(terms=strict), START + 7200, strict)
    book = with_terms(book, START + 2, lax)
    assert with_terms(book, START + 303, lax).terms == lax
