"""The arithmetic of pace: no rolling window ever holds more slots than the limit, whoever asks."""

from __future__ import annotations

import bisect
from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from edgeshift.rate_limit.slots import (
    LATEST,
    LONGEST_BLOCK,
    MOST_REQUESTS,
    MOST_SLOTS,
    Lane,
    Lease,
    PaceTerms,
    SlotBook,
    block,
    lease,
    with_terms,
)

START = 1_700_000_000.0

terms_of_a_user = st.builds(
    PaceTerms,
    limit=st.integers(10, 5000),
    window=st.sampled_from([0.3, 1.0, 10.0, 300.0]),
    people=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    block=st.sampled_from([0.5, 10.0]),
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


def test_time_that_goes_back_hands_out_nothing_anew() -> None:
    """A clock set back is as if it stood still."""
    book, first = lease(SlotBook(), START, "a", Lane.NORMAL, 4)
    book, again = lease(book, START - 60, "a", Lane.NORMAL, 4)
    assert not set(slots(START, first)) & set(slots(START, again))


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


@given(terms_of_a_user)
def test_what_is_spent_late_fits_into_the_limit(terms: PaceTerms) -> None:
    """A window takes up the slots of as many seconds before it as they may be late by."""
    most = terms.limit * (1 - terms.people)
    assert terms.late == LATEST or terms.budget + terms.late * terms.rate <= most
