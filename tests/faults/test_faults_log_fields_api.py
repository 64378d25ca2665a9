"""Each fault of the service at each call of log-fields, once: fields and jobs are never left in part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from tests.faults_kit import Stage
from tests.harness.campaigns import WANTED_FIELDS, shown
from tests.harness.oracles import Ending, Logged, log_complaints
from tests.harness.service_faults import FAULTS, limit_for
from tests.harness.share import shared
from tests.harness.stages import LISTS, LOG_FIELDS, log_stage, log_zone, over

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(600)]

READS: dict[str, tuple[str, int]] = {
    "list1": ("rulesets.list", 1),
    "list2": ("rulesets.list", 2),
    "list3": ("rulesets.list", 3),
    "rules1": ("rulesets.get", 1),
    "rules2": ("rulesets.get", 2),
    "rules3": ("rulesets.get", 3),
    "jobs1": ("logpush.jobs.list", 1),
    "jobs2": ("logpush.jobs.list", 2),
    "jobs3": ("logpush.jobs.list", 3),
    "job1": ("logpush.jobs.get", 1),
    "job2": ("logpush.jobs.get", 2),
}
"""Zones by the reading that goes wrong for them, and the how manieth of its kind."""

WRITES: dict[str, tuple[str, int]] = {"put": ("rulesets.put", 1), "update": ("logpush.jobs.update", 1)}
CREATES: dict[str, tuple[str, int]] = {"create": ("rulesets.create", 1), "bareput": ("rulesets.put", 1)}
NEW_JOBS: dict[str, tuple[str, int]] = {
    "challenge": ("logpush.ownership", 1),
    "validate": ("logpush.ownership.validate", 1),
    "newjob": ("logpush.jobs.create", 1),
}
BACK: dict[str, tuple[str, int]] = {"backput": ("rulesets.put", 2), "backjob": ("logpush.jobs.update", 2)}


async def book(stage: Stage, fault: str, where: dict[str, tuple[str, int]]) -> None:
    """Let each zone's call go wrong, once."""
    for short, (call, nth) in where.items():
        match = {"call": call, "zone": stage.id(short), "nth": nth}
        await stage.play.control.send("POST", "faults", {**FAULTS[fault], "match": match, "times": 1})


async def complaints(stage: Stage, before: dict[str, dict[str, Any]]) -> list[str]:
    """What the oracle has against any zone."""
    after, found = await shown(stage), []
    for name in stage.names:
        result = await stage.play.zone(stage.name(name)).result()
        ending = Ending(name, result.outcome.value, result.reason)
        then, now = Logged.of(before[name]), Logged.of(after[name])
        found += log_complaints(ending, then, now, WANTED_FIELDS, LISTS)
    return found


@pytest.mark.parametrize("fault", shared("faults of log-fields", FAULTS))
async def test_a_fault_at_any_call_of_log_fields_leaves_nothing_in_part(
    fault: str, temporal_client: Client, tmp_path: Path
) -> None:
    """All of it settled, or all of it taken back; a fault at a reading costs nothing."""
    zones = [log_zone(name, foreign=True) for name in (*READS, *WRITES)]
    zones += [log_zone(name) for name in CREATES]
    zones += [log_zone(name, job=False) for name in NEW_JOBS]
    async with log_stage(
        temporal_client, tmp_path, *zones, begin=False, window=40, request_limit=limit_for(fault)
    ) as stage:
        before = await shown(stage)
        await book(stage, fault, READS | WRITES | CREATES | NEW_JOBS)
        await stage.play.begin()
        result = await stage.finish(300)
        found = await complaints(stage, before)
        assert not found
        reasons = {name: (await stage.play.zone(stage.name(name)).result()).reason for name in stage.names}
        assert sum(result.outcomes.get(one, 0) for one in ("settled", "rolled_back")) == len(zones), reasons
        for name in READS:
            assert (await stage.outcome(name)).value == "settled", (name, reasons[name])
        await stage.check({4, 7})


@pytest.mark.parametrize("fault", shared("faults of the way back", FAULTS))
async def test_a_fault_on_the_way_back_leaves_nothing_behind(
    fault: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Nobody sees an entry: rules and jobs are as they were, whatever goes wrong while they are undone."""
    terms = over(LOG_FIELDS, log_fields={"unverified": "roll_back"})
    zones = [log_zone(name, foreign=True) for name in BACK]
    async with log_stage(
        temporal_client, tmp_path, *zones, begin=False, request_limit=limit_for(fault), **terms
    ) as stage:
        before = await shown(stage)
        await book(stage, fault, BACK)
        await stage.play.begin()
        result = await stage.finish(300)
        assert not await complaints(stage, before)
        assert result.outcomes == {"rolled_back": len(zones)}
        await stage.check({4, 7})
