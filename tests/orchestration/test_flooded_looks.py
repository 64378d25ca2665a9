"""A campaign looks at its zones while somebody has planted more records beside one of them than anybody looks
at: that one is unknown, and the others have their outcomes.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.boundary import heartbeating
from activities.comparing import Comparing
from activities.looks import Looks
from activities.waf.changes import WafWork
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import (
    ChangeStatus,
    ComparedOutcomes,
    CompareOutcomes,
    DescribedZones,
    DescribeZones,
    ZoneResult,
)
from edgeshift.model.fleet import Area, Target, Zone, ZoneOutcome, migration_id
from edgeshift.service_api import ServiceClient
from edgeshift.stores.documents import FrozenTargets, put_document
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import begun
from tests.service.test_looks_by_another_start import in_activity
from tests.service.test_many_planted_intents import few, flood

__all__ = ["few"]

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180), pytest.mark.usefixtures("few")]

FLOODED, OTHER = 0, 1
UNKNOWN, FAILED, MIGRATED = ZoneOutcome.UNKNOWN, ZoneOutcome.FAILED, ZoneOutcome.MIGRATED
FOUND, BACK = ZoneOutcome.ALREADY_MIGRATED, ZoneOutcome.ROLLED_BACK


@workflow.defn(name="EndedZone", sandboxed=False)
class EndedZone:
    """Ends at once, with what it was given."""

    @workflow.run
    async def run(self, result: ZoneResult) -> ZoneResult:
        """It."""
        return result


class Work(WafWork):
    """Reads the zone of the door at the service; the other one is as it was, or as all are said to be."""

    all: ZoneOutcome | None = None

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """Where it stands."""
        if self.all is not None or zone.name == "other.example":
            return self.all, "as it is said to be"
        return await super().standing(client, spec, zone, urgent=urgent)


@dataclass
class Play:
    """Two zones of a campaign, the first of which is flooded."""

    client: Client
    door: Guarded
    targets: list[Target]
    listed: str
    campaign: str

    async def looked(self, told: ZoneOutcome | None) -> dict[int, ZoneOutcome]:
        """What a batch of looks tells; ``told``: what their workflows ended with, where they are there."""
        start = self.door.gate.start
        if told is not None:
            await self._ended(ZoneResult(outcome=told))
        batch = DescribeZones(
            campaign=self.campaign,
            campaign_run=start.campaign_run,
            targets=self.listed,
            spec=start.spec,
            area=Area.WAF,
            indexes=(FLOODED, OTHER),
            attempts=(1, 1),
            expected=("", ""),
            settles_in=timedelta(0),
        )
        looks = Looks(self.door.gate.connections, {Area.WAF: Work(self.door.gate.connections)})

        @heartbeating
        async def look() -> DescribedZones:
            return await looks.at(batch, 0, DescribedZones())

        environment = begun()
        run = str(uuid.uuid4())
        environment.info = dataclasses.replace(environment.info, workflow_run_id=run)
        found = await environment.run(look)
        return {one.index: one.outcome for one in found.closed}

    async def _ended(self, result: ZoneResult) -> None:
        memo = {"campaign": self.campaign, "campaign_run": self.door.gate.start.campaign_run, "attempt": 1}
        async with Worker(
            self.client,
            task_queue=self.campaign,
            workflows=[EndedZone],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ):
            for target in self.targets:
                name = migration_id(target.zone, Area.WAF)
                await self.client.execute_workflow(
                    EndedZone.run, result, id=name, task_queue=self.campaign, memo=memo
                )

    async def compared(self, told: ZoneOutcome, shown: ZoneOutcome | None = None) -> ComparedOutcomes:
        """What the comparison at the close tells, which reads both. ``shown``: by the service."""
        start, there = self.door.gate.start, self.door.gate.connections
        batch = CompareOutcomes(
            origin=start.campaign_run,
            targets=self.listed,
            spec=start.spec,
            area=Area.WAF,
            indexes=(FLOODED, OTHER),
            attempts=(1, 1),
            outcomes=(told, told),
            settles_in=timedelta(0),
            read=frozenset({FLOODED, OTHER}),
        )
        work = Work(there)
        work.all = shown
        return await in_activity(lambda: Comparing(there, {Area.WAF: work}, batch).all(signed=True))

    async def sign(self, outcome: ZoneOutcome) -> None:
        """A worker signs it of the flooded zone."""
        door = self.door
        await in_activity(lambda: door.gate.connections.results.record(door.gate.start, outcome))


@asynccontextmanager
async def play(client: Client, folder: Path) -> AsyncIterator[Play]:
    """Both are as they were, and the first one can be changed; it is flooded by the test."""
    async with guarded(folder) as door:
        await door.begin()
        await door.approve()
        door.gate.connections.temporal = client
        first = door.gate.start.target
        zone = first.zone.model_copy(update={"id": uuid.uuid4().hex, "name": "other.example"})
        targets = [first, Target(zone=zone, wave=0)]
        listed = await put_document(door.archive, FrozenTargets(tuple(targets)))
        yield Play(client, door, targets, listed, f"migration/{uuid.uuid4().hex}")


@pytest.mark.parametrize("signed", [None, BACK, MIGRATED])
@pytest.mark.parametrize("told", [None, FAILED, BACK])
async def test_a_look_tells_the_others_of_a_batch_with_a_flooded_zone(
    temporal_client: Client, tmp_path: Path, told: ZoneOutcome | None, signed: ZoneOutcome | None
) -> None:
    """Whether their workflows are still there or not, and whatever a worker has signed of it before."""
    async with play(temporal_client, tmp_path) as on:
        if signed is not None:
            await on.sign(signed)
        flood(on.door, timedelta(days=1))
        assert await on.looked(told) == {FLOODED: UNKNOWN, OTHER: FAILED}


@pytest.mark.parametrize("told", [BACK, MIGRATED, FOUND])
async def test_a_comparison_goes_on_beside_a_flooded_zone(
    temporal_client: Client, tmp_path: Path, told: ZoneOutcome
) -> None:
    """What nobody can tell of that one is said; what is told of the other one is judged as ever."""
    async with play(temporal_client, tmp_path) as on:
        flood(on.door, timedelta(days=1))
        found = await on.compared(told)
        assert {one.index: one.shown for one in found.wrong} == {FLOODED: UNKNOWN, OTHER: FAILED}
        assert found.read == 2 and "more than" in found.wrong[FLOODED].said


async def test_a_flooded_zone_that_was_migrated_is_compared(temporal_client: Client, tmp_path: Path) -> None:
    """Whose rules it should run is not known then: it is told so, and the campaign can close."""
    async with play(temporal_client, tmp_path) as on:
        assert (await on.door.commit()).status is ChangeStatus.ANSWERED
        await on.sign(MIGRATED)
        flood(on.door, timedelta(days=1))
        found = await on.compared(MIGRATED)
        assert found.read == 2 and "more than" in found.wrong[FLOODED].said


async def test_nothing_is_signed_of_a_flooded_zone_that_is_told_as_found_migrated(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign itself may have migrated it; of the other one it is signed."""
    async with play(temporal_client, tmp_path) as on:
        flood(on.door, timedelta(days=1))
        await on.door.begin(targets=on.listed, count=2)
        assert (await on.compared(FOUND, MIGRATED)).wrong == ()
        start, there = on.door.gate.start, on.door.gate.connections
        spec = await there.spec(start.spec)
        signed = [
            set(await there.results.proven(spec, start.campaign_run, target.zone.id, 1))
            for target in on.targets
        ]
        assert signed == [set(), {FOUND}]
