"""Many permits are given up at once: in batches side by side, which several workers share."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

from activities.change.door import MutationActivities
from edgeshift.messages import GiveUpPermits, Permit, PermitsGivenUp, Step, ZoneStart
from edgeshift.model.fleet import Target
from edgeshift.runtime.queues import Queue
from edgeshift.stores.documents import FrozenTargets, encoded
from tests.kit.queue import on_queue
from tests.service.gate_kit import gate
from workflows.campaign.batches import SIDE_BY_SIDE, Batches

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

MANY = 2_000
"""Permits that are out."""


@workflow.defn(name="GivesUp", sandboxed=False)
class GivesUp:
    """A campaign's part that gives up every permit of its list."""

    @workflow.run
    async def run(self, start: ZoneStart, targets: str) -> PermitsGivenUp:
        """Give them up; ``start``: of one of its zones."""
        known = SimpleNamespace(targets=targets, area=start.area, policy=start.policy, archive="")
        batches = Batches(SimpleNamespace(start=known, origin="r", unasked=[]))  # type: ignore[arg-type]
        later = workflow.now() + timedelta(minutes=5)
        return await batches.give_up(
            [
                Permit(number=number, name=f"p-{number}", index=number, step=Step.COMMIT, expires_at=later)
                for number in range(MANY)
            ]
        )


class Counted(MutationActivities):
    """Gives permits up, and counts the batches, and how many there are at a time."""

    now = most = batches = 0

    @activity.defn(name="give_up_permits")
    async def give_up_permits(self, batch: GiveUpPermits) -> PermitsGivenUp:
        """The real one."""
        self.now, self.batches = self.now + 1, self.batches + 1
        self.most = max(self.most, self.now)
        try:
            return await super().give_up_permits(batch)
        finally:
            self.now -= 1


async def test_permits_are_given_up_in_batches_side_by_side(temporal_client: Client, tmp_path: Path) -> None:
    """Whoever pauses a campaign waits for all of them. Each is given up, once."""
    client = on_queue(temporal_client, f"permits-{uuid.uuid4().hex[:8]}")
    async with gate(tmp_path) as play:
        zone, archive = play.zone, play.connections.archive
        play.connections.temporal = client
        zones = (
            zone.model_copy(update={"id": f"{number:032x}", "name": f"z{number}.example"})
            for number in range(MANY)
        )
        targets = await archive.put_object(
            encoded(FrozenTargets(tuple(Target(zone=one, wave=0) for one in zones)))
        )
        create = archive.create_once

        async def slow(key: str, data: bytes, *, lasting: bool = True) -> bool:
            await asyncio.sleep(0.001)
            return await create(key, data, lasting=False)

        archive.create_once = slow  # type: ignore[method-assign]
        counted = Counted(play.connections, {})
        async with Worker(
            client, task_queue=Queue.CONTROL, workflows=[GivesUp], activities=[counted.give_up_permits]
        ):
            found = await client.execute_workflow(
                "GivesUp",
                args=[play.start, targets],
                id=f"gives-up-{uuid.uuid4().hex[:8]}",
                task_queue=Queue.CONTROL,
                result_type=PermitsGivenUp,
            )
    assert found.given_up == tuple(range(MANY)) and found.over == ()
    assert counted.batches == 8
    assert 1 < counted.most <= SIDE_BY_SIDE
