"""More steps than the limit lets through in their time: what begins comes to its end; no turn is wasted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from edgeshift.campaign_file.parts import CommitSpec
from edgeshift.rate_limit.errors import TooLate
from edgeshift.rate_limit.in_hand import InHand, in_hand
from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lease, SlotBook, lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.kit.tiers import tiered
from tests.service.test_pacing import Leases, skipping, slots

CALLS = 3
"""Of a step: the fresh configuration, the page rules, the request itself."""

AT_ONCE = 40
"""Steps that a worker has in hand."""

SECONDS = 1800.0


def steps_done(processes: int, zones: int, waits: float = 0.0, readers: int = 0) -> tuple[int, int, int, int]:
    """How many steps come to their end at the real pace of one user, how many calls they make, and how many
    tries end without a turn: each has half a minute, for whose first turn it waits half of it, or ``waits``
    before; where that is not enough it tries again a minute later. And how many calls that are not urgent
    are made, where each process has so many ``readers``.
    """
    done = made = in_vain = read = 0
    terms = PaceTerms(limit=1200, window=300)

    async def scenario(clock: Callable[[], float]) -> None:
        book, end = SlotBook(terms=terms), clock() + SECONDS

        def process(name: str) -> SlotPacer:
            async def ask(want: int, lane: Lane) -> Lease:
                nonlocal book
                await asyncio.sleep(0.01)
                book, found = lease(book, 1_700_000_000 + clock(), name, lane, want)
                return found

            return SlotPacer(ask, clock=clock)

        pacers = [process(f"process {number}") for number in range(processes)]
        places = [asyncio.Semaphore(AT_ONCE) for _ in pacers]

        async def step(pacer: SlotPacer) -> bool:
            nonlocal made, in_vain
            began = clock()
            try:
                async with asyncio.timeout(waits + 30):
                    with in_hand(InHand(lambda: began + max(waits, 15) - clock())):
                        for _ in range(CALLS):
                            await pacer.acquire(Lane.URGENT)
                            made += clock() < end
                            await asyncio.sleep(0.1)
            except (TimeoutError, TooLate):
                in_vain += 1
                return False
            return True

        async def zone(number: int) -> None:
            nonlocal done
            while clock() < end:
                async with places[number % processes]:
                    came_to_its_end = await step(pacers[number % processes])
                if came_to_its_end:
                    done += clock() < end
                    # Its change takes effect; then the next zone has its place.
                    await asyncio.sleep(300)
                else:
                    await asyncio.sleep(60)

        async def reader(number: int) -> None:
            nonlocal read
            while clock() < end:
                await pacers[number % processes].acquire(Lane.NORMAL)
                read += clock() < end
                await asyncio.sleep(0.1)

        await asyncio.gather(*map(zone, range(zones)), *map(reader, range(processes * readers)))
        for pacer in pacers:
            await pacer.aclose()

    skipping(scenario)
    return done, made, in_vain, read


@pytest.mark.parametrize(("processes", "zones"), tiered([(2, 500), (1, 500), (4, 800)]))
def test_no_turn_is_spent_on_what_does_not_come_to_its_end(processes: int, zones: int) -> None:
    """Else a full window spends the whole limit, and commits nothing, for good."""
    done, made, _, _ = steps_done(processes, zones)
    possible = 1200 / 300 * 0.9 * SECONDS / CALLS
    assert done > 0.9 * possible, (done, made)
    assert made < 1.05 * CALLS * done


@pytest.mark.long
@pytest.mark.parametrize("readers", [0, 4])
def test_few_steps_wait_for_a_turn_in_vain(readers: int) -> None:
    """By default a step waits for its first turn for a minute and a half: as long as a worker or two need for
    all that they have in hand, however many zones have permits, and with a plan beside them.
    """
    wait = CommitSpec().waits_for_turn.total_seconds()
    done, _, few, _ = steps_done(2, 300, waits=wait, readers=readers)
    assert few < 0.1 * done, (done, few)
    # With half of the send window alone.
    done, _, many, _ = steps_done(2, 300, readers=readers)
    assert many > 0.2 * done, (done, many)


@pytest.mark.long
@pytest.mark.parametrize(("processes", "zones"), [(1, 500), (2, 500), (4, 800)])
def test_what_is_not_urgent_has_an_eighth_beside_a_full_window(processes: int, zones: int) -> None:
    """A plan or a list of the same user is not to wait for hours; and what begins comes to its end still."""
    done, made, _, read = steps_done(processes, zones, readers=4)
    assert read > 0.1 * (made + read), (done, made, read)
    possible = 1200 / 300 * 0.9 * 7 / 8 * SECONDS / CALLS
    assert done > 0.9 * possible, (done, made)
    assert made < 1.05 * CALLS * done


def test_what_has_begun_goes_first() -> None:
    """Before whatever came in the meantime, be it urgent."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer, order = SlotPacer(Leases(slots(100, first_in=1)), clock=clock), list[str]()

        async def step(name: str, begun: bool) -> None:
            with in_hand(InHand(lambda: 50.0, begun=begun)):
                for number in range(2):
                    await pacer.acquire(Lane.URGENT)
                    order.append(f"{name} {number}")

        async def poll() -> None:
            await pacer.acquire(Lane.URGENT)
            order.append("poll")

        async with asyncio.TaskGroup() as group:
            for name in "ab":
                group.create_task(step(name, begun=False))
            group.create_task(poll())
            await asyncio.sleep(0.5)
            group.create_task(step("rollback", begun=True))
        assert order == ["rollback 0", "rollback 1", "a 0", "a 1", "b 0", "b 1", "poll"]
        await pacer.aclose()

    skipping(scenario)


def test_calls_side_by_side_begin_together() -> None:
    """Of two first calls one has the turn that begins the step, however late, and the other one the next."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer, began = SlotPacer(Leases(slots(100, first_in=14.8)), clock=clock), clock()
        with in_hand(InHand(lambda: (began + 30 - clock()) / 2)):
            pair = [asyncio.create_task(pacer.acquire(Lane.URGENT)) for _ in range(2)]
        await asyncio.sleep(1)
        polls = [asyncio.create_task(pacer.acquire(Lane.URGENT)) for _ in range(5)]
        await asyncio.gather(*pair)
        assert 15.7 < clock() - began < 16.5
        await asyncio.gather(*polls)
        await pacer.aclose()

    skipping(scenario)


def test_a_step_of_a_user_who_was_blocked_elsewhere_does_not_wait() -> None:
    """Another process has told the quota; whoever asked hears when there are slots again."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(Lease.wait(60), slots(100)), clock=clock)
        for took in (15, 0):
            began = clock()
            with in_hand(InHand(lambda: 15.0)), pytest.raises(TooLate):
                await pacer.acquire(Lane.URGENT)
            assert abs(clock() - began - took) < 1
        await asyncio.sleep(50)
        with in_hand(InHand(lambda: 15.0)):
            await pacer.acquire(Lane.URGENT)
        await pacer.aclose()

    skipping(scenario)


def test_a_step_that_cannot_begin_in_time_does_not_wait() -> None:
    """The user is blocked for longer; its place is somebody else's."""

    async def scenario(clock: Callable[[], float]) -> None:
        pacer = SlotPacer(Leases(slots(100)), clock=clock)
        pacer.blocked(60)
        began = clock()
        with in_hand(InHand(lambda: 15.0)), pytest.raises(TooLate):
            await pacer.acquire(Lane.URGENT)
        assert clock() - began < 1
        # Whoever is no step, or has begun, waits as before.
        await pacer.acquire(Lane.URGENT)
        assert 59 < clock() - began < 63
        await pacer.aclose()

    skipping(scenario)
