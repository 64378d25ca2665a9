"""A zone whose workflow is reset after its end asks for nothing that nobody would give it: it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import LEFT_ALONE, OUTLIVED, ZoneResult
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.views.finding import Named, zone_runs
from edgeshift.views.gathering import known_campaign, zone_rows
from edgeshift.views.timeline import build_timeline
from tests.harness.disturbances.operators import reset, tasks
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

RULES = [{"action": "bypass", "products": ["waf"], "expression": "ip.src eq 192.0.2.1"}] * 3


async def rejected(stage: Stage, short: str) -> None:
    """People reject the zone."""
    await stage.waits(short)
    await stage.play.sign_zone(stage.name(short), Choice.REJECT)
    assert await stage.outcome(short) is ZoneOutcome.REJECTED


async def woken_after_end(stage: Stage, short: str) -> ZoneResult:
    """The zone is reset to where it began, as if nobody had told it anything; how that run ends."""
    handle = stage.play.zone(stage.name(short))
    assert await reset(stage.play.client, handle, (await tasks(handle))[0], reapplies=False)
    latest = stage.play.client.get_workflow_handle(handle.id, result_type=ZoneResult)
    found: ZoneResult = await latest.result()
    return found


async def test_the_campaign_tells_it_that_its_end_stands(temporal_client: Client, tmp_path: Path) -> None:
    """What it came to stands, also in what people are shown, and a person can begin it again at once."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other")) as stage:
        await rejected(stage, "one")
        result = await woken_after_end(stage, "one")
        assert (result.outcome, result.reason) == (ZoneOutcome.REJECTED, f"ended by {OUTLIVED}")
        assert (await stage.play.summary()).places == {"awaiting": 1, "rejected": 1}
        client, archive = stage.play.client, stage.play.archive
        campaign = stage.play.spec.name
        rows = await zone_rows(client, archive, await known_campaign(client, campaign))
        shown = next(row for row in rows if row.name == stage.name("one"))
        assert shown.place == "rejected" and shown.reason.startswith("rejected by ")
        runs = await zone_runs(client, Named(shown.id, shown.area, shown.kind), campaign)
        told = [entry.text for one in build_timeline(shown.id, runs).attempts for entry in one.entries]
        assert "the campaign said that the attempt had ended before" in told
        await stage.play.again("reopen", stage.name("one"))
        assert (await stage.finish()).outcomes == {"migrated": 2}


async def test_one_that_was_migrated_is_not_told_as_aborted(temporal_client: Client, tmp_path: Path) -> None:
    """It is reset to before its sign-off, and signed again: nobody commits it twice, and its end stands."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other")) as stage:
        await stage.waits("one")
        await stage.play.sign_zone(stage.name("one"))
        assert await stage.outcome("one") is ZoneOutcome.MIGRATED
        handle = stage.play.zone(stage.name("one"))
        assert await reset(stage.play.client, handle, (await tasks(handle))[1], reapplies=False)
        await stage.play.sign_zone(stage.name("one"))
        latest = stage.play.client.get_workflow_handle(handle.id, result_type=ZoneResult)
        result = await latest.result()
        # Told so by its campaign, or by its own look at what was sent before, whichever comes first.
        assert result.outcome is ZoneOutcome.MIGRATED
        client, archive = stage.play.client, stage.play.archive
        rows = await zone_rows(client, archive, await known_campaign(client, stage.play.spec.name))
        shown = next(row for row in rows if row.name == stage.name("one"))
        assert shown.place == "migrated" and shown.record
        assert (await stage.finish()).outcomes == {"migrated": 2}
        assert len(await stage.play.journal("entrypoint.put", stage.name("one"))) == 1


async def test_one_that_has_said_nothing_yet_is_told_when_it_is_begun_again(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A retry does not wait for the run before it until it gives up."""
    async with staged(temporal_client, tmp_path, zone("one"), zone("other"), request_limit="60s") as stage:
        await rejected(stage, "one")
        await stage.waits("other")
        await stage.fault("latency", "waf.check", "one", seconds=4)
        handle = stage.play.zone(stage.name("one"))
        assert await reset(stage.play.client, handle, (await tasks(handle))[0], reapplies=False)
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
        result = await woken_after_end(stage, "one")
        assert (result.outcome, result.reason) == (ZoneOutcome.ABORTED, f"ended by {LEFT_ALONE}")
        assert await stage.changes() == []
