"""Somebody cancels a zone's workflow while its commit is verified: it is seen through, as by a change that is
under way, and nothing more is begun.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ExecuteActivityInput

from edgeshift.messages import ZonePhase, ZoneResult
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode, codes_of
from tests.harness.aimed.waf import A_RULE
from tests.harness.campaigns.authority import ONE
from tests.kit import SCALE
from tests.kit.around import Around, Work
from tests.kit.cancelled import cancelled_as_it_waits
from tests.kit.faults import Stage, staged, zone
from worker.wiring import replayer

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

SLOW = 8
"""Seconds until a commit shows: the activity that is cancelled is over by then, on a busy machine too."""


async def cancelled(stage: Stage, short: str) -> ZoneResult:
    """How a zone ends whose workflow is cancelled while its commit is verified; its history replays."""
    await stage.waits(short, 90)
    await stage.play.sign_zone(stage.name(short))
    await stage.phase(short, ZonePhase.VERIFYING)
    handle = stage.play.zone(stage.name(short))
    await handle.cancel()
    found: ZoneResult = await asyncio.wait_for(handle.result(), 90)
    await replayer().replay_workflow(await handle.fetch_history())
    return found


async def test_a_commit_is_seen_through_though_its_workflow_is_cancelled(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The zone ended as unknown, with "Cancelled" for a reason, and without its record. Where the reading
    that was under way came to see the commit all the same, its campaign told the zone as migrated.
    """
    shows: dict[str, Any] = {
        "simulator": {"migration_seconds": SLOW * SCALE},
        "commit": {"migration_limit": f"{SLOW * 7}h"},
    }
    zones = zone("a"), zone("open", firewall_rules=[A_RULE])
    async with staged(temporal_client, tmp_path, *zones, authority=ONE, **shows) as stage:
        ended = await cancelled(stage, "a")
        assert (ended.outcome, bool(ended.record)) == (ZoneOutcome.MIGRATED, True), ended.reason
        await stage.play.until(lambda seen: seen.places.get("migrated") == 1, 60)
        assert [call for call, _ in await stage.changes("a")] == ["entrypoint.put"]


async def test_nothing_is_sent_again_once_its_workflow_is_cancelled(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The commit came to nothing, and the policy would send it again: the zone ends, and says why."""
    async with staged(temporal_client, tmp_path, zone("a"), begin=False) as stage:
        await stage.fault("server_error", "entrypoint.put", "a", effect="before", status=502)
        await stage.play.begin()
        ended = await cancelled(stage, "a")
        assert (ended.outcome, codes_of(ended.why)) == (ZoneOutcome.ABORTED, (ReasonCode.CANCELLED,))
        assert [call for call, _ in await stage.changes("a")] == ["entrypoint.put"]


async def test_a_commit_is_seen_through_though_its_workflow_is_cancelled_as_it_waits_for_the_service(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The service refuses the credential before anybody has seen what became of the commit. The workflow was
    cancelled then, without an outcome or a record.
    """
    shows: dict[str, Any] = {"simulator": {"migration_seconds": 86_400}, "commit": {"migration_limit": "20s"}}
    async with staged(temporal_client, tmp_path, zone("a"), paced=True, **shows) as stage:
        handle = await cancelled_as_it_waits(stage, "a")
        ended: ZoneResult = await asyncio.wait_for(handle.result(), 90)
        await replayer().replay_workflow(await handle.fetch_history())
        assert (ended.outcome, bool(ended.record)) == (ZoneOutcome.MIGRATED, True), ended.reason
        assert [call for call, _ in await stage.changes("a")] == ["entrypoint.put"]


class CancelledByNobody(Around):
    """The first try of a verification gets a cancellation that neither the server nor a worker's end has
    asked for, as whoever waits for what another one has cancelled.
    """

    def __init__(self) -> None:
        self.tries: list[int] = []

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Fail the first try so."""
        if name == "verify_waf_zone":
            self.tries.append(activity.info().attempt)
            if len(self.tries) == 1:
                raise asyncio.CancelledError
        return await work()


async def test_a_verification_that_nobody_cancelled_is_tried_again(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It is a failure like any other, and no end of the zone."""
    nobody = CancelledByNobody()
    async with staged(temporal_client, tmp_path, zone("a"), interceptors=[nobody]) as stage:
        assert (await stage.finish(90)).outcomes == {"migrated": 1}
        assert nobody.tries[:2] == [1, 2]
