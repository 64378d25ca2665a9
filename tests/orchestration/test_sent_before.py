"""What an earlier attempt of a zone has sent is seen through, however the later one ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase, ZoneResult
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from tests.harness.aimed.waf import A_RULE
from tests.harness.campaigns.stages import ESC, OWN_SECRET, esc_stage, esc_zone, over
from tests.harness.disturbances.operators import reset, tasks
from tests.kit import SCALE
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(240)]

SLOW = 20
"""Seconds until a change shows, in which its zone is terminated, begun again, and waits for a person."""

LATE: dict[str, Any] = {
    "simulator": {"migration_seconds": SLOW * SCALE},
    "commit": {"migration_limit": f"{SLOW * 7}h"},
}


async def again(stage: Stage, phase: ZonePhase) -> None:
    """The zone is cut off in this phase, and begun again."""
    await stage.cut_off("cut", phase)
    await stage.play.again("retry", stage.name("cut"))


@asynccontextmanager
async def waf(client: Client, folder: Path, *, lost: bool = False, **how: Any) -> AsyncIterator[Stage]:
    """A zone whose second attempt waits while its commit is under way; another keeps the campaign open.
    ``lost``: the request comes to nothing, and its answer does not say so.
    """
    other = zone("open", firewall_rules=[A_RULE])
    async with staged(client, folder, zone("cut"), other, begin=False, **how) as stage:
        if lost:
            await stage.fault("server_error", "entrypoint.put", "cut", effect="before", status=502)
        await stage.play.begin()
        await again(stage, ZonePhase.VERIFYING)
        await stage.waits("cut")
        yield stage


async def result(stage: Stage) -> ZoneResult:
    """How the zone ended."""
    found: ZoneResult = await asyncio.wait_for(stage.play.zone(stage.name("cut")).result(), 90)
    return found


async def test_a_commit_that_shows_after_a_rejection_is_told_as_migrated(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing is sent for the second attempt; what the first one sent is read back."""
    async with waf(temporal_client, tmp_path, **LATE) as stage:
        await stage.play.sign_zone(stage.name("cut"), Choice.REJECT)
        ended = await result(stage)
        assert ended.outcome is ZoneOutcome.MIGRATED and ended.record
        assert "it was sent before: rejected by" in ended.reason
        assert [call for call, _ in await stage.changes("cut")] == ["entrypoint.put"]


async def test_a_commit_that_came_to_nothing_leaves_a_rejection_as_it_is(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It is waited for as long as a migration may take, and then the zone is rejected."""
    async with waf(temporal_client, tmp_path, lost=True, commit={"migration_limit": "9s"}) as stage:
        await stage.play.sign_zone(stage.name("cut"), Choice.REJECT)
        ended = await result(stage)
        assert ended.outcome is ZoneOutcome.REJECTED, ended.reason


async def test_a_zone_that_nothing_was_sent_to_is_rejected_at_once(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It does not wait for a migration."""
    async with staged(temporal_client, tmp_path, zone("cut"), commit={"migration_limit": "1000h"}) as stage:
        await stage.waits("cut")
        await stage.play.sign_zone(stage.name("cut"), Choice.REJECT)
        assert (await asyncio.wait_for(result(stage), 20)).outcome is ZoneOutcome.REJECTED


async def test_esc_that_a_run_turned_off_which_was_reset_does_not_stay_off(
    temporal_client: Client, tmp_path: Path
) -> None:
    """An operator resets it to before its sign-off, of which the new run knows nothing. Aborted then, it is
    turned on again: nobody would watch it.
    """
    async with esc_stage(
        temporal_client,
        tmp_path,
        esc_zone("cut", own=True),
        **over(ESC, esc={"observe": "320h", "every": "16h"}),
    ) as stage:
        await stage.waits("cut")
        handle = stage.play.zone(stage.name("cut"))
        before = (await tasks(handle))[-1]
        await stage.play.sign_zone(stage.name("cut"))
        await stage.phase("cut", ZonePhase.WATCHING)
        assert await reset(stage.play.client, handle, before, reapplies=False)
        await stage.waits("cut")
        await stage.play.ask("abort", "enough")
        ended = await result(stage)
        assert ended.outcome is ZoneOutcome.ROLLED_BACK and "aborted by" in ended.reason
        assert not await stage.play.is_off(stage.name("cut"))
        assert [call for call, _ in await stage.changes("cut")] == ["esc.set", "esc.delete"]


async def test_esc_of_which_the_service_shows_the_secret_alone_is_seen_through_by_a_retry(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The setting does not tell that it is off: that it was turned off is known, and is not done twice."""
    async with esc_stage(
        temporal_client,
        tmp_path,
        esc_zone("cut", own=True),
        esc_zone("open", own=True),
        simulator={"esc": {"both_configured": "with_secret"}},
        **over(ESC, esc={"observe": "32h", "every": "16h"}),
    ) as stage:
        await again(stage, ZonePhase.WATCHING)
        await stage.finish(150)
        assert (await result(stage)).outcome is ZoneOutcome.SETTLED
        asked = [entry["esc"]["asked"] for entry in await stage.play.journal("esc.set", stage.name("cut"))]
        assert asked == [["always"]]


async def test_esc_of_which_no_url_tells_is_turned_off_by_a_retry(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It changes nothing that a probe sees, and the request came to nothing: after a person was told so, the
    next attempt begins afresh.
    """
    silent = {"name": "cut", "plan": "enterprise", "esc": {"with_secret": OWN_SECRET}}
    async with esc_stage(
        temporal_client,
        tmp_path,
        silent,
        esc_zone("open", own=True),
        begin=False,
        **over(ESC, commit={"resend_unchanged": 0}),
    ) as stage:
        await stage.fault("server_error", "esc.set", "cut", effect="before", status=502)
        await stage.play.begin()
        await stage.waits("cut")
        await stage.waits("open")
        await stage.play.sign_zone(stage.name("cut"))
        await stage.play.until(lambda seen: seen.places.get("unknown") == 1, 60)
        await stage.play.again("retry", stage.name("cut"))
        await stage.finish(150)
        assert (await result(stage)).outcome is ZoneOutcome.SETTLED
        assert await stage.play.is_off(stage.name("cut"))
        assert [call for call, _ in await stage.changes("cut")] == ["esc.set", "esc.set"]
