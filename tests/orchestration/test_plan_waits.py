"""A plan in whose middle the service stops answering, or refuses the credential: it waits, and keeps what it
has read.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.circuit import HeldCallActivities, HeldHere
from activities.connections import Connections
from activities.targets import TargetActivities, line_of
from edgeshift.messages import AssessmentResult, MergeAssessment, PlanReport
from edgeshift.model.fleet import Plan, Target, Zone, quota_id
from edgeshift.operations import assess
from edgeshift.operations.campaigns import store_spec
from edgeshift.rate_limit.circuit import Standing
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.documents import AssessedTargets, FrozenTargets, get_document, put_document
from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.held import TROUBLES, calls_since, fault, few, last, watched
from worker.wiring import area_work, workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ZONES = 40
"""Two batches."""

FLEET = tuple({"name": f"z{number}.example", "plan": "pro"} for number in range(ZONES))

WORDS = {"revoked": "the service refuses the credential", "outage": "does not answer as it should"}


def planning(play: Scene, told: list[str]) -> asyncio.Task[tuple[PlanReport, AssessmentResult]]:
    """The plan of the scene's campaign, under way."""
    return asyncio.create_task(assess(play.client, play.archive, play.spec, trouble=told.append))


async def zones_asked(play: Scene, after: int, before: int | None = None) -> Counter[str]:
    """The answered calls for each zone between two entries of the journal."""
    found = [one for one in await calls_since(play, after) if one["zone"] and one["status"] == 200]
    return Counter(one["zone"] for one in found if before is None or one["seq"] <= before)


@pytest.mark.parametrize("named", ["revoked", pytest.param("outage", marks=pytest.mark.long)])
async def test_a_plan_waits_until_calls_go_again_and_reads_nothing_twice(
    named: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Whoever waits for it is told why; hardly a call is made meanwhile; then it goes on by itself."""
    async with scene(temporal_client, tmp_path, fleet_of(*FLEET), begin=False, paced=True) as play:
        began, told = await last(play), list[str]()
        async with fault(play, TROUBLES[named], nth=100):
            plan = planning(play, told)
            await eventually(
                lambda: _ready(plan.done() or any(WORDS[named] in why for why in told)), 60, "it waits"
            )
            assert not plan.done(), plan
            stopped = await last(play)
            assert few(await watched(play)) and not plan.done()
        report, result = await asyncio.wait_for(plan, 120)
        assert result.count == ZONES and not [line.error for line in report.zones if line.error]
        await _read_once(play, began, stopped)


@pytest.mark.long
async def test_a_worker_that_takes_a_waiting_plan_over_goes_on_with_it(
    temporal_client: Client, tmp_path: Path
) -> None:
    """As where a credential's variable takes another start of the worker."""
    async with scene(temporal_client, tmp_path, fleet_of(*FLEET), serve=False) as play:
        serving: dict[str, Any] = {"grace": timedelta(seconds=5)}
        began, told = await last(play), list[str]()
        async with fault(play, TROUBLES["revoked"], nth=100):
            async with workers(play.client, play.settings, **serving):
                plan = planning(play, told)
                await eventually(lambda: _ready(plan.done() or bool(told)), 60, "it waits")
                stopped = await last(play)
            assert not plan.done()
            fixed = workers(play.client, play.settings, **serving)
        async with fixed:
            report, _ = await asyncio.wait_for(plan, 120)
        assert not [line.error for line in report.zones if line.error]
        await _read_once(play, began, stopped)


async def test_a_worker_without_the_secret_holds_no_calls_of_the_user(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may have it, and campaigns of theirs go on; the plan does too, once the secret is there."""
    async with scene(temporal_client, tmp_path, fleet_of(*FLEET), begin=False, paced=True) as play:
        credential = play.spec.service.credentials[0]
        variable, told = credential.reference.removeprefix("env:"), list[str]()
        secret, before = os.environ[variable], await last(play)
        plan = planning(play, told)
        await eventually(lambda: _read(play, before, 4), 60, "it reads")
        with monkeypatch.context() as patch:
            patch.delenv(variable)
            await eventually(
                lambda: _ready(plan.done() or any("was not found" in why for why in told)), 60, "it waits"
            )
            await asyncio.sleep(3)
            assert not plan.done(), plan
            quota = play.client.get_workflow_handle(quota_id(play.spec.service.caller(credential)))
            assert (await quota.query("standing", result_type=Standing)).holds == ()
        assert os.environ[variable] == secret
        report, result = await asyncio.wait_for(plan, 120)
        assert result.count == ZONES and not [line.error for line in report.zones if line.error]


async def test_putting_a_plan_together_waits_and_tells_why(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the worker has to ask the service what time it is, and lacks the secret for a while."""
    fleet = fleet_of({"name": "merged.example", "plan": "enterprise"})
    async with scene(temporal_client, tmp_path, fleet, serve=False, area="esc") as play:
        connections = Connections(
            play.client, play.archive, SystemClock(), lambda credential, spec: Unpaced(), str(tmp_path)
        )
        held = HeldHere(connections.clock)
        work = TargetActivities(connections, area_work(connections), HeldCallActivities(connections, held))
        digest = await store_spec(play.archive, play.spec)
        zone = Target(zone=Zone(id=play.fleet.zones[0].id, name="m", account="a" * 32, plan=Plan.PRO), wave=0)
        part = await put_document(play.archive, AssessedTargets((line_of(0, zone),)))
        message = MergeAssessment(
            spec=digest,
            targets=await put_document(play.archive, FrozenTargets((zone,))),
            # Two batches have read it.
            reports=(part, part),
        )
        told = list[tuple[Any, ...]]()
        environment = ActivityEnvironment()
        environment.on_heartbeat = lambda *details: told.append(details)
        reference = play.spec.service.credentials[0].reference
        with monkeypatch.context() as patch:
            patch.delenv(reference.removeprefix("env:"))
            merging = asyncio.create_task(environment.run(work.merge, message))
            await eventually(lambda: _ready(merging.done() or bool(told)), 60, "it waits")
            assert not merging.done(), merging
        found = await asyncio.wait_for(merging, 60)
        assert found.count == 1 and f"{reference} was not found" in told[0][0].why
        assert (
            told[-1] == ()
            and (await held.standing(play.spec.service.caller(play.spec.service.credentials[0]))).holds == ()
        )
        report = await get_document(play.archive, PlanReport, found.report)
        assert report.service_time and report.service_time < report.made_at and len(report.zones) == 1


async def _read(play: Scene, after: int, zones: int) -> bool:
    return len(await zones_asked(play, after)) >= zones


async def _ready(found: bool) -> bool:
    return found


async def _read_once(play: Scene, began: int, stopped: int) -> None:
    """Of the zones that were read before calls were stopped only those that were under way are read again."""
    before, after = await zones_asked(play, began, stopped), await zones_asked(play, stopped)
    each = max(after.values())
    assert len(before) >= 4 and sum(1 for asked in before.values() if asked >= each) >= 4
    assert set(before) | set(after) == {item.id for item in play.fleet.zones}
    assert len(set(before) & set(after)) <= 2, (before, after)
