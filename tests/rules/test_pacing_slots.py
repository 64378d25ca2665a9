"""The arithmetic of pace: no rolling window ever holds more slots than the limit, whoever asks."""

from __future__ import annotations

import bisect
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from edgeshift.rate_limit.slots import (
    CLOCKS_APART,
    LEAD,
    LONGEST_BLOCK,
    MOST_SLOTS,
    Lease,
    SlotBook,
    begun_again,
    block,
    lease,
    longest_stop,
    with_terms,
)
from edgeshift.rate_limit.terms import MOST_REQUESTS, Lane, PaceTerms

START = 1_700_000_000.0

terms_of_a_user = st.builds(
    PaceTerms,
    limit=st.integers(10, 5000),
    window=st.sampled_from([0.3, 1.0, 10.0, 300.0]),
    people=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    block=st.sampled_from([0.5, 10.0]),
    urgent=st.sampled_from([1 / 8, 1 / 8, 0.9, 0.9999]),
)
requests = st.lists(
    st.tuples(
        st.floats(0, 1),  # how much later than the one before, as a part of a block
        st.integers(0, 4),  # the holder
        st.sampled_from(Lane),
        st.integers(0, 3000),  # how many slots are wanted
    ),
    min_size=1,
    max_size=60,
)


def slots(now: float, given: Lease) -> list[float]:
    return [now + given.first_in + number * given.interval for number in range(given.count)]


def longest_without_a_book(terms: PaceTerms) -> float:
    """Seconds without any slot after a state was lost, at most; a block is rounded to microseconds."""
    return (terms.block_length + 1e-6) * (1 + LEAD) + CLOCKS_APART


def busiest(times: list[float], window: float) -> int:
    """The most slots in any window ``[t, t + window)``; a hair is taken off for the rounding of floats."""
    times = sorted(times)
    return max(
        (bisect.bisect_left(times, moment + window - 1e-6) - number for number, moment in enumerate(times)),
        default=0,
    )


@settings(max_examples=150, deadline=None)
@given(terms_of_a_user, requests)
def test_no_window_holds_more_than_the_budget(
    terms: PaceTerms, asked: list[tuple[float, int, Lane, int]]
) -> None:
    """Over any rolling window the slots handed out are at most 99 % of the limit less the people's share."""
    book, now, times = SlotBook(terms=terms), START, []
    for later, holder, lane, want in asked:
        now += later * terms.block_length
        # The state crosses continue-as-new as JSON.
        book = SlotBook.model_validate_json(book.model_dump_json())
        book, given = lease(book, now, f"holder {holder}", lane, want)
        assert 0 <= given.count <= max(1, want)
        assert given.first_in >= 0
        assert given.count or given.first_in > 0
        times += slots(now, given)
    assert busiest(times, terms.window) <= terms.budget <= terms.limit


@settings(max_examples=150, deadline=None)
@given(terms_of_a_user, requests, st.integers(0, 59), st.floats(-1, 0))
def test_no_window_holds_more_where_the_book_is_lost(
    terms: PaceTerms, asked: list[tuple[float, int, Lane, int]], lost: int, apart: float
) -> None:
    """Processes spend what a quota has given them that somebody ended. The next one may be told the time by
    another clock, which is behind by up to a second.
    """
    book, now, times = SlotBook(terms=terms), START, []
    for number, (later, holder, lane, want) in enumerate(asked):
        now += later * terms.block_length
        if number == lost:
            book = begun_again(terms, now + apart)
            assert now < book.opens_at <= now + apart + longest_without_a_book(terms)
        book, given = lease(book, now, f"holder {holder}", lane, want)
        times += slots(now, given)
    assert busiest(times, terms.window) <= terms.budget


@settings(max_examples=60, deadline=None)
@given(terms_of_a_user, requests)
def test_no_slot_is_handed_out_twice(terms: PaceTerms, asked: list[tuple[float, int, Lane, int]]) -> None:
    """Slots of one lane stand on a grid, and no two leases name the same one."""
    book, now = SlotBook(terms=terms), START
    seen: set[tuple[float, int]] = set()
    urgent_step = terms.window / terms.urgent_budget
    normal_step = terms.window / (terms.budget - terms.urgent_budget)
    # A lease does not say its lane. By its interval it is known where no share of the normal lane has the
    # urgent one's.
    holders = len({holder for _, holder, _, _ in asked})
    assume(all(abs(normal_step * number - urgent_step) > 1e-9 for number in range(1, holders + 1)))
    for later, holder, lane, want in asked:
        now += later * terms.block_length
        book, given = lease(book, now, f"holder {holder}", lane, want)
        for moment in slots(now, given):
            urgent = abs(given.interval - urgent_step) < 1e-9
            step = urgent_step if urgent else normal_step
            slot = (step, round(moment / step))
            assert slot not in seen
            seen.add(slot)


def saturated(holders: int, seconds: float, terms: PaceTerms) -> dict[str, list[float]]:
    """What holders get who always have work, and ask whenever their slots run out."""
    book = SlotBook(terms=terms)
    ask_at = {f"holder {number}": START + number / 10 for number in range(holders)}
    found: dict[str, list[float]] = {name: [] for name in ask_at}
    while (now := min(ask_at.values())) < START + seconds:
        name = min(ask_at, key=lambda item: ask_at[item])
        book, given = lease(book, now, name, Lane.NORMAL, 1000)
        found[name] += slots(now, given)
        ask_at[name] = now + max(given.again_in, 0.02)
    return found


def test_the_limit_is_used_up() -> None:
    """One holder or five with work for all of it: at least 95 % of the budget is handed out."""
    for holders in (1, 2, 5):
        found = saturated(holders, 1000, PaceTerms())
        assert sum(map(len, found.values())) > 0.95 * PaceTerms().rate * 1000


def test_holders_share_a_block_fairly() -> None:
    """Who always has work gets at least three quarters of an equal share, and slots without long gaps."""
    found = saturated(4, 600, PaceTerms())
    total = sum(map(len, found.values()))
    for times in found.values():
        assert len(times) > 0.75 * total / 4
        times.sort()
        late = [moment for moment in times if moment > START + 30]
        assert max(after - before for before, after in pairwise(late)) < 10


def test_a_holder_that_left_is_not_waited_for() -> None:
    """Its share is anybody's from the middle of the first block without it, and gone in the next."""
    terms = PaceTerms()
    book, _ = lease(SlotBook(terms=terms), START, "gone", Lane.NORMAL, 1)
    book, _ = lease(book, START, "stays", Lane.NORMAL, 1)
    taken = 0
    for tick in range(1, 120):
        book, given = lease(book, START + tick * 0.5, "stays", Lane.NORMAL, 1000)
        taken += sum(1 for moment in slots(START + tick * 0.5, given) if moment > START + 20)
    assert taken > 0.9 * terms.rate * 40


def test_an_urgent_request_finds_a_slot_in_a_block_that_is_leased_out() -> None:
    """A scan took every normal slot; a newcomer's urgent call goes within a few seconds all the same."""
    terms = PaceTerms()
    book, scan = lease(SlotBook(terms=terms), START, "scan", Lane.NORMAL, 10_000)
    assert scan.count > 20
    book, urgent = lease(book, START + 0.1, "command line", Lane.URGENT, 1)
    assert urgent.count == 1
    assert urgent.first_in <= terms.window / terms.urgent_budget + 0.1


def test_a_block_holds_everybody_until_it_ends() -> None:
    """After a 429 nobody gets a slot before the stated time, and a shorter block does not shorten it."""
    book = block(SlotBook(), START, 300)
    book = block(book, START + 10, 1)
    for lane in Lane:
        book, given = lease(book, START + 100, "anyone", lane, 5)
        assert given.count == 0
        assert abs(given.first_in - 200) < 1e-6
    book, given = lease(book, START + 300, "anyone", Lane.NORMAL, 5)
    assert given.count == 5


def test_other_terms_begin_after_the_slots_that_are_out() -> None:
    """A changed limit never meets slots of the old grid: handing out waits for the end of what is leased."""
    book, before = lease(SlotBook(), START, "anyone", Lane.NORMAL, 1000)
    last = slots(START, before)[-1]
    book = with_terms(book, START + 1, PaceTerms(limit=600))
    book, given = lease(book, START + 1, "anyone", Lane.NORMAL, 1000)
    assert given.count == 0
    assert START + 1 + given.first_in >= last


def by_turns(
    asks: dict[str, tuple[PaceTerms, Lane]], seconds: float, want: int = 10
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """What holders get who always have work, each by terms and in a lane of its own, and the longest that
    each had to wait for a slot, in seconds.
    """
    book = SlotBook(terms=next(iter(asks.values()))[0])
    ask_at = {name: START + number / 10 for number, name in enumerate(asks)}
    since = dict(ask_at)
    found: dict[str, list[float]] = {name: [] for name in asks}
    waited = dict.fromkeys(asks, 0.0)
    while (now := min(ask_at.values())) < START + seconds:
        name = min(ask_at, key=lambda item: ask_at[item])
        terms, lane = asks[name]
        book = with_terms(book, now, terms)
        book, given = lease(book, now, name, lane, 1 if lane is Lane.URGENT else want)
        got = slots(now, given)
        ask_at[name] = max(now + 0.02, got[-1] if got else now + given.again_in)
        if got:
            waited[name] = max(waited[name], got[0] - since[name])
            since[name] = ask_at[name]
        found[name] += got
    return found, waited


def test_campaigns_of_one_user_whose_terms_differ_do_not_halt_each_other() -> None:
    """Half an hour of four processes with work for all, two of whom leave people a tenth and two a fifth: the
    fewer slots of the two are used up, every process has its part, and what is urgent waits for seconds.
    """
    strict, lax = PaceTerms(people=0.2), PaceTerms(people=0.1)
    asks = {f"p{number}": ((strict, lax)[number % 2], Lane.NORMAL) for number in range(4)}
    found, waited = by_turns(asks | {"urgent": (lax, Lane.URGENT)}, 1800)
    every = [moment for times in found.values() for moment in times]
    assert len(every) > 0.9 * strict.rate * 1800
    assert min(len(found[name]) for name in asks) > 0.6 * len(every) / len(asks)
    assert waited["urgent"] < 2 * strict.block_length
    late = [moment for moment in every if moment > START + 30]
    assert busiest(late, strict.window) <= strict.budget + 1


def test_laxer_terms_count_once_nobody_has_asked_by_the_stricter_for_a_window() -> None:
    """Until then their processes have what the stricter leave, and then all of their own."""
    strict, lax = PaceTerms(people=0.5), PaceTerms()
    book = with_terms(SlotBook(terms=lax), START, strict)
    for later in range(0, 299, 10):
        book = with_terms(book, START + later, lax)
        assert book.terms == strict
        book, _ = lease(book, START + later, "lax", Lane.NORMAL, 1000)
    book = with_terms(book, START + 301, lax)
    assert book.terms == lax
    assert book.opens_at <= START + 301 + 2 * strict.block_length and not book.blocked_until
    assert with_terms(book, START + 302, strict).terms == strict


@pytest.mark.parametrize(
    "odd", [PaceTerms(window=400, urgent=0.9999), PaceTerms(limit=10, people=0.99, urgent=0.9)]
)
def test_terms_that_keep_all_slots_for_the_urgent_lane_leave_one_to_the_other(odd: PaceTerms) -> None:
    """They are taken while slots of others are out, and slots are handed out by them, and by others' later;
    so too by a book that an earlier version has kept of them.
    """
    assert 0 < odd.urgent_budget < odd.budget
    usual = PaceTerms(people=0.1)
    book, _ = lease(SlotBook(terms=usual), START, "ours", Lane.NORMAL, 1)
    book = with_terms(book, START + 1, odd)
    assert book.terms == odd
    for taken in (book, SlotBook(terms=odd, now=START + 1, asked=START + 1)):
        book, now = taken, START + 1
        while True:
            book = with_terms(book, now, usual)
            book, given = lease(book, now, "ours", Lane.NORMAL, 10)
            if given.count and book.terms == usual:
                break
            now += max(0.1, given.first_in)
            assert now < START + longest_stop(odd) + odd.window


@pytest.mark.parametrize("odd", [PaceTerms(window=1e-7), PaceTerms(limit=10**6, window=1e-3, block=1e-9)])
def test_terms_that_cannot_be_reckoned_with_are_not_taken(odd: PaceTerms) -> None:
    """Slots and blocks are numbered in microseconds. Those that were counted go on to count."""
    with pytest.raises(ValueError):
        with_terms(SlotBook(terms=PaceTerms()), START, odd)


def test_slots_that_are_out_are_spent_where_a_book_is_lost_or_its_terms_change() -> None:
    """Nobody has blocked the user: whoever holds slots hears of no block, which would have it drop them."""
    strict, lax = PaceTerms(people=0.5), PaceTerms()
    book, _ = lease(SlotBook(terms=lax), START, "holder", Lane.NORMAL, 100)
    for opens_later in (begun_again(lax, START), with_terms(book, START, strict)):
        _, given = lease(opens_later, START + 0.1, "holder", Lane.NORMAL, 1)
        assert (given.count, given.closed) == (0, False)
        _, given = lease(block(opens_later, START, 60), START + 0.1, "holder", Lane.NORMAL, 1)
        assert (given.count, given.closed) == (0, True)


def test_slots_that_an_earlier_version_has_leased_are_waited_for() -> None:
    """Its book does not say when somebody asked last; laxer terms of the next one begin after its blocks."""
    book, before = lease(SlotBook(terms=PaceTerms(limit=600)), START, "anyone", Lane.NORMAL, 1000)
    assert book.asked == 0
    book, given = lease(with_terms(book, START + 1, PaceTerms()), START + 1, "anyone", Lane.NORMAL, 1000)
    assert given.count == 0 and START + 1 + given.first_in >= slots(START, before)[-1]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(terms_of_a_user, min_size=2, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1), st.integers(0, 4), st.sampled_from(Lane))),
)
def test_no_window_of_the_laxest_terms_holds_more_than_their_budget(
    several: list[PaceTerms], asked: list[tuple[int, float, int, Lane]]
) -> None:
    """Whoever asks by which terms, and in whatever order: one slot more where two grids meet."""
    laxest = max(several, key=lambda terms: terms.rate)
    book, now, times = SlotBook(terms=laxest), START, []
    for which, later, holder, lane in asked:
        terms = several[which % len(several)]
        now += later * terms.block_length
        book = with_terms(SlotBook.model_validate_json(book.model_dump_json()), now, terms)
        book, given = lease(book, now, f"holder {holder}", lane, 3000)
        times += slots(now, given)
    assert busiest(times, laxest.window) <= laxest.budget + 1


def test_time_that_goes_back_hands_out_nothing_anew() -> None:
    """A clock set back by a block at most is as if it stood still."""
    book, first = lease(SlotBook(), START, "a", Lane.NORMAL, 4)
    book, again = lease(book, START - 10, "a", Lane.NORMAL, 4)
    assert again.count == 4 and not set(slots(START, first)) & set(slots(START, again))


def test_the_default_stays_under_the_limit_with_a_margin() -> None:
    """1,188 of 1,200 in five minutes; the people's share comes off."""
    assert PaceTerms().budget == 1188
    assert PaceTerms(people=0.1).budget == 1068
    assert PaceTerms(limit=10, people=0.9).budget >= 2


def test_a_block_ends_whatever_is_said_of_it() -> None:
    """The service is believed for an hour at most; then it may say so again."""
    book = block(SlotBook(), START, 1e300)
    assert book.blocked_until == START + LONGEST_BLOCK
    assert block(book, START, -5).blocked_until == book.blocked_until


def test_a_lease_is_of_so_many_slots_at_most() -> None:
    """Whatever limit somebody has written, and whatever somebody wants."""
    book = SlotBook(terms=PaceTerms(limit=MOST_REQUESTS, window=1.0))
    _, given = lease(book, START, "a", Lane.NORMAL, 10**12)
    assert given.count == MOST_SLOTS


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        PaceTerms,
        limit=st.integers(10, 400),
        window=st.floats(0.05, 10.0) | st.sampled_from([0.1, 0.3, 1.0, 5.0]),
        people=st.sampled_from([0.0, 0.1, 0.5]),
        block=st.just(0.5),
    ),
    st.integers(1, 3),
)
def test_no_window_is_crossed_where_slots_are_spent_late(terms: PaceTerms, holders: int) -> None:
    """All slots are taken. A window may take up those of as many seconds before it as they may be late by,
    and be as full as the limit says: with short windows, too, of which that is a large part.
    """
    book, times, now = SlotBook(terms=terms), [], START
    while now < START + min(3.0, 2 * terms.window + 3 * terms.block_length):
        for holder in range(holders):
            for lane in Lane:
                book, given = lease(book, now, f"holder {holder}", lane, MOST_SLOTS)
                times += slots(now, given)
        now += 0.05
    assert busiest(times, terms.window + terms.late) <= terms.limit


@given(terms_of_a_user)
def test_what_is_spent_late_fits_into_what_people_leave(terms: PaceTerms) -> None:
    """On the whole: of the least limits it is a part of a call that does not."""
    most = max(terms.limit * (1 - terms.people), 2)
    assert terms.budget + terms.late * terms.rate <= most + 1


def test_the_usual_limit_is_used_as_before() -> None:
    """99 % of it, whatever may be late."""
    assert PaceTerms(limit=1_200, window=300).budget == 1_188
    assert PaceTerms(limit=1_200, window=30).budget == 1_188
    assert PaceTerms(limit=100, window=1.0).budget == 94
