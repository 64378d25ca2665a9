"""The limit is used up while there is work, by however many processes, and never crossed."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable

import pytest

from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lease, SlotBook, begun_again, lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.kit.tiers import tiered
from tests.service.test_pacing import skipping

Slow = Callable[[float, int], float]
"""Seconds that an answer takes to arrive: by the time, and how many came before it."""


def spent_times(
    terms: PaceTerms,
    processes: int,
    urgent: int,
    asks: Slow,
    answers: Slow,
    seconds: float,
    *,
    at_once: int = 50,
    takes: float = 0.0,
    lost_at: float = math.inf,
) -> list[float]:
    """When calls are made over so many seconds with more work than fits. ``asks``, ``answers``: what a lease
    takes on its way there, and back. ``at_once``: callers of a process, each of whose calls ``takes`` so
    many seconds. ``lost_at``: after how many seconds somebody ends the quota.
    """
    times: list[float] = []

    async def scenario(clock: Callable[[], float]) -> None:
        book, kept, began = SlotBook(terms=terms), True, clock()

        def process(name: str) -> SlotPacer:
            asked = 0

            async def ask(want: int, lane: Lane) -> Lease:
                nonlocal book, kept, asked
                number, asked = asked, asked + 1
                await asyncio.sleep(asks(clock(), number))
                now = 1_700_000_000 + clock()
                if kept and clock() >= began + lost_at:
                    book, kept = begun_again(terms, now), False
                book, found = lease(book, now, name, lane, want)
                await asyncio.sleep(answers(clock(), number))
                return found

            return SlotPacer(ask, clock=clock)

        pacers = [process(f"process {number}") for number in range(processes)]
        end = clock() + seconds

        async def work(pacer: SlotPacer, lane: Lane) -> None:
            while True:
                await pacer.acquire(lane)
                if clock() >= end:
                    return
                times.append(clock())
                await asyncio.sleep(takes)

        lanes = [Lane.URGENT] * urgent + [Lane.NORMAL] * (at_once - urgent)
        await asyncio.gather(*(work(pacer, lane) for pacer in pacers for lane in lanes))
        for pacer in pacers:
            await pacer.aclose()

    skipping(scenario)
    return sorted(times)


def fullest(times: list[float], window: float) -> int:
    """The most calls of any window."""
    ahead = most = 0
    for number, moment in enumerate(times):
        while ahead < len(times) and times[ahead] < moment + window:
            ahead += 1
        most = max(most, ahead - number)
    return most


@pytest.mark.parametrize("processes", tiered([1, 4]))
@pytest.mark.parametrize(
    "answers",
    [
        lambda now, number: 0.05 if number else 3.0,
        lambda now, number: 0.05 if number else 5.0,
        lambda now, number: 6.0 if now < 200 else 0.05,
        lambda now, number: 3.0 if int(now / 50) % 2 else 0.05,
    ],
    ids=["first 3 s late", "first 5 s late", "late for 200 s", "late by turns"],
)
@pytest.mark.parametrize("terms", [PaceTerms(), PaceTerms(limit=600, window=60.0)], ids=["1200", "600"])
def test_answers_that_come_late_and_then_quickly_do_not_cross_the_limit(
    terms: PaceTerms, answers: Slow, processes: int
) -> None:
    """A process that has just begun does not know how its clock differs from the quota's."""
    times = spent_times(terms, processes, 0, lambda now, number: 0.01, answers, 700)
    assert fullest(times, terms.window) <= terms.limit


@pytest.mark.parametrize(
    ("processes", "urgent", "slow"), tiered([(1, 0, 0.1), (4, 0, 0.1), (4, 10, 0.1), (4, 0, 1.0)])
)
def test_the_limit_is_used_to_the_last_per_cent_and_never_crossed(
    processes: int, urgent: int, slow: float
) -> None:
    """Half an hour of more work than fits, also where leases come slowly and where much of it is urgent: 98 %
    of the limit at least, and no window over it.
    """
    terms, chance = PaceTerms(), random.Random(1)

    def drawn(now: float, number: int) -> float:
        return slow * chance.random()

    times = spent_times(terms, processes, urgent, drawn, drawn, 1800)
    assert len(times) > 0.98 * terms.limit * 1800 / terms.window
    assert fullest(times, terms.window) <= terms.limit


@pytest.mark.parametrize("lost_at", [451.0, 453.5, 456.0, 458.5])
def test_a_quota_that_begins_again_does_not_cross_the_limit(lost_at: float) -> None:
    """Somebody ends it amid a block, whose slots are out: what comes after them is used up as before."""
    terms = PaceTerms()
    times = spent_times(terms, 4, 0, lambda now, number: 0.05, lambda now, number: 0.05, 900, lost_at=lost_at)
    assert fullest(times, terms.window) <= terms.limit
    assert len(times) > 0.96 * terms.limit * 900 / terms.window


@pytest.mark.parametrize("at_once", [3, 6, 20])
def test_few_callers_use_the_limit_up_too(at_once: int) -> None:
    """They are given all that they ask for, and what nobody else needs beside it."""
    terms = PaceTerms()
    times = spent_times(
        terms, 1, 0, lambda now, number: 0.01, lambda now, number: 0.01, 1800, at_once=at_once, takes=0.5
    )
    assert len(times) > 0.98 * terms.limit * 1800 / terms.window
    assert fullest(times, terms.window) <= terms.limit


def test_who_leaves_slots_unused_is_lent_none() -> None:
    """A caller who comes now and then asks for no more than before: leases are few."""
    asked = 0

    def counted(now: float, number: int) -> float:
        nonlocal asked
        asked = max(asked, number + 1)
        return 0.01

    times = spent_times(PaceTerms(), 1, 0, counted, lambda now, number: 0.01, 600, at_once=1, takes=5.0)
    assert 100 <= len(times) <= 120
    assert asked <= 1.1 * len(times)
