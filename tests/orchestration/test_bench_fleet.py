"""The measurements of fleets on real processes: what they count is what the simulator and Temporal have."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from bench.fleet.campaign import Course, ended, measured
from bench.fleet.goals import with_broken
from bench.fleet.growing import Growing
from bench.fleet.many import Many, measured_many, plan_on
from bench.fleet.parts import KEYS
from bench.fleet.stuck import RULES, Stuck, measured_stuck
from bench.naive import measure_naive
from bench.stand import simulator
from bench.waf import INSTANT, equal_zones
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignResult
from edgeshift.model.fleet import assessment_id
from edgeshift.operations.campaigns import describe
from edgeshift.stores.archive import Archive
from tests.kit.queue import on_queue

pytestmark = pytest.mark.embedded


async def test_the_naive_flow_makes_five_calls_a_zone(temporal_client: Client, tmp_path: Path) -> None:
    """Those that a Professional zone cannot do without, each once, and the zone is migrated."""
    fleet = equal_zones("pro", 4)
    async with simulator(fleet, tmp_path / "service", INSTANT) as service:
        zones = [zone.id for zone in fleet.zones]
        rate = await measure_naive(temporal_client, service.base_url, fleet.credentials[0].value, zones, 2)
        journal = await service.control.journal()
        states = {(await service.control.get(f"zones/{zone}"))["migration_state"] for zone in zones}
    assert rate > 0
    assert states == {"complete"}
    calls = Counter((entry["zone"], entry["call"]) for entry in journal)
    names = ("waf.config", "pagerules.list", "entrypoint.put", "waf.status", "entrypoint.get")
    assert calls == Counter({(zone, name): 1 for zone in zones for name in names})


async def test_a_campaign_whose_people_have_left_is_not_waited_for(temporal_client: Client) -> None:
    """Nobody would sign any more: it ends with an error, and not never."""
    handle = await temporal_client.start_workflow(
        "Campaign", id=f"campaign/{uuid.uuid4()}", task_queue="nobody-is-here", result_type=CampaignResult
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="ended with 3"):
        await asyncio.wait_for(ended(handle, process), 30)
    await handle.terminate()


async def test_a_plan_goes_on_whose_measurement_was_ended(temporal_client: Client, tmp_path: Path) -> None:
    """Ctrl-C neither cancels it, nor does the next measurement begin it again."""
    client = on_queue(temporal_client, f"nobody-{uuid.uuid4()}")
    archive = Archive(tmp_path.as_uri())
    spec = CampaignSpec.model_validate({"name": f"many-{uuid.uuid4()}", "targets": {"all": True}})
    runs = []
    for _ in range(2):
        waiting = asyncio.create_task(plan_on(client, archive, spec))
        await until(lambda: describe(client, assessment_id(spec.name)))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        described = await describe(client, assessment_id(spec.name))
        assert described is not None and described.status is WorkflowExecutionStatus.RUNNING
        runs.append((described.run_id, described.history_length))
    # Nobody has asked for its end, either.
    assert runs == [(runs[0][0], 2)] * 2
    await client.get_workflow_handle(assessment_id(spec.name)).terminate()


async def until(found: Callable[[], Awaitable[object]]) -> None:
    """Return once there is something; the test's own limit ends the waiting."""
    # The server tells nobody of an execution: it is asked.
    while not await found():  # noqa: ASYNC110
        await asyncio.sleep(0.1)


async def test_a_campaign_is_looked_at_without_a_worker(temporal_client: Client) -> None:
    """What each of its runs began with, and how long its history is; one that is not there is no error."""
    workflow = f"campaign/{uuid.uuid4()}"
    growing = Growing(temporal_client, workflow)
    await growing.look()
    assert growing.seen == []
    for size in (100, 5_000):
        handle = await temporal_client.start_workflow(
            "Campaign", "x" * size, id=workflow, task_queue="nobody-is-here"
        )
        await growing.look()
        await growing.look()
        await handle.terminate()
    assert [(one.state_bytes, one.events) for one in growing.seen] == [
        (102, 2),
        (102, 2),
        (5_002, 2),
        (5_002, 2),
    ]


@pytest.mark.long
@pytest.mark.stack
@pytest.mark.timeout(600)
async def test_a_campaign_at_the_limit_leaves_every_figure(tmp_path: Path) -> None:
    """Of a small one: nothing is lost, no rule is broken, and each figure that is told is there."""
    course = Course(name="small", zones=12, enterprise=4, fingerprints=3, scale=100.0, pause_every=3.0)
    told: list[str] = []
    found = await measured(course, tmp_path / "state", told.append)
    assert found["outcomes"] == {"migrated": 12}
    assert found["lost"] == 0
    assert with_broken(found)["rules_broken"] == 0, found["rules"]
    assert [rule["rule"] for rule in found["rules"] if not rule["checked"]] in ([4], [4, 7])
    assert {key for key in KEYS if found[key] is None} == set()
    assert found["own_429"] == 0
    assert found["calls_per_zone"]["pro"] >= 5
    assert found["calls_per_zone"]["plan"] > 1
    assert found["calls_per_zone"]["evidence"] == 3
    assert {what for what, points in found["plots"].items() if len(points) > 1} == {
        "calls_per_second",
        "worker_rss_mb",
        "campaign_state_bytes",
        "campaign_history_events",
    }
    assert found["answer_p99_seconds"]["status"] is not None
    assert found["answer_seconds"]["sign_off"]["count"] >= 1
    assert found["makespan_ratio"] >= 1
    assert not (tmp_path / "state").exists()


@pytest.mark.long
@pytest.mark.stack
@pytest.mark.timeout(600)
async def test_one_campaign_over_many_zones_is_measured_stage_by_stage(tmp_path: Path) -> None:
    """Of a few: all wait, are signed by three people, the sweep finds who was ended, some are migrated."""
    many = Many(
        name="few", zones=40, fingerprints=4, waves=2, settled=2, terminated=2, sweep_within=300, migrated=10
    )
    told: list[str] = []
    found = await measured_many(many, tmp_path / "few", "code", told.append)
    assert found["waiting"]["waiting"] == 38
    assert (found["signed"]["fingerprints"], found["signed"]["refused"]) == (4, 0)
    assert len(found["signed"]["sign_off_seconds"]) == len(found["signed"]["statement_seconds"]) == 3
    assert found["sweep"]["found_share"] == 1
    assert found["migrated"]["migrated"] >= 10
    assert found["double_commits"] == 0
    assert found["state_bytes"] > 0
    assert found["migrated"]["plots"]["campaign_state_bytes"][-1][1] > 0
    assert not found["listed"]["went_on"]


@pytest.mark.long
@pytest.mark.stack
@pytest.mark.timeout(600)
async def test_a_campaign_whose_zones_are_stuck_is_stopped(tmp_path: Path) -> None:
    """Of a few: all are committed or have a permit when it is paused, and nothing is sent after a stop."""
    told: list[str] = []
    part = Stuck(name="stuck", zones=10, pauses=2, turns_for=3.0)
    found = await measured_stuck(part, tmp_path / "state", told.append)
    assert (found["stuck"], found["waiting_for_a_turn"]) == (9, 1)
    # The tenth had no turn, and pauses: it counts as in flight until it says that it gives its permit back.
    assert found["abort_told_of"] in (9, 10)
    assert (found["sent_after_pause"], found["sent_after_abort"], found["double_commits"]) == (0, 0, 0)
    assert {what: len(some) > 0 for what, some in found["answers_seconds"].items()} == dict.fromkeys(
        ("status", "pause", "abort"), True
    )
    assert {rule["rule"] for rule in found["rules"]} == RULES
    assert with_broken(found)["rules_broken"] == 0, found["rules"]
    assert not (tmp_path / "state").exists()
