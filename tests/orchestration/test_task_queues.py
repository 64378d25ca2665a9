"""What people wait for never queues behind what the service is slow about: task queues, each with slots
of its own.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle

from edgeshift.doctor.checks import check_workers
from edgeshift.messages import Answer, Blocked, ZonePhase
from edgeshift.model.fleet import ZoneOutcome, quota_id
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings, TemporalSettings, WorkerSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.queue import on_queue
from worker.wiring import WORKFLOWS, activities_of, workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

STUCK = 8
"""Zones whose change never shows; the worker has slots to look at two of them."""

WAITING = 3
"""Zones that are signed, and wait until one of the others has settled."""

FEW = {"long_activities": 2, "long_activity_pollers": 2}

PROMPTLY = 2.0
"""Seconds, on a machine that does other things too."""


async def queues_of(handle: WorkflowHandle[object, object]) -> dict[str, str]:
    """The task queue of each activity in a workflow's history, and under its type that of the workflow."""
    found: dict[str, str] = {}
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            begun = event.workflow_execution_started_event_attributes
            found[begun.workflow_type.name] = begun.task_queue.name
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            sent = event.activity_task_scheduled_event_attributes
            found[sent.activity_type.name] = sent.task_queue.name
    return found


async def test_each_activity_is_sent_to_the_queue_of_its_kind(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A campaign's own work to control, a change to changes, looking at it to long; by the histories."""
    tag = f"queues-{uuid.uuid4().hex[:8]}"
    fleet = fleet_of({"name": f"a.{tag}.example", "plan": "pro"})
    async with scene(on_queue(temporal_client, tag), tmp_path, fleet, paced=True) as play:
        await play.sign_everything()
        quota = temporal_client.get_workflow_handle(_quota(play))
        found = {
            **await queues_of(play.campaign),
            **await queues_of(play.zone(f"a.{tag}.example")),
            **await queues_of(temporal_client.get_workflow_handle(f"targets/{play.spec.name}")),
            **await queues_of(quota),
        }
        await quota.terminate("the scene is over")
    control, zones, changes, long, at = (f"{tag}-{queue.short}" for queue in Queue)
    assert found == {
        "Campaign": control,
        "TargetList": control,
        "describe_zones": control,
        "recall_rulings": control,
        "record_rulings": control,
        "start_zones": control,
        "tell_zones": control,
        "resolve_targets": long,
        "WafZone": zones,
        "prepare_waf_zone": long,
        "change_zone": changes,
        "verify_waf_zone": long,
        "Quota": at,
    }


def test_changes_are_made_on_a_queue_of_their_own_alone() -> None:
    """Whoever serves it makes changes and does nothing else; nobody makes one on another queue, so that only
    its workers need a token that may edit.
    """
    own = activities_of(SimpleNamespace(clock=None), SimpleNamespace())  # type: ignore[arg-type]
    names = {queue: [_named(work) for work in some] for queue, some in own.items()}
    assert names[Queue.CHANGES] == ["change_zone"] and WORKFLOWS[Queue.CHANGES] == []
    assert not any("change_zone" in some for queue, some in names.items() if queue is not Queue.CHANGES)


def _named(work: Callable[..., Any]) -> str:
    """As a worker registers it."""
    return str(getattr(work, "__temporal_activity_definition").name)  # the SDK's own name of it


async def test_doctor_names_the_queue_that_nobody_polls(tmp_path: Path) -> None:
    """A worker may serve some queues only; the others need one too."""
    # A server of its own: others remember for minutes who polled.
    async with embedded_temporal(None) as server:
        client = await connect(TemporalSettings(address=server.address))
        for queues, said in (
            ("control,zones,changes,quota", f"no worker polls task queue {Queue.LONG}"),
            ("long", "1 worker connected: "),
        ):
            settings = Settings(state_dir=tmp_path, worker=WorkerSettings(queues=queues))
            async with workers(client, settings, grace=timedelta(seconds=1)):

                async def told(said: str = said) -> bool:
                    return (await check_workers(client)).text.startswith(said)

                await eventually(told, what=said)


async def test_pause_and_abort_answer_while_everything_else_is_stuck(
    temporal_client: Client, tmp_path: Path
) -> None:
    """More zones are looked at than there are slots for, and no call may be made: a pause is answered and
    holds; an abort is, and the zones that wait for their turn end at once.
    """
    tag = f"stuck-{uuid.uuid4().hex[:8]}"
    names = [f"z{number}.{tag}.example" for number in range(STUCK + WAITING)]
    fleet = fleet_of(*({"name": name, "plan": "pro"} for name in names))
    async with scene(
        on_queue(temporal_client, tag),
        tmp_path,
        fleet,
        paced=True,
        worker=FEW,
        simulator={"migration_seconds": 100_000_000},
        commit={"migration_limit": "60d"},
        window=STUCK,
    ) as play:
        await play.until(lambda seen: sum(item.zones for item in seen.waiting) == len(names))
        await play.sign([item.fingerprint for item in (await play.summary()).waiting])

        async def all_sent() -> bool:
            return await commits(play) == STUCK

        await eventually(all_sent, what="every place of the window is used")
        quota = temporal_client.get_workflow_handle(_quota(play))
        await quota.signal("blocked", Blocked(seconds=600))
        paused = await _within(play, "pause")
        assert (await play.summary()).state == "paused"
        await asyncio.sleep(1)
        assert await commits(play) == STUCK
        await play.ask("resume")
        aborted = await _within(play, "abort")
        assert len(aborted.sent) == STUCK
        ends = asyncio.gather(*(play.outcome(name) for name in await _unsent(play, names)))
        assert await asyncio.wait_for(ends, 10 * PROMPTLY) == [ZoneOutcome.ABORTED] * WAITING
        assert await commits(play) == STUCK
        assert paused.text
        await quota.terminate("the scene is over")


async def test_evidence_that_waits_for_its_turn_holds_no_workflow_task_open(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its window is over, and no call may be made: the zone answers a query, no workflow task of it is open,
    and an abort ends it at once.
    """
    tag = f"evidence-{uuid.uuid4().hex[:8]}"
    name = f"big.{tag}.example"
    fleet = fleet_of({"name": name, "plan": "enterprise"})
    async with scene(
        on_queue(temporal_client, tag), tmp_path, fleet, paced=True, validation={"window": "8h"}
    ) as play:
        await play.zone_until(name, lambda found: found.phase is ZonePhase.VALIDATING)
        quota = temporal_client.get_workflow_handle(_quota(play))
        await quota.signal("blocked", Blocked(seconds=600))
        await play.zone_until(name, lambda found: found.phase is ZonePhase.GATHERING_EVIDENCE)

        async def is_read() -> bool:
            pending = (await play.zone(name).describe()).raw_description.pending_activities
            return [one.activity_type.name for one in pending] == ["gather_evidence"]

        await eventually(is_read, what="the evidence is being read")
        for _ in range(5):
            await asyncio.sleep(0.3)
            described = (await play.zone(name).describe()).raw_description
            assert not described.HasField("pending_workflow_task")
        assert (await queues_of(play.zone(name)))["gather_evidence"] == f"{tag}-{Queue.LONG.short}"
        await _within(play, "abort")
        assert await asyncio.wait_for(play.outcome(name), 10 * PROMPTLY) is ZoneOutcome.ABORTED
        await quota.terminate("the scene is over")


async def commits(play: Scene) -> int:
    """How many commits the service has seen."""
    return sum(entry["method"] == "PUT" for entry in await play.journal())


async def _within(play: Scene, update: str) -> Answer:
    asked = time.monotonic()
    answer = await asyncio.wait_for(play.ask(update), 60)  # type: ignore[arg-type]
    took = time.monotonic() - asked
    assert took < PROMPTLY, f"{update} took {took:.1f} s"
    return answer


async def _unsent(play: Scene, names: list[str]) -> list[str]:
    sent = {entry["zone"] for entry in await play.journal() if entry["method"] == "PUT"}
    return [name for name in names if play.zone_id(name) not in sent]


def _quota(play: Scene) -> str:
    service = play.spec.service
    return quota_id(service.caller(service.credentials[0]))
