"""A window that sizes itself, in a campaign of its own."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import Blocked, CampaignSummary, ReportKind, ZoneReport
from edgeshift.model.fleet import ZoneOutcome, quota_id
from edgeshift.model.window import FEW
from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ZONES = 24
SLOW = {"migration_seconds": 3600, "visibility_seconds": 0}

OUTAGE = 8
"""Seconds without a call. A migration takes one or two here."""


async def test_a_window_begins_with_few_and_grows_with_each_success(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Five zones at first; as they succeed, more; never more than the failures that are allowed and one."""
    fleet = fleet_of(*[{"name": f"grow-{number:02d}.example", "plan": "pro"} for number in range(ZONES)])
    allowed = {"percent": 1, "failures": 11}
    async with scene(
        temporal_client, tmp_path, fleet, simulator=SLOW, window="auto", advance=allowed
    ) as play:
        assert play.spec.largest_window == 12
        first = await play.until(lambda found: found.places.get("awaiting", 0) > 0)
        assert first.window == FEW
        waits = await play.until(lambda found: found.places.get("awaiting") == ZONES)
        await play.sign(group.fingerprint for group in waits.waiting)
        sizes: list[int] = []

        def all_done(found: CampaignSummary) -> bool:
            sizes.append(found.window)
            assert found.places.get("permitted", 0) + found.places.get("working", 0) <= found.window <= 12
            return found.places.get("migrated") == ZONES

        await play.until(all_done)
        assert sizes[0] == FEW and max(sizes) == 12, sizes
        await play.check_rules(absent={3, 4, 7})


async def test_an_outage_during_verification_is_not_taken_for_the_service_s_time(
    temporal_client: Client, tmp_path: Path
) -> None:
    """No call may be made for a while after a commit: its zone does not report that long as what it took."""
    tag = f"outage-{uuid.uuid4().hex[:8]}"
    name = f"a.{tag}.example"
    fleet = fleet_of({"name": name, "plan": "pro"})
    async with scene(on_queue(temporal_client, tag), tmp_path, fleet, paced=True) as play:
        service = play.spec.service
        quota = temporal_client.get_workflow_handle(quota_id(service.caller(service.credentials[0])))
        waits = await play.until(lambda found: len(found.waiting) == 1)
        await play.sign([waits.waiting[0].fingerprint])

        async def is_sent() -> bool:
            return bool(await play.commits())

        await eventually(is_sent, what="the commit")
        await quota.signal("blocked", Blocked(seconds=OUTAGE))
        sent = time.monotonic()
        assert await play.outcome(name) is ZoneOutcome.MIGRATED
        assert time.monotonic() - sent > OUTAGE / 2
        await play.result()
        [report] = await reported(play)
        assert report.took is None or report.took.total_seconds() < OUTAGE / 2
        await quota.terminate("the scene is over")


async def reported(play: Scene) -> list[ZoneReport]:
    """The last words of zones to their campaign."""
    found = []
    async for event in play.campaign.fetch_history_events():
        signal = event.workflow_execution_signaled_event_attributes
        if signal.signal_name == "zone_report":
            found.append(ZoneReport.model_validate_json(signal.input.payloads[0].data))
    return [report for report in found if report.kind is ReportKind.FINISHED]
