"""A zone whose workflow is reset after its end asks for nothing that nobody would give it: it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.fleet import ZoneOutcome
from edgeshift.messages import LEFT_ALONE, OUTLIVED, ZoneResult
from edgeshift.sign_off import Choice
from tests.faults_kit import Stage, staged, zone
from tests.harness.disturbances.operators import reset, tasks

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

RULES = [{"action": "bypass", "products": ["waf"], "expression": "ip.src eq 192.0.2.1"}] * 3


async def rejected(stage: Stage, short: str) -> None:
    """People reject the zone."""
    await stage.waits(short)
    await stage.play.sign_zone(stage.name(short), Choice.REJECT)
    assert await stage.outcome(short) is ZoneOutcome.REJECTED


async def revived(stage: Stage, short: str) -> ZoneResult:
    """The zone is reset to where it began, as if nobody had told it anything; how that run ends."""
    handle = stage.play.zone(stage.name(short))
    assert await reset(stage.play.client, handle, (await tasks(handle))[0], reapplies=False)
    latest = stage.play.client.get_workflow_handle(handle.id, result_type=ZoneResult)
    found: ZoneResult = await latest.result()
    return found


async def test_the_campaign_tells_it_that_its_end_stands(temporal_client: Client, tmp_path: Path) -> None:
    """What it came to stands, and a person can begin it again at once."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other")) as stage:
        await rejected(stage, "one")
        result = await revived(stage, "one")
        assert (result.outcome, result.reason) == (ZoneOutcome.ABORTED, f"ended by {OUTLIVED}")
        assert (await stage.play.summary()).places == {"awaiting": 1, "rejected": 1}
        await stage.play.again("reopen", stage.name("one"))
        assert (await stage.finish()).outcomes == {"migrated": 2}


@pytest.mark.parametrize("ending", [{}, {"firewall_rules": RULES}], ids=["for people", "for support"])
async def test_it_stops_where_its_campaign_has_closed(
    temporal_client: Client, tmp_path: Path, ending: dict[str, Any]
) -> None:
    """Whether an activity has told what it waits for, or the zone itself."""
    few = {"support": {"at": "check", "firewall_rules": 2}} if ending else {}
    async with staged(temporal_client, tmp_path, zone("one", **ending), simulator=few) as stage:
        if ending:
            await stage.play.until(lambda seen: seen.places.get("support") == 1)
            await stage.play.ask("abort")
        else:
            await rejected(stage, "one")
        await stage.play.result()
        result = await revived(stage, "one")
        assert (result.outcome, result.reason) == (ZoneOutcome.ABORTED, f"ended by {LEFT_ALONE}")
        assert await stage.changes() == []
