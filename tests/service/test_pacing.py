"""The pacer: slots are spent in time or dropped, urgent calls go first, cancelling costs nobody."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble, held
from edgeshift.rate_limit.errors import CircuitIsOpen, NoLease
from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.kit.local_pacing import LocalPacer


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps over waits: an hour of pacing takes milliseconds."""

    def __init__(self) -> None:
        super().__init__(_Skipping(self))
        self.skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped


class _Skipping(selectors.SelectSelector):
    def __init__(self, loop: SkippingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if ready := super().select(0):
            return ready
        if timeout is None:
            raise AssertionError("everything waits, and nothing will ever happen")
        self._loop.skipped += timeout
        return []


def skipping(scenario: Callable[[Callable[[], float]], Coroutine[Any, Any, None]]) -> None:
    """Run the scenario with a clock that skips."""
    loop = SkippingLoop()
    try:
        loop.run_until_complete(asyncio.wait_for(scenario(loop.time), 100_000))
    finally:
        loop.close()


class Leases:
    """A lease source that records what it was asked, and answers what it was given; then it says to wait."""

    def __init__(self, *answers: Lease | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[int, Lane]] = []

    async def __call__(self, want: int, lane: Lane) -> Lease:
        self.asked.append((want, lane))
        found = self.answers.pop(0) if self.answers else Lease.wait(1000)
        if isinstance(found, Exception):
            raise found
        return found.model_copy(update={"at": asyncio.get_running_loop().time()})


def slots(count: int, interval: float = 1.0, first_in: float = 0.0, again_in: float = 1000.0) -> Lease:
    return Lease(first_in=first_in, interval=interval, count=count, again_in=again_in)


def test_slots_are_spent_at_their_times() -> None:
    """Ten calls over a lease of one slot a second take nine seconds."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(slots(10)), clock=clock)
        began = clock()
        for number in range(10):
            await pacer.acquire(Lane.NORMAL)
            assert abs(clock() - began - number) < 0.1
        await pacer.aclose()

    skipping(scenario)


def test_missed_slots_are_dropped_and_never_caught_up() -> None:
    """Who idles for a minute finds the slots from now on, not sixty at once."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(slots(100)), clock=clock)
        await pacer.acquire(Lane.NORMAL)
        await asyncio.sleep(60.5)
        began = clock()
        for _ in range(5):
            await pacer.acquire(Lane.NORMAL)
        assert 4.4 <= clock() - began <= 5.1
        await pacer.aclose()

    skipping(scenario)


def test_urgent_calls_overtake_a_scan() -> None:
    """Of those that wait, the urgent ones have the next slots, whenever they came."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(slots(100, first_in=1)), clock=clock)
        order: list[str] = []

        async def call(name: str, lane: Lane) -> None:
            await pacer.acquire(lane)
            order.append(name)

        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(call(f"scan {number}", Lane.NORMAL))
            await asyncio.sleep(0.5)
            group.create_task(call("commit", Lane.URGENT))
            group.create_task(call("verify", Lane.URGENT))
            await asyncio.sleep(1500)
        assert order[:3] == ["commit", "verify", "scan 0"]
        assert order[2:] == [f"scan {number}" for number in range(20)]
        await pacer.aclose()

    skipping(scenario)


def test_an_urgent_call_asks_for_a_lease_although_a_scan_was_told_to_wait() -> None:
    """Waiting in the normal lane does not keep the pacer from asking for an urgent slot."""

    async def scenario(clock: Callable[[], float]) -> None:
        leases = Leases(Lease.wait(500), slots(1, first_in=0.5))
        pacer = SlotPacer(leases, clock=clock)
        scan = asyncio.create_task(pacer.acquire(Lane.NORMAL))
        await asyncio.sleep(1)
        began = clock()
        await pacer.acquire(Lane.URGENT)
        assert clock() - began < 1
        assert [lane for _, lane in leases.asked] == [Lane.NORMAL, Lane.URGENT]
        assert not scan.done()
        scan.cancel()
        await pacer.aclose()

    skipping(scenario)


def test_a_block_holds_back_everything() -> None:
    """Slots that pass during a block are gone; a shorter block does not shorten it; others are told."""

    async def scenario(clock: Callable[[], float]) -> None:
        told: list[float] = []

        async def tell(seconds: float) -> None:
            told.append(seconds)

        pacer = SlotPacer(Leases(slots(1000)), on_blocked=tell, clock=clock)
        await pacer.acquire(Lane.NORMAL)
        began = clock()
        pacer.blocked(300)
        pacer.blocked(5)
        await pacer.acquire(Lane.URGENT)
        assert 300 <= clock() - began < 302
        await pacer.acquire(Lane.NORMAL)
        assert clock() - began > 300.5
        assert told == [300, 5]
        await pacer.aclose()

    skipping(scenario)


def test_a_cancelled_call_loses_nobody_a_slot() -> None:
    """Cancelled while waiting, or in the very moment of its turn: the slot is the next one's."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(slots(3, first_in=1)), clock=clock)
        waiting = asyncio.create_task(pacer.acquire(Lane.NORMAL))
        unlucky = asyncio.create_task(pacer.acquire(Lane.NORMAL))
        patient = [asyncio.create_task(pacer.acquire(Lane.NORMAL)) for _ in range(2)]
        await asyncio.sleep(0.5)
        waiting.cancel()
        # The turn of the unlucky one is given and its cancellation requested before it runs again.
        give = pacer._give_turn

        def give_and_cancel() -> None:
            pacer._give_turn = give  # type: ignore[method-assign]
            give()
            unlucky.cancel()

        pacer._give_turn = give_and_cancel  # type: ignore[method-assign]
        await asyncio.gather(*patient)
        assert unlucky.cancelled()
        assert waiting.cancelled()
        await pacer.aclose()

    skipping(scenario)


def test_a_lease_that_fails_tells_those_who_wait() -> None:
    """Whoever waits hears that its call was not made, and why; the next call asks again."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(ConnectionError("no quota"), slots(5)), clock=clock)
        results = await asyncio.gather(
            *(pacer.acquire(lane) for lane in (Lane.NORMAL, Lane.URGENT)), return_exceptions=True
        )
        for result in results:
            assert isinstance(result, NoLease) and isinstance(result.why, ConnectionError)
            assert "ConnectionError: no quota" in str(result)
        await pacer.acquire(Lane.NORMAL)
        await pacer.aclose()

    skipping(scenario)


def test_the_slots_of_a_lease_that_came_slowly_keep_their_times() -> None:
    """By another clock than the pacer's: the answer that came most quickly says how they differ. Those that
    passed meanwhile are dropped, and none is spent before its time.
    """

    async def scenario(clock: Callable[[], float]) -> None:
        ahead, pauses = 1_700_000_000.0, [0.0, 4.0]

        async def slow(want: int, lane: Lane) -> Lease:
            found = slots(1 if len(pauses) == 2 else 10, first_in=1).model_copy(
                update={"at": clock() + ahead}
            )
            await asyncio.sleep(pauses.pop(0) if pauses else 1000)
            return found

        pacer = SlotPacer(slow, clock=clock)
        # There are too few, so it asks for more at once.
        began = clock()
        await pacer.acquire(Lane.NORMAL)
        times = []
        for _ in range(7):
            await pacer.acquire(Lane.NORMAL)
            times.append(clock() - began)
        # Ten slots from the first second on, of which the first three passed before the lease came.
        assert [round(at) for at in times] == [4, 5, 6, 7, 8, 9, 10]
        assert all(at > round(at) - 0.01 for at in times)
        await pacer.aclose()

    skipping(scenario)


def test_a_slot_is_spent_as_late_as_its_lease_allows() -> None:
    """A busy process loses none that the limit has room for; later than that it is dropped."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(slots(100).model_copy(update={"late": 2.5})), clock=clock)
        await pacer.acquire(Lane.NORMAL)
        await asyncio.sleep(10.2)
        began = clock()
        for _ in range(3):
            await pacer.acquire(Lane.NORMAL)
        assert clock() - began < 0.1
        await pacer.acquire(Lane.NORMAL)
        assert 0.7 < clock() - began < 0.9
        await pacer.aclose()

    skipping(scenario)


def test_nobody_asks_for_leases_without_work() -> None:
    """An idle pacer sends no requests and holds no slots back from others."""

    async def scenario(clock: Callable[[], float]) -> None:
        leases = Leases(slots(2))
        pacer = SlotPacer(leases, clock=clock)
        await pacer.acquire(Lane.NORMAL)
        await asyncio.sleep(3600)
        assert len(leases.asked) == 1
        assert leases.asked[0][0] <= 2
        await pacer.aclose()

    skipping(scenario)


@pytest.mark.parametrize("callers", [1, 3, 50])
def test_a_local_pacer_uses_the_limit_and_never_crosses_it(callers: int) -> None:
    """Half an hour of more work than fits: 93 % of the budget at least, and no window over the limit."""
    terms = PaceTerms()
    times: list[float] = []

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = LocalPacer(terms, clock=clock)
        end = clock() + 1800

        async def work() -> None:
            while clock() < end:
                await pacer.acquire(Lane.NORMAL)
                times.append(clock())

        await asyncio.gather(*(work() for _ in range(callers)))
        await pacer.aclose()

    skipping(scenario)
    assert len(times) > 0.93 * terms.rate * 1800
    ahead = 0
    for number, moment in enumerate(times):
        while ahead < len(times) and times[ahead] < moment + terms.window:
            ahead += 1
        assert ahead - number <= terms.limit
    assert all(before <= after for before, after in pairwise(times))


def test_a_fast_local_pacer_keeps_up() -> None:
    """Thousands a second, as in a rehearsal: slots closer than a timer's grain are not lost. A busy machine
    may miss some; what counts is the best of a few tries.
    """
    took: list[float] = []

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = LocalPacer.per_second(4000, clock=clock)
        began = clock()
        await asyncio.gather(*(pacer.acquire(Lane.NORMAL) for _ in range(4000)))
        took.append(clock() - began)
        await pacer.aclose()

    while len(took) < 8 and min(took, default=9.0) >= 1.5:
        skipping(scenario)
    assert 0.9 < min(took) < 1.5


REFUSED = held(Trouble.REFUSED, "9109 Invalid access token", datetime(2023, 10, 2, tzinfo=UTC), "env:A")


def test_a_refused_credential_refuses_who_waits_and_nobody_is_given_a_slot_until_it_is_mended() -> None:
    """Whoever waits hears of it at once; who comes later asks whether it is held still; the others go on."""

    async def scenario(clock: Callable[[], float]) -> None:
        holding = slots(0).model_copy(update={"holds": (REFUSED,)})
        told: list[OpenCircuit] = []

        async def on_held(hold: OpenCircuit) -> None:
            told.append(hold)

        leases = Leases(slots(1), slots(5, first_in=50), holding, slots(9), slots(9))
        pacer = SlotPacer(leases, on_held=on_held, clock=clock)
        await pacer.acquire(Lane.NORMAL, "env:A")
        waiting = asyncio.create_task(pacer.acquire(Lane.NORMAL, "env:A"))
        other = asyncio.create_task(pacer.acquire(Lane.NORMAL, "env:B"))
        await asyncio.sleep(1)
        pacer.ended(Fate.REFUSED, "9109 Invalid access token", "env:A")
        with pytest.raises(CircuitIsOpen, match="refuses the credential env:A"):
            await waiting
        await other
        assert [hold.credential for hold in told] == ["env:A"]
        asked = len(leases.asked)
        with pytest.raises(CircuitIsOpen):
            await pacer.acquire(Lane.NORMAL, "env:A")
        assert len(leases.asked) == asked + 1
        await pacer.acquire(Lane.NORMAL, "env:A")
        second = asyncio.create_task(pacer.acquire(Lane.NORMAL, "env:A"))
        await asyncio.sleep(30)
        assert not second.done()
        pacer.ended(Fate.ANSWERED, credential="env:A")
        await second
        await pacer.aclose()

    skipping(scenario)
