"""The limit is used up while there is work, by however many processes, and never crossed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lane, Lease, PaceTerms, SlotBook, lease
from tests.service.test_pacing import skipping


@pytest.mark.parametrize(
    ("processes", "urgent", "slow"), [(1, 0, 0.1), (4, 0, 0.1), (4, 10, 0.1), (4, 0, 1.0)]
)
def test_the_limit_is_used_to_the_last_per_cent_and_never_crossed(
    processes: int, urgent: int, slow: float
) -> None:
    """Half an hour of more work than fits, also where leases come slowly and where much of it is urgent: 98 %
    of the limit at least, and no window over it.
    """
    terms = PaceTerms()
    times: list[float] = []

    async def scenario(clock: Callable[[], float]) -> None:
        book, chance = SlotBook(terms=terms), random.Random(1)

        def process(name: str) -> SlotPacer:
            async def ask(want: int, lane: Lane) -> Lease:
                nonlocal book
                await asyncio.sleep(slow * chance.random())
                book, found = lease(book, 1_700_000_000 + clock(), name, lane, want)
                await asyncio.sleep(slow * chance.random())
                return found

            return SlotPacer(ask, clock=clock)

        pacers = [process(f"process {number}") for number in range(processes)]
        end = clock() + 1800

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
    times.sort()
    assert len(times) > 0.98 * terms.limit * 1800 / terms.window
    ahead = 0
    for number, moment in enumerate(times):
        while ahead < len(times) and times[ahead] < moment + terms.window:
            ahead += 1
        assert ahead - number <= terms.limit
