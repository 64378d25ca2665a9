"""A write whose intent takes long to record: its slot is over by then, and it takes another turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from edgeshift.messages import ChangeStatus
from edgeshift.rate_limit.terms import Lane, PaceTerms
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.service_api import ServiceClient
from edgeshift.service_api.credential import Credential
from edgeshift.service_api.transport import Call, Received
from edgeshift.stores.archive import Archive
from tests.kit.local_pacing import LocalPacer
from tests.service.gate_kit import gate
from tests.service.test_full_pace import fullest
from tests.service.test_pacing import skipping

WRITERS = 100
STALLS_FOR = 25.0


def test_an_archive_that_stalls_does_not_have_the_limit_crossed() -> None:
    """At full pace, what had its turn while nothing could be recorded does not leave all at once."""
    terms, times = PaceTerms(), list[float]()

    async def scenario(clock: Callable[[], float]) -> None:
        pacer, stalls_at, end = LocalPacer(terms, clock=clock), clock() + 400, clock() + 900

        async def exchange(call: Call) -> Received:
            times.append(clock())
            return Received(200, {}, b"{}")

        async def intend() -> None:
            left = stalls_at + STALLS_FOR - clock()
            await asyncio.sleep(left if 0 < left <= STALLS_FOR else 0.1)

        client = ServiceClient("http://127.0.0.1:9", Credential(token="t" * 40), pacer=pacer)
        client._transport.exchange = exchange  # type: ignore[method-assign]
        call = Call("entrypoint.put", "PUT", "/", write=True)

        async def work() -> None:
            while clock() < end:
                await client._received(call, before_send=intend)

        await asyncio.gather(*(work() for _ in range(WRITERS)))
        await pacer.aclose()
        await client.aclose()

    skipping(scenario)
    assert fullest(times, terms.window) <= terms.limit
    # Nor is much of the limit lost by it.
    assert len(times) > 0.7 * terms.limit * 900 / terms.window


class Jumping(SystemClock):
    """A clock that can be set forward."""

    ahead = timedelta(0)

    def now(self) -> datetime:
        """The time of day, and what it is ahead."""
        return super().now() + self.ahead

    def monotonic(self) -> float:
        """The same for spans."""
        return super().monotonic() + self.ahead.total_seconds()


class Over(Unpaced):
    """Turns are over as soon as anything was recorded; the next one comes an hour later, or never."""

    turn_lasts = 0.0

    def __init__(self, clock: Jumping, *, comes: bool) -> None:
        self.clock, self.comes = clock, comes
        self.archive: Archive | None = None

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """At once, until there is an intent."""
        if self.archive is not None and [key async for key in self.archive.list("intent")]:
            self.clock.ahead = timedelta(hours=1)
            if not self.comes:
                await asyncio.Event().wait()


@pytest.mark.parametrize("comes", [True, False], ids=["too late", "never"])
async def test_nothing_is_sent_whose_next_turn_comes_too_late(comes: bool, tmp_path: Path) -> None:
    """Its permit has run out meanwhile; it is on record that nothing came of the intent."""
    clock = Jumping()
    pacer = Over(clock, comes=comes)
    async with gate(tmp_path, pacer=pacer, clock=clock, request_limit="1s") as play:
        pacer.archive = play.connections.archive
        result = await play.change(play.body, play.body)
        assert (result.status, result.stands) == (ChangeStatus.NOTHING_HAPPENED, True), result
        assert result.turn is comes
        assert await play.sent() == []
        kept = [key async for key in play.connections.archive.list("intent")]
        assert len(kept) == 1
        closed = [key async for key in play.connections.archive.list("nothing")]
        assert len(closed) == 1, closed
