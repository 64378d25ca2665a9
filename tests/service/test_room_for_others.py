"""Others who call as the same user are noticed by what the service says of its limit, and have their room."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from edgeshift.rate_limit.others import Others, Told, keep, reported
from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lease, SlotBook, lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.kit.tiers import tiered
from tests.service.test_full_pace import fullest
from tests.service.test_pacing import skipping

TERMS = PaceTerms()
WINDOW = TERMS.window
STEPS = (2.3 * WINDOW, 5.6 * WINDOW)
"""When others begin, and when they stop."""
SECONDS = 8 * WINDOW


@dataclass
class Service:
    """Counts every call and refuses none, so that whatever is too much shows. ``fixed``: windows that do not
    roll, but begin anew. ``speaks``: whether its answers say how much is left.
    """

    fixed: bool = False
    speaks: bool = True
    moments: deque[float] = field(default_factory=deque)

    def call(self, now: float) -> Told | None:
        """Count a call; what its answer says."""
        begins = now - now % WINDOW if self.fixed else now - WINDOW
        while self.moments and self.moments[0] <= begins:
            self.moments.popleft()
        self.moments.append(now)
        if not self.speaks:
            return None
        left = max(0, TERMS.limit - len(self.moments))
        reset = WINDOW - now % WINDOW if self.fixed else WINDOW
        return Told(limit=TERMS.limit, window=WINDOW, remaining=left, reset=reset)


@dataclass
class Played:
    """When edgeshift called, and when others did."""

    own: list[float]
    others: list[float]


def played(service: Service, processes: int = 1, share: float = 0.2, latency: float = 0.2) -> Played:
    """More work than fits by so many processes; others take their share of the limit from one of STEPS to
    the other. ``latency``: seconds that an answer takes at most.
    """
    found, chance = Played([], []), random.Random(1)

    async def scenario(clock: Callable[[], float]) -> None:
        book, others = SlotBook(terms=TERMS), Others()
        began = clock()

        def process(name: str) -> SlotPacer:
            async def ask(want: int, lane: Lane) -> Lease:
                nonlocal book, others
                now, seen = 1_700_000_000 + clock(), pacer.seen()
                await asyncio.sleep(0.05 * chance.random())
                others = reported(others, now, name, seen)
                book, answer = lease(book, now, name, lane, want)
                return answer.model_copy(update={"keep": keep(others, now, TERMS)})

            pacer = SlotPacer(ask, clock=clock)
            return pacer

        pacers = [process(f"process {number}") for number in range(processes)]

        async def call(pacer: SlotPacer) -> None:
            sent = clock()
            await asyncio.sleep(latency * chance.random() / 2)
            found.own.append(clock() - began)
            told = service.call(clock() - began)
            await asyncio.sleep(latency * chance.random() / 2)
            if told is not None:
                pacer.told(told, clock() - sent)

        async def work(pacer: SlotPacer) -> None:
            while clock() < began + SECONDS:
                await pacer.acquire(Lane.NORMAL)
                await call(pacer)

        async def strangers() -> None:
            await asyncio.sleep(STEPS[0])
            while clock() < began + STEPS[1]:
                found.others.append(clock() - began)
                service.call(clock() - began)
                await asyncio.sleep(WINDOW / TERMS.limit / share)

        await asyncio.gather(strangers(), *(work(pacer) for pacer in pacers for _ in range(40)))
        for pacer in pacers:
            await pacer.aclose()

    skipping(scenario)
    found.own.sort()
    return found


def used(found: Played, begin: float, end: float, share: float = 1.0) -> float:
    """What was used of a share of the limit from one moment to another."""
    own = sum(begin <= moment < end for moment in found.own)
    return own / (share * TERMS.limit * (end - begin) / WINDOW)


@pytest.mark.parametrize(
    ("processes", "latency"),
    tiered([(1, 5.0), (4, 0.2), (1, 0.2), (15, 0.2)], 2),
)
def test_others_who_take_a_fifth_have_their_room(processes: int, latency: float) -> None:
    """No window holds more than the limit, with others' calls, also while they begin and when they stop. Of
    what others leave 95 % is used, from a window after they began on; before they come and from a window
    after they stopped on, 98 %.
    """
    found = played(Service(), processes, latency=latency)
    begun, stopped = STEPS
    assert fullest(sorted(found.own + found.others), WINDOW) <= TERMS.limit
    assert used(found, WINDOW, begun) >= 0.98
    assert used(found, begun + WINDOW, stopped, 0.8) >= 0.95
    assert used(found, stopped, stopped + WINDOW) >= 0.9
    assert used(found, stopped + WINDOW, SECONDS) >= 0.98


@pytest.mark.long
@pytest.mark.parametrize("processes", tiered([1, 4]))
def test_others_have_their_room_in_windows_that_begin_anew(processes: int) -> None:
    """A service that counts from nought every five minutes: no such window holds more than the limit, and
    what others leave is used.
    """
    found = played(Service(fixed=True), processes)
    begun, stopped = STEPS
    by_window = Counter(int(moment // WINDOW) for moment in found.own + found.others)
    assert max(by_window.values()) <= TERMS.limit, by_window
    first = WINDOW * math.ceil(begun / WINDOW)
    last = WINDOW * math.floor(stopped / WINDOW)
    assert used(found, first, last, 0.8) >= 0.95
    assert used(found, WINDOW, begun - begun % WINDOW) >= 0.97


def test_a_service_that_says_nothing_leaves_all_as_it_was() -> None:
    """Without a word of what remains, all slots are spent; others are noticed once a call is refused."""
    found = played(Service(speaks=False))
    assert used(found, WINDOW, SECONDS) >= 0.98
