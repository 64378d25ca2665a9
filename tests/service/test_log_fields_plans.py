"""Zones of log-fields that the campaign's list does not have as Enterprise zones, and their plans by now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.reading import read_sound, read_zone
from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import ChangeStatus, Step, ZoneAssessment
from edgeshift.model.fleet import Plan
from tests.service.log_writes_kit import WANTED, Writes, log_writes

JOB: dict[str, Any] = {"destination": "r2://bank/logs", "logpull_options": "fields=RayID", "name": "theirs"}


@asynccontextmanager
async def listed_as(folder: Path, plan: Plan, shown: dict[str, Any] | None) -> AsyncIterator[Writes]:
    """An Enterprise zone, listed with another plan. ``shown``: the plan that it tells itself, if not that."""
    async with log_writes(folder, JOB) as writes:
        play = writes.play
        play.zone = play.zone.model_copy(update={"plan": plan})
        target = play.start.target.model_copy(update={"zone": play.zone})
        play.start = play.start.model_copy(update={"target": target})
        if shown is not None:
            await writes.fault("wrong_types", "zones.get", times=None, replace={"/result/plan": shown})
        yield writes


async def line_of(writes: Writes) -> ZoneAssessment:
    """The plan's line for the zone."""
    play = writes.play
    spec, line = await play.connections.spec(play.start.spec), ZoneAssessment(index=0, zone=play.zone)
    return await LogFieldsWork(play.connections).assess(play.start.spec, spec, play.start.target, line)


async def test_a_zone_whose_plan_was_not_listed_says_it_itself(tmp_path: Path) -> None:
    """The plan, and the change that was signed by it."""
    async with listed_as(tmp_path, Plan.OTHER, None) as writes:
        line = await line_of(writes)
        assert (line.verdict, line.causes) == (Verdict.READY, [])
        fields = log_fields.fields_document(WANTED)
        body = {"name": "log_fields", "fields": fields, "jobs": {"list": [], "new": None}}
        LogFieldsWork(writes.play.connections).check(await writes.play.message(body, body), body)
        result = await writes.whole(Step.COMMIT)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        assert len(await writes.descriptions()) == 2


async def test_a_zone_that_was_upgraded_since_it_was_listed_is_read(tmp_path: Path) -> None:
    """A plan takes the word of its list, which is new, and asks nothing; a campaign asks."""
    async with listed_as(tmp_path, Plan.PRO, None) as writes:
        before = await writes.puts("zones.get")
        line = await line_of(writes)
        assert (line.verdict, line.causes) == (Verdict.BLOCKED, ["not_entitled"])
        assert await writes.puts("zones.get") == before
        reading = await read_zone(writes.client, writes.play.zone)
        assert (reading.plan, len(reading.jobs)) == (Plan.ENTERPRISE, 1)
        assert (await writes.whole(Step.COMMIT)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ({"legacy_id": "business"}, "this zone is business"),
        ({"legacy_id": None}, "the service does not say what plan this zone has, or names one that"),
        ({"legacy_id": "adaptive"}, "the service does not say what plan this zone has, or names one that"),
    ],
)
async def test_what_is_not_known_as_enterprise_is_not_changed(
    tmp_path: Path, shown: dict[str, Any], said: str
) -> None:
    """Whoever signed it; and a plan that is not told is not called one."""
    async with listed_as(tmp_path, Plan.OTHER, shown) as writes:
        line = await line_of(writes)
        assert (line.verdict, line.causes) == (Verdict.BLOCKED, ["not_entitled"])
        assert said in line.reasons[0] and "other" not in line.reasons[0]
        result = await writes.whole(Step.COMMIT)
        assert result.status is ChangeStatus.DRIFTED and said in result.reason
        assert await writes.puts("rulesets.put") == await writes.puts("logpush.jobs.put") == 0


async def test_a_zone_that_is_listed_as_enterprise_is_not_asked(tmp_path: Path) -> None:
    """No call more for it."""
    async with listed_as(tmp_path, Plan.ENTERPRISE, None) as writes:
        before = await writes.puts("zones.get")
        assert (await line_of(writes)).verdict is Verdict.READY
        assert (await writes.whole(Step.COMMIT)).status is ChangeStatus.ANSWERED
        assert await writes.puts("zones.get") == before


async def test_what_was_sent_is_looked_for_whatever_plan_is_told_by_then(tmp_path: Path) -> None:
    """A zone of which no plan is told seemed to have neither fields nor jobs: that what was sent is undone
    would have been signed.
    """
    async with listed_as(tmp_path, Plan.OTHER, None) as writes:
        assert (await writes.whole(Step.COMMIT)).status is ChangeStatus.ANSWERED
        await writes.fault("wrong_types", "zones.get", times=None, replace={"/result/plan": {}})
        reading = await read_sound(writes.client, writes.play.zone)
        assert reading.rules and reading.jobs
