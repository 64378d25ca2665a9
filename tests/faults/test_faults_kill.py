"""Workers are killed while targets are listed, and while people sign; tests/harness has every other place."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowQueryFailedError
from temporalio.service import RPCError

from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.harness.cases import World
from tests.harness.kills.scene import order_of, play
from tests.harness.kills.waf import COURSES
from tests.kit.faults import Stage, staged, zone
from tests.kit.faults_worker import Kill, supervised

pytestmark = [pytest.mark.embedded, pytest.mark.long]


async def test_a_worker_killed_while_targets_are_listed_delays_the_campaign_alone(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Listing is taken over by the next worker once the first one has been silent for half a minute."""
    kill = Kill("resolve_targets", 1, "after")
    verdict = await play(kill, COURSES["professional"], World(temporal_client, embedded.address, tmp_path))
    assert not verdict.complaints


async def test_a_campaign_goes_on_when_people_sign_while_workers_die(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """A sign-off that comes with the task of a dead worker is recorded in an order that does not replay; the
    next worker, which has nothing in its cache, fixes the campaign, and the sign-off still counts.
    """
    kill = Kill("start_zones", 1, "after")
    async with staged(
        temporal_client, tmp_path, zone("shop"), serve=False, sign_off={"required": 2}
    ) as stage:
        order = order_of(stage, embedded.address, tmp_path, [kill])
        async with supervised(order):
            await stage.play.begin()
            await _sign_at_once(stage, "ann")
        async with supervised(order_of(stage, embedded.address, tmp_path)):
            await _sign_at_once(stage, "bob")
            await _migrated_once(stage)


async def test_a_change_that_no_worker_began_is_made_by_the_next(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Three workers die with it in hand, one after another. That nothing was sent is proved by the archive:
    nobody has to look, whatever the policy says of resends.
    """
    kills = [Kill("change_zone", nth, "before") for nth in (1, 1, 1)]
    async with (
        staged(
            temporal_client,
            tmp_path,
            zone("shop"),
            serve=False,
            request_limit="1s",
            commit={"resend_unchanged": 0},
        ) as stage,
        supervised(order_of(stage, embedded.address, tmp_path, kills)),
    ):
        await stage.play.begin()
        await _sign_at_once(stage, "ann")
        await _migrated_once(stage)


async def _migrated_once(stage: Stage) -> None:
    """The campaign ends with its zone migrated by one commit, and every rule holds."""
    result = await stage.play.result()
    await stage.closed(60)
    assert result.outcomes == {"migrated": 1}
    assert await stage.changes() == COURSES["professional"].changes
    await stage.check({3, 4, 7})


async def _sign_at_once(stage: Stage, by: str) -> None:
    """Sign what waits as soon as anybody answers."""
    async with asyncio.timeout(120):
        while True:
            try:
                if waiting := (await stage.play.summary()).waiting:
                    await stage.play.sign([item.fingerprint for item in waiting], by=by)
                    return
            except (RPCError, WorkflowQueryFailedError):
                pass
            await asyncio.sleep(0.1)
