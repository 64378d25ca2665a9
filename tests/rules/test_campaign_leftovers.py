"""Small things of a campaign's course that show late: in the next outage, the next run, the next batch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio import workflow

from activities import fanout
from activities.circuit import HeldCallActivities
from activities.connections import Connections
from activities.fanout import ZoneActivities
from edgeshift.campaign.rulings import entry_of, zones_prefix
from tests.rules.ledger_kit import NOW, SHAPE
from workflows.campaign import outage
from workflows.campaign.batches import Batches
from workflows.campaign.outage import ServicePause
from workflows.campaign.tasks import Tasks
from workflows.campaign.workflow import Campaign


async def wait_condition(holds: Callable[[], bool], **_: Any) -> None:
    """As the engine's, on this loop."""
    for _turn in range(100_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("nothing has changed")


async def test_who_resumes_twice_says_nothing_of_the_next_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second word comes while the calls are let go on, and the first is there for the next run until they
    are; the next outage waits for its own.
    """
    monkeypatch.setattr(workflow, "wait_condition", wait_condition)
    monkeypatch.setattr(outage, "AwaitService", SimpleNamespace)
    monkeypatch.setattr(outage, "LetCallsGo", SimpleNamespace)
    policy = SimpleNamespace(silence=timedelta(seconds=1))
    start = SimpleNamespace(spec="", policy=policy)
    state: Any = SimpleNamespace(calls=SimpleNamespace(holds=("one",)), resumed_by_hand=True, start=start)
    while_let_go: list[bool] = []

    async def work(activity: Any, *_: Any) -> None:
        if activity is HeldCallActivities.wait:
            await asyncio.sleep(60)
        while_let_go.append(state.resumed_by_hand)
        state.resumed_by_hand = True

    batches = Batches(state)
    monkeypatch.setattr(batches, "work", work)
    pause = ServicePause(state, batches, cast(Any, None))
    await pause._until_answered()
    assert state.calls.holds == () and not state.resumed_by_hand
    assert while_let_go == [True]


async def test_a_mistake_while_a_run_ends_is_seen_by_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails as it is under way when the run leaves is not left to the next one, which knows nothing."""
    monkeypatch.setattr(workflow, "wait_condition", wait_condition)
    monkeypatch.setattr(workflow, "all_handlers_finished", lambda: True)
    state: Any = SimpleNamespace(leaving=False, changes=1)

    async def next_change(seen: int) -> int:
        await wait_condition(lambda: state.changes > seen)
        return cast(int, state.changes)

    async def step() -> None:
        await wait_condition(lambda: state.leaving)
        raise ZeroDivisionError

    state.next_change = next_change
    tasks = Tasks(state)
    tasks.begin("start", step)
    await asyncio.sleep(0.01)
    with pytest.raises(ZeroDivisionError):
        await Campaign._leave(cast(Any, SimpleNamespace(_tasks=tasks)))


async def test_the_rejections_of_a_campaign_are_not_listed_for_each_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once a while, and for each run of its own."""
    entry = entry_of("rejected", NOW, SHAPE, "ann", "r")
    listed: list[str] = []

    async def keys(prefix: str) -> AsyncIterator[str]:
        listed.append(prefix)
        yield f"{zones_prefix('campaign/c', 'z')}/{entry.name}"

    connections = cast(Connections, SimpleNamespace(archive=SimpleNamespace(list=keys)))
    zones = ZoneActivities(connections, {})

    async def found(run: str) -> dict[str, tuple[str, ...]]:
        batch: Any = SimpleNamespace(campaign="campaign/c", campaign_run=run)
        return await zones._rejected_before(batch)

    for _ in range(3):
        assert await found("a") == {"z": (SHAPE,)}
    assert len(listed) == 1
    await found("b")
    assert len(listed) == 2
    monkeypatch.setattr(fanout, "LISTED_AGAIN", 0.0)
    await found("a")
    assert len(listed) == 3
    monkeypatch.setattr(fanout, "LISTED_AGAIN", 60.0)
    for number in range(2 * fanout.MOST_LISTED):
        await found(str(number))
    assert len(zones._rejections) == fanout.MOST_LISTED
