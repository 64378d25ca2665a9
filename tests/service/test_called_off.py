"""A change that is called off, as by a pause: what waits for its turn ends at once, what was begun is seen
through.
"""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.testing import ActivityEnvironment

from activities import connections
from activities.change import calling_off, intents
from activities.change.door import MutationActivities
from activities.change.fence import Fence
from activities.proof.records import WorkerRecords
from edgeshift.messages import Change, ChangeResult, ChangeStatus, GiveUpPermits, PermitsGivenUp, Step
from edgeshift.model.fleet import Area
from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.others import Told
from edgeshift.rate_limit.terms import Lane
from edgeshift.stores.documents import Answered, FrozenTargets, encoded
from tests.kit import eventually
from tests.service.gate_kit import Gate, gate

READINGS = 2
"""Calls before the one that commits: the configuration and the page rules."""

AT_ONCE = 2.0
"""Seconds that an end may take which waits for nothing."""


class Turns:
    """A pacer that has so many turns and no more, and knows what became of them."""

    turn_lasts = 3600.0

    def __init__(self, left: int) -> None:
        self.left = left
        self.waiting = asyncio.Event()
        self.fates: list[Fate] = []

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Wait for ever where there is none left."""
        if not self.left:
            self.waiting.set()
            await asyncio.get_running_loop().create_future()
        self.left -= 1

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        """A call is over."""
        self.fates.append(fate)

    def told(self, said: Told, took: float) -> None:
        """Nothing is left to anybody."""

    def blocked(self, seconds: float) -> None:
        """Nothing more to hold back."""


def begun(play: Gate, change: Change) -> tuple[ActivityEnvironment, asyncio.Task[ChangeResult]]:
    """The activity, under way."""
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC))
    return environment, asyncio.create_task(environment.run(_door(play).change, change))


async def _is_sent(play: Gate) -> bool:
    return bool(await play.sent())


def _door(play: Gate) -> MutationActivities:
    return play._activities


@pytest.mark.parametrize("turns", [0, 1, READINGS])
async def test_a_change_that_waits_for_its_turn_ends_at_once(tmp_path: Path, turns: int) -> None:
    """Before its readings, between them, and before the request itself: nothing happened."""
    pacer = Turns(turns)
    async with gate(tmp_path, pacer=pacer) as play:
        environment, change = begun(play, await play.message(play.body, play.body))
        await asyncio.wait_for(pacer.waiting.wait(), 10)
        environment.cancel()
        result = await asyncio.wait_for(change, AT_ONCE)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "called off" in result.reason
        assert await play.sent() == []
        assert len(pacer.fates) == turns, "a turn that was not had is nobody's"
        assert await play.give_up(play.body, play.body), "no intent was left"


async def test_a_change_that_is_called_off_after_its_intent_is_seen_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is on the wire has its outcome, and the outcome is kept."""
    async with gate(tmp_path, pacer=Turns(READINGS + 1)) as play:
        slow = {"kind": "latency", "effect": "after", "seconds": 1.5, "match": {"call": "entrypoint.put"}}
        await play.control.send("POST", "faults", slow)
        environment, change = begun(play, await play.message(play.body, play.body))
        await eventually(lambda: _is_sent(play), what="it is sent")
        environment.cancel()
        assert (await asyncio.wait_for(change, 20)).status is ChangeStatus.ANSWERED
        assert len(await play.sent()) == 1


async def test_a_change_that_is_called_off_between_its_turn_and_its_intent_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its turn has come, and the archive is slow: the last look before the first byte sees it."""
    reached, create = asyncio.Event(), Fence._create

    async def slowly(self: Fence, what: str, step: str) -> bool:
        reached.set()
        await asyncio.sleep(0.3)
        return await create(self, what, step)

    monkeypatch.setattr(Fence, "_create", slowly)
    async with gate(tmp_path, pacer=Turns(READINGS + 1)) as play:
        environment, change = begun(play, await play.message(play.body, play.body))
        await asyncio.wait_for(reached.wait(), 10)
        environment.cancel()
        result = await asyncio.wait_for(change, 10)
        assert result.status is ChangeStatus.NOTHING_HAPPENED
        assert await play.sent() == []


async def test_the_way_back_is_not_called_off(tmp_path: Path) -> None:
    """Nothing holds up that customers get back what they had."""
    async with gate(tmp_path) as play:
        change = await play.message(play.body, play.body, step=Step.ROLL_BACK)
        fence = Fence(play.connections, change, play.connections.clock.monotonic())
        assert not fence.may_be_called_off
        environment = ActivityEnvironment()
        environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC))

        async def work() -> ChangeResult:
            await asyncio.sleep(0.3)
            return ChangeResult(status=ChangeStatus.ANSWERED)

        task = asyncio.create_task(environment.run(calling_off.unless_called_off, fence, work()))
        await asyncio.sleep(0.05)
        environment.cancel()
        assert (await task).status is ChangeStatus.ANSWERED


async def test_a_look_after_a_validation_ends_when_it_is_called_off(tmp_path: Path) -> None:
    """Its answer is there: whoever pauses the campaign does not wait until it shows."""
    pacer = Turns(6)
    async with gate(tmp_path, pacer=pacer) as play:
        message = await play.message(
            play.body,
            play.body,
            step=Step.VALIDATE,
            mode="shadow",  # type: ignore[arg-type]
        )
        environment, change = begun(play, message)
        await eventually(lambda: _is_sent(play), what="it is sent")
        await asyncio.sleep(0.5)
        assert not change.done()
        environment.cancel()
        result = await asyncio.wait_for(change, AT_ONCE)
        assert result.status is ChangeStatus.ANSWERED and not result.seen


async def fixed(play: Gate, change: Change, *, later: timedelta = timedelta(0)) -> PermitsGivenUp:
    """What is done about the permit of a change that is out. ``later``: when that is asked."""
    targets = await play.connections.archive.put_object(encoded(FrozenTargets((play.start.target,))))
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC) + later)
    batch = GiveUpPermits(
        campaign=play.start.campaign,
        origin="r",
        targets=targets,
        area=Area.WAF,
        permits=(change.permit,),
        over_after=timedelta(minutes=1),
    )
    return await environment.run(_door(play).give_up_permits, batch)


@pytest.fixture(autouse=True)
def resets(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The runs of the campaign that came out of a reset: none, and no server is asked."""
    found: set[str] = set()

    async def was_reset(client: object, identifier: str, run: str) -> bool:
        return run in found

    monkeypatch.setattr(connections, "was_reset", was_reset)
    return found


async def test_a_campaign_that_was_reset_asks_each_zone(tmp_path: Path, resets: set[str]) -> None:
    """It may not know of a permit that is in use. What it knows of is given up all the same."""
    async with gate(tmp_path) as play:
        change = await play.message(play.body, play.body)
        resets.add(ActivityEnvironment().info.workflow_run_id or "")
        assert await fixed(play, change) == PermitsGivenUp()
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and await play.sent() == []


async def test_a_permit_that_is_given_up_by_the_campaign_is_not_used(tmp_path: Path) -> None:
    """Its zone and its worker need not have heard of it."""
    async with gate(tmp_path) as play:
        change = await play.message(play.body, play.body)
        assert await fixed(play, change) == PermitsGivenUp(given_up=(1,))
        assert await fixed(play, change) == PermitsGivenUp(given_up=(1,)), "asked again"
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and result.called_off
        assert await play.sent() == []


async def test_a_permit_whose_request_was_answered_is_over(tmp_path: Path) -> None:
    """Its record says so: nobody need ask a zone whose migration takes minutes."""
    async with gate(tmp_path) as play:
        change = await play.message(play.body, play.body)
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        assert await fixed(play, change) == PermitsGivenUp(over=(1,))


async def test_an_answer_is_not_lost_to_an_archive_that_is_slow_to_record_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known stays known; its zone is asked instead."""
    monkeypatch.setattr(intents, "RECORDED_WITHIN", 0.2)
    create = WorkerRecords.create

    async def slow(records: WorkerRecords, key: str, record: BaseModel, *, lasting: bool = True) -> bool:
        if isinstance(record, Answered):
            await asyncio.get_running_loop().create_future()
        return await create(records, key, record, lasting=lasting)

    monkeypatch.setattr(WorkerRecords, "create", slow)
    async with gate(tmp_path) as play:
        change = await play.message(play.body, play.body)
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        assert await fixed(play, change) == PermitsGivenUp()


async def test_a_permit_that_was_used_is_over_once_its_request_must_be(tmp_path: Path) -> None:
    """Its intent says since when. Until then, or until its answer is recorded, the zone is asked."""
    async with gate(tmp_path) as play:
        change = await play.message(play.body, play.body)
        await play.intend("")
        assert await fixed(play, change) == PermitsGivenUp()
        assert await fixed(play, change, later=timedelta(minutes=2)) == PermitsGivenUp(over=(1,))


async def test_a_permit_whose_request_was_not_answered_is_not_over_yet(tmp_path: Path) -> None:
    """It may be on the wire: the zone is asked."""
    async with gate(tmp_path, request_limit="1s") as play:
        fault = {"kind": "latency", "match": {"call": "entrypoint.put"}, "seconds": 5}
        await play.control.send("POST", "faults", fault)
        change = await play.message(play.body, play.body)
        assert (await play.change(play.body, play.body)).status is ChangeStatus.UNKNOWN
        assert await fixed(play, change) == PermitsGivenUp()


async def test_a_step_of_several_requests_is_never_over_by_its_record(tmp_path: Path) -> None:
    """The record says when the first of them was about to be sent, and not the last."""
    async with gate(tmp_path) as play:
        change = await play.message(play.body, play.body)
        await play.intend("-1")
        assert await fixed(play, change, later=timedelta(hours=1)) == PermitsGivenUp()


def test_heartbeats_are_not_held_back() -> None:
    """The SDK holds back those of an activity without a heartbeat time-out for thirty seconds by default."""
    from worker.queues import HEARD_WITHIN

    assert HEARD_WITHIN.total_seconds() <= calling_off.LOOKS < calling_off.WAITS
