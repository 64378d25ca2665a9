"""A write whose turn to call does not come, or comes late: what is told of it, and how it is dated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.service import RPCError, RPCStatusCode

from activities.boundary import named, refuse_held
from activities.change.intents import commit_may_show
from edgeshift.messages import ChangeStatus
from edgeshift.model.failures import PERMANENT
from edgeshift.model.fleet import Area
from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lease
from edgeshift.rate_limit.terms import Lane
from edgeshift.runtime.clock import SystemClock
from edgeshift.service_api import NoTurn
from tests.service.gate_kit import Gate, begun, gate

SHORT = timedelta(seconds=1)


async def intents(play: Gate) -> list[str]:
    """What was recorded as about to be sent."""
    return [key async for key in play.connections.archive.list("intent")]


@asynccontextmanager
async def paced(*leases: Lease | Exception, kind: type[SlotPacer] = SlotPacer) -> AsyncIterator[SlotPacer]:
    """A pacer whose quota answers so, the last of them again and again."""
    answers = list(leases)

    async def source(want: int, lane: Lane) -> Lease:
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(found, Exception):
            raise found
        return found

    pacer = kind(source)
    try:
        yield pacer
    finally:
        await pacer.aclose()


SLOTS = Lease(first_in=0, interval=0.01, count=1000, again_in=1)
SILENT = RPCError("Timeout expired", RPCStatusCode.DEADLINE_EXCEEDED, b"")


async def test_a_write_that_waits_for_its_turn_in_vain_was_not_sent(tmp_path: Path) -> None:
    """Another call was refused by the rate limit: the turn comes too late, which is known to be harmless."""
    async with paced(SLOTS) as pacer, gate(tmp_path, pacer=pacer, request_limit="1s") as play:
        pacer.blocked(300)
        result = await play.validate(window=SHORT)
        assert result.status is ChangeStatus.NOTHING_HAPPENED
        assert not result.turn
        assert await intents(play) == [] and await play.sent() == []


@pytest.mark.parametrize("waits", [0, 20])
async def test_the_time_to_send_counts_from_the_first_turn_on(tmp_path: Path, waits: int) -> None:
    """A step that may wait for it beyond its window is sent when it comes; another one is not."""
    late = SLOTS.model_copy(update={"first_in": 4.0})
    async with paced(late) as pacer, gate(tmp_path, pacer=pacer) as play:
        result = await play.validate(window=timedelta(seconds=5), waits=timedelta(seconds=waits))
        assert result.status is (ChangeStatus.ANSWERED if waits else ChangeStatus.NOTHING_HAPPENED), result
        assert result.turn is bool(waits)


async def test_a_step_waits_no_longer_than_its_permit_leaves_it_time(tmp_path: Path) -> None:
    """What would be left of the permit is no send window."""
    async with paced(SLOTS) as pacer, gate(tmp_path, pacer=pacer) as play:
        pacer.blocked(3000)
        window, waits = timedelta(minutes=30), timedelta(hours=2)
        began = asyncio.get_running_loop().time()
        assert not (await play.validate(window=window, waits=waits)).turn
        assert asyncio.get_running_loop().time() - began < 10


async def test_a_step_that_waits_for_its_turn_ends_with_its_worker(tmp_path: Path) -> None:
    """It may have minutes to wait; nothing of it was read or recorded, and what was signed stands."""
    asked = asyncio.Event()

    class Asked(SlotPacer):
        async def acquire(self, lane: Lane, credential: str = "") -> None:
            asked.set()
            await super().acquire(lane, credential)

    async with paced(SLOTS, kind=Asked) as pacer, gate(tmp_path, pacer=pacer) as play:
        pacer.blocked(60)
        worker = begun()
        made = asyncio.create_task(play.validate(worker=worker, waits=timedelta(minutes=2)))
        await asked.wait()
        worker.worker_shutdown()
        result = await asyncio.wait_for(made, 20)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and result.stands
        assert await intents(play) == [] and await play.sent() == []


async def test_a_write_that_had_its_turn_and_is_not_answered_is_unknown(tmp_path: Path) -> None:
    """From the intent on it may have been sent."""
    async with paced(SLOTS) as pacer, gate(tmp_path, pacer=pacer, request_limit="1s") as play:
        fault = {"kind": "latency", "match": {"call": "entrypoint.put"}, "seconds": 5}
        await play.control.send("POST", "faults", fault)
        result = await play.validate(window=SHORT)
        assert result.status is ChangeStatus.UNKNOWN
        assert len(await intents(play)) == 1


@pytest.mark.parametrize("reads", [False, True], ids=["at the write", "at the reading before it"])
async def test_a_write_without_a_lease_was_not_sent(tmp_path: Path, reads: bool) -> None:
    """The quota is silent, or Temporal restarts."""
    async with paced(SILENT) as pacer, gate(tmp_path, pacer=pacer) as play:
        result = await play.validate(config=play.config if reads else "")
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "Timeout expired" in result.reason
        assert not result.turn
        assert await intents(play) == [] and await play.sent() == []


def test_no_turn_is_no_reading() -> None:
    """Whoever looks until something shows has not looked, and does so again later."""
    with pytest.raises(NoTurn):
        refuse_held(NoTurn(SILENT))
    failure = named(NoTurn(SILENT))
    assert failure.type == "NoTurn" and failure.type not in PERMANENT and not failure.non_retryable


class Behind(SystemClock):
    """The clock of a machine that is an hour late."""

    def now(self) -> datetime:
        """The time of day, an hour ago."""
        return datetime.now(UTC) - timedelta(hours=1)


async def test_a_commit_is_dated_by_the_server_where_the_worker_is_late(tmp_path: Path) -> None:
    """By a clock that is behind, others would believe too early that the commit can no more show."""
    async with gate(tmp_path, clock=Behind()) as play:
        before = datetime.now(UTC)
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.ANSWERED
        (key,) = await intents(play)
        record = json.loads(await play.connections.archive.get_named(key) or b"{}")
        assert before <= datetime.fromisoformat(record["at"]) <= datetime.now(UTC)
        play.connections.clock = SystemClock()
        assert await commit_may_show(play.connections, play.zone, Area.WAF, timedelta(minutes=30))
