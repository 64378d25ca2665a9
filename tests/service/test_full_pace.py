"""The limit is used up while there is work, by however many processes, and never crossed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lane, Lease, PaceTerms, SlotBook, lease
from tests.service.test_pacing import skipping

Slow = Callable[[float, int], float]
"""Seconds that an answer takes to arrive: by the time, and how many came before it."""


def spent_times(
    terms: PaceTerms, processes: int, urgent: int, asks: Slow, answers: Slow, seconds: float
) -> list[float]:
    """When calls are made over so many seconds with more work than fits. ``asks``, ``answers``: what a lease
    takes on its way there, and back.
    """
    times: list[float] = []

    async def scenario(clock: Callable[[], float]) -> None:
        book = SlotBook(terms=terms)

        def process(name: str) -> SlotPacer:
            asked = 0

            async def ask(want: int, lane: Lane) -> Lease:
                nonlocal book, asked
                number, asked = asked, asked + 1
                await asyncio.sleep(asks(clock(), number))
                book, found = lease(book, 1_700_000_000 + clock(), name, lane, want)
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

        lanes = [Lane.URGENT] * urgent + [Lane.NORMAL] * (50 - urgent)
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


@pytest.mark.parametrize("processes", [1, 4])
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
    ("processes", "urgent", "slow"), [(1, 0, 0.1), (4, 0, 0.1), (4, 10, 0.1), (4, 0, 1.0)]
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
