"""Pause and abort while the rate limit is spent: what waits for its turn is called off."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType, TimeoutType
from temporalio.client import Client

from edgeshift.messages import Answer, Blocked
from edgeshift.model.fleet import ZoneOutcome, quota_id
from tests.harness.aimed.scene import Stalled
from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.queue import on_queue
from workflows.zone.changing import WITHOUT_A_TURN

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ZONES = 48
"""Each with a permit, and of more than the worker makes changes of at the same time."""

AT_ONCE = 12
"""Changes that the worker makes at the same time."""

SPENT = 20.0
"""Seconds for which no call may be made: far longer than an answer may take."""

PROMPTLY = 4.0
"""Seconds, on a machine that does other things too; by itself it takes less than one."""


@asynccontextmanager
async def spent(
    client: Client, folder: Path, *, zones: int = ZONES, at_once: int = AT_ONCE, **more: Any
) -> AsyncIterator[Scene]:
    """A campaign all of whose zones have a permit, just when no call may be made any more."""
    tag = f"stops-{uuid.uuid4().hex[:8]}"
    fleet = fleet_of(*({"name": f"z{number}.{tag}.example", "plan": "pro"} for number in range(zones)))
    served = on_queue(client, tag)
    worker = {"changes_activities": at_once}
    async with scene(served, folder, fleet, paced=True, worker=worker, window=zones, **more) as play:
        await play.until(lambda seen: sum(item.zones for item in seen.waiting) == zones)
        service = play.spec.service
        quota = client.get_workflow_handle(quota_id(service.caller(service.credentials[0])))
        await quota.signal("blocked", Blocked(seconds=SPENT))
        await play.sign([item.fingerprint for item in (await play.summary()).waiting])

        async def all_permitted() -> bool:
            return (await play.summary()).permits_out == zones

        await eventually(all_permitted, what="every zone has its permit")
        yield play
        await quota.terminate("the scene is over")


async def _answered(play: Scene, update: str) -> Answer:
    asked = time.monotonic()
    answer = await play.ask(update)  # type: ignore[arg-type]
    took = time.monotonic() - asked
    print(f"{update} with {ZONES} permits out: {took:.2f} s: {answer.text}")
    assert took < PROMPTLY, f"{update} took {took:.1f} s"
    return answer


@pytest.mark.long
async def test_a_pause_answers_before_any_permit_has_its_turn(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing is sent once there are turns again; resumed, every zone is committed once."""
    async with spent(temporal_client, tmp_path) as play:
        answer = await _answered(play, "pause")
        assert f"{ZONES} steps called off before anything was sent" in answer.text
        calls = len(await play.journal())
        await eventually(lambda: _all_ready(play), what="every zone can do with another permit")
        await asyncio.sleep(SPENT)
        assert await play.commits() == []
        # A few looks may have had their turn just before they heard.
        assert len(await play.journal()) - calls <= AT_ONCE
        await play.ask("resume")
        result = await play.result()
        assert result.outcomes == {ZoneOutcome.MIGRATED: ZONES}
        sent = [entry["zone"] for entry in await play.commits()]
        assert len(sent) == len(set(sent)) == ZONES
        await play.check_rules(absent={3, 4})


async def _all_ready(play: Scene) -> bool:
    summary = await play.summary()
    return summary.permits_out == 0 and summary.places.get("ready") == ZONES


@pytest.mark.long
async def test_an_abort_answers_before_any_permit_has_its_turn(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It counts none of them as in flight, and all end without a call. The zones are told only then: many
    that end at once would hold up the answer.
    """
    async with spent(temporal_client, tmp_path) as play:
        answer = await _answered(play, "abort")
        assert answer.sent == () and "No commit is in flight" in answer.text
        result = await asyncio.wait_for(play.result(), SPENT)
        assert result.outcomes == {ZoneOutcome.ABORTED: ZONES}
        assert await play.commits() == []
        await play.check_rules(absent={1, 2, 3, 4, 5, 8, 9})
        assert await _given_up_then_told(play)


async def _given_up_then_told(play: Scene) -> bool:
    """Whether no zone was told before the archive had answered for the permits."""
    names: dict[int, str] = {}
    async for event in play.campaign.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            scheduled = event.activity_task_scheduled_event_attributes
            names[event.event_id] = scheduled.activity_type.name
            if any(b'"signal":"stop"' in payload.data for payload in scheduled.input.payloads):
                return False
        done = names.get(event.activity_task_completed_event_attributes.scheduled_event_id)
        if done == "give_up_permits":
            return True
    raise AssertionError("no permits were given up")


async def test_a_change_that_never_had_a_place_had_no_turn(temporal_client: Client, tmp_path: Path) -> None:
    """Its permit runs out behind another change: it asks again a minute later, and is not refused for it."""
    more = {"commit": {"lease": "4s"}, "interceptors": [stalls := Stalled("change_zone")]}
    async with spent(temporal_client, tmp_path, zones=3, at_once=1, **more) as play:
        names = [zone.name for zone in play.fleet.zones]

        async def two_pause() -> bool:
            return sorted([await _late_and_pauses(play, name) for name in names]) == [(0, 0), (1, 1), (1, 1)]

        await eventually(two_pause, what="the zones behind the first pause before the next turn")
        assert await play.commits() == []
        stalls.go.set()


async def _late_and_pauses(play: Scene, name: str) -> tuple[int, int]:
    """How many changes of a zone never began, and how often it has paused since as for a turn."""
    late = pauses = 0
    async for event in play.zone(name).fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
            info = event.activity_task_timed_out_event_attributes.failure.timeout_failure_info
            late += info.timeout_type == TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
        if event.event_type == EventType.EVENT_TYPE_TIMER_STARTED:
            seconds = event.timer_started_event_attributes.start_to_fire_timeout.seconds
            pauses += seconds == WITHOUT_A_TURN.total_seconds()
    return late, pauses
