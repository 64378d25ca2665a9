"""A plan's batch that goes on where an earlier attempt had come to."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import activity
from temporalio.testing import ActivityEnvironment

from activities.boundary import come_to, heartbeating
from activities.targets import LINES_OF_A_PART, TargetActivities
from edgeshift.messages import AssessBatch, AssessedBatch, ZoneAssessment
from edgeshift.model.fleet import Area, Plan, Target, Zone
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import AssessedTargets, get_document

FIRST, END = 7, 40


class Lost(Exception):
    """The worker is gone."""


class Plans:
    """A worker that makes lines of a plan, and is lost at some of the targets."""

    def __init__(self, folder: Path, *, lost_at: int | None = None) -> None:
        self.archive = Archive(Settings(state_dir=folder).archive)
        self.read: list[int] = []
        self.told: list[tuple[Any, ...]] = []
        self._lost_at = lost_at

    async def assess(self, digest: str, spec: Any, target: Target, line: ZoneAssessment) -> ZoneAssessment:
        """A line that says which target it is of."""
        if line.index == self._lost_at:
            raise Lost
        self.read.append(line.index)
        return line.model_copy(update={"fingerprint": f"of {line.index}"})

    async def run(self, *details: Any) -> AssessedBatch:
        """The batch, by an attempt that is handed these details."""

        async def targets(_: str) -> list[Target]:
            zones = (
                Zone(id=f"{n:032x}", name=f"{n}.example", account="a" * 32, plan=Plan.PRO) for n in range(END)
            )
            return [Target(zone=zone, wave=0) for zone in zones]

        async def spec(_: str) -> Any:
            return SimpleNamespace(area=Area.WAF)

        connections: Any = SimpleNamespace(archive=self.archive, targets=targets, spec=spec)
        works: Any = {Area.WAF: self}
        environment = ActivityEnvironment()
        environment.on_heartbeat = lambda *told: self.told.append(told)
        environment.info = dataclasses.replace(environment.info, heartbeat_details=details)
        batch = AssessBatch(spec="0" * 64, targets="0" * 64, first=FIRST, end=END)
        return await environment.run(TargetActivities(connections, works).assess, batch)


@pytest.mark.parametrize("lost_at", [FIRST, FIRST + 1, FIRST + LINES_OF_A_PART, FIRST + 23, END - 1])
async def test_what_was_read_by_a_worker_that_is_gone_is_not_read_again(lost_at: int, tmp_path: Path) -> None:
    """The report is that of one attempt, and what a heartbeat tells stays small."""
    gone = Plans(tmp_path, lost_at=lost_at)
    with pytest.raises(Lost):
        await gone.run()
    then = Plans(tmp_path)
    found = await then.run(*(gone.told[-1] if gone.told else ()))
    assert gone.read + then.read == list(range(FIRST, END))
    assert found == await Plans(tmp_path / "whole").run()
    lines = (await get_document(then.archive, AssessedTargets, found.report)).root
    assert [line.fingerprint for line in lines] == [f"of {index}" for index in range(FIRST, END)]
    assert all(len(told) <= -(-(END - FIRST) // LINES_OF_A_PART) for told in (*gone.told, *then.told))


async def test_a_batch_whose_parts_cannot_be_read_is_read_anew(tmp_path: Path) -> None:
    """As where the archive was moved meanwhile."""
    then = Plans(tmp_path)
    await then.run("f" * 64)
    assert then.read == list(range(FIRST, END))


async def test_each_heartbeat_tells_how_far_it_has_come() -> None:
    """At first what an earlier attempt had told: else a worker that is lost early would lose all of it."""
    told: list[tuple[Any, ...]] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: told.append(details)
    environment.info = dataclasses.replace(
        environment.info, heartbeat_details=("before",), heartbeat_timeout=timedelta(seconds=0.03)
    )

    @heartbeating
    async def work() -> int:
        await asyncio.sleep(0.05)
        come_to("further", 2)
        await asyncio.sleep(0.05)
        return activity.info().attempt

    assert await environment.run(work) == 1
    assert told[0] == ("before",) and told[-1] == ("further", 2)
    assert told == sorted(told, key=len) and told.count(("further", 2)) > 1
