"""A plan in whose middle the service stops answering, or refuses the credential: it waits, and keeps what it
has read.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import AssessmentResult, PlanReport
from edgeshift.operations import assess
from tests.held_kit import TROUBLES, calls_since, fault, few, last, watched
from tests.kit import Scene, eventually, fleet_of, scene
from worker.wiring import workers

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


async def _ready(found: bool) -> bool:
    return found


async def _read_once(play: Scene, began: int, stopped: int) -> None:
    """Of the zones that were read before calls were stopped only those that were under way are read again."""
    before, after = await zones_asked(play, began, stopped), await zones_asked(play, stopped)
    each = max(after.values())
    assert len(before) >= 4 and sum(1 for asked in before.values() if asked >= each) >= 4
    assert set(before) | set(after) == {item.id for item in play.fleet.zones}
    assert len(set(before) & set(after)) <= 2, (before, after)
