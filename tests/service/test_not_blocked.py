"""Who calls for several users does not wait for one whom the service refuses every call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from edgeshift.rate_limit.errors import BlockedForLonger
from edgeshift.rate_limit.in_hand import not_blocked_for
from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lease
from edgeshift.rate_limit.terms import Lane
from tests.service.test_pacing import Leases, skipping


@pytest.mark.parametrize("heard", ["before", "meanwhile", "of the quota"])
def test_who_calls_for_several_users_does_not_wait_for_one_that_is_blocked(heard: str) -> None:
    """Whether this process met the refusal, before or while it waits, or the quota knows of it; everybody
    else waits until the user may call again.
    """

    async def scenario(clock: Callable[[], float]) -> None:
        closed = Lease.wait(600).model_copy(update={"closed": True})
        later = Lease(first_in=0.0, interval=1.0, count=10, again_in=1.0)
        pacer = SlotPacer(Leases(*([closed] if heard == "of the quota" else []), later), clock=clock)
        if heard == "before":
            pacer.blocked(600)

        async def look() -> float:
            with not_blocked_for(10), pytest.raises(BlockedForLonger):
                await pacer.acquire(Lane.NORMAL)
            return clock()

        async def read() -> float:
            await pacer.acquire(Lane.NORMAL)
            return clock()

        began = clock()
        looking, reading = asyncio.create_task(look()), asyncio.create_task(read())
        if heard == "meanwhile":
            await asyncio.sleep(0)
            pacer.blocked(600)
        assert await looking - began < 1 and await reading - began >= 600
        with not_blocked_for(10):
            await pacer.acquire(Lane.NORMAL)
            pacer.blocked(5)
            await pacer.acquire(Lane.NORMAL)
        await pacer.aclose()

    skipping(scenario)
