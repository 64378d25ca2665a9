"""Calls from one address are spaced, whichever users they are made as and whichever process makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

import pytest

from edgeshift.rate_limit.address import ByAddress, address_terms
from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.errors import NoLease
from edgeshift.rate_limit.slots import SlotBook, lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from edgeshift.rate_limit.unpaced import Unpaced
from tests.kit.local_pacing import LocalPacer
from tests.service.test_full_pace import fullest
from tests.service.test_pacing import skipping

HOLDERS = 5


@pytest.mark.parametrize("most", [4, 20, 200, 2000])
def test_no_second_has_more_calls_than_the_limit(most: int) -> None:
    """Several processes take all slots that they are given, each as late as it may be spent."""
    terms = address_terms(most)
    book, slots = SlotBook(terms=terms), []
    for tick in range(400):
        for holder in range(HOLDERS):
            now = 1_000.0 + tick / 10 + holder / 100
            book, found = lease(book, now, f"holder {holder}", Lane.NORMAL, 4 * most)
            slots += [now + found.first_in + number * found.interval for number in range(found.count)]
    slots.sort()
    whole = [at for at in slots if 1_010 <= at < 1_030]
    assert len(whole) >= 0.9 * 20 * terms.rate
    fullest = max(sum(first <= at < first + 1 + terms.late for at in whole) for first in whole[:: most // 4])
    # A tenth of the least limits is less than a call.
    assert fullest <= most + (1 if most < 20 else 0)


def test_the_limit_of_an_address_is_used_up_to_a_tenth() -> None:
    """And no terms are such as cannot be reckoned with, however high the time scale."""
    assert 0.9 <= address_terms(200).rate / 200 <= 0.95
    assert address_terms(200 * 1_000_000).rate <= 100_000
    assert address_terms(1).rate <= 1


class Counting(Unpaced):
    """A pacer that remembers what it was told of calls."""

    def __init__(self) -> None:
        self.fates: list[Fate] = []

    def elsewhere(self) -> AbstractContextManager[None]:
        return nullcontext()

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        self.fates.append(fate)


class Never(Unpaced):
    """A pacer whose turn does not come, or that has nobody to say when."""

    def __init__(self, why: Exception | None = None) -> None:
        self.why = why

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        if self.why is not None:
            raise self.why
        await asyncio.Event().wait()


async def test_a_call_that_waits_for_its_address_in_vain_is_told_to_its_user() -> None:
    """Whether it is called off meanwhile, or nobody can say when its turn would come."""
    user = Counting()
    waits = asyncio.create_task(ByAddress(user, Never()).acquire(Lane.URGENT))
    await asyncio.sleep(0.01)
    assert not waits.done() and user.fates == []
    waits.cancel()
    with suppress(asyncio.CancelledError):
        await waits
    with pytest.raises(NoLease):
        await ByAddress(user, Never(NoLease(OSError("gone")))).acquire(Lane.NORMAL)
    assert user.fates == [Fate.NOT_MADE] * 2


async def test_what_becomes_of_a_call_is_told_to_both() -> None:
    """The user's pacer learns by it when calls are to be held, the address's that it is over."""
    user, address = Counting(), Counting()
    pacer = ByAddress(user, address)
    await pacer.acquire(Lane.NORMAL)
    pacer.ended(Fate.ANSWERED)
    assert (user.fates, address.fates) == ([Fate.ANSWERED], [Fate.ANSWERED])


def test_few_calls_that_have_their_users_slot_wait_for_the_address() -> None:
    """They leave together once other users call less. The slots that pass meanwhile are nobody's."""
    terms = PaceTerms(limit=400, window=10.0, block=1.0)

    async def scenario(clock: Callable[[], float]) -> None:
        user, free, made = LocalPacer(terms, clock=clock), asyncio.Event(), []

        class Taken(Unpaced):
            async def acquire(self, lane: Lane, credential: str = "") -> None:
                await free.wait()

        async def call() -> None:
            await ByAddress(user, Taken()).acquire(Lane.NORMAL)
            made.append(clock())

        calls = [asyncio.create_task(call()) for _ in range(400)]
        await asyncio.sleep(9)
        assert made == []
        free.set()
        since = clock()
        await asyncio.gather(*calls)
        # Counted by the clock: what a busy machine takes for a pause of 10 ms may be longer.
        assert 1 <= sum(at - since <= 0.005 for at in made) <= 4
        assert fullest(made, 2.0) <= 2 * terms.rate + 6
        await user.aclose()

    skipping(scenario)
