"""Answers that the specification does not show, as the service may give them: campaigns go by what they mean
(docs/service.md §2.1, §2.3, §7).
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from tests.kit import eventually, fleet_of, scene
from tests.kit.held import fault
from tests.kit.queue import on_queue
from tests.kit.zones import esc_zone
from tests.orchestration.test_esc_campaign import SLOWLY
from tests.orchestration.test_log_fields_campaign import QUICK, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

STOPS = 7


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def test_a_watched_zone_that_is_not_found_is_not_one_with_esc_on(
    client: Client, tmp_path: Path
) -> None:
    """As one that was deleted or moved: the watch cannot go on, and says so. Nobody is said to have turned
    ESC on, which nothing shows.
    """
    told = {"success": False, "errors": [{"code": 1001, "message": "Zone not found"}], "result": None}
    gone: dict[str, Any] = {
        "kind": "server_error",
        "effect": "before",
        "status": 404,
        "body": json.dumps(told),
    }
    name = "plain-a.example"
    async with scene(client, tmp_path, fleet_of(esc_zone(name)), **SLOWLY) as play:
        signing = asyncio.create_task(play.sign_everything())
        await play.zone_until(name, lambda found: found.phase is ZonePhase.WATCHING, 90)
        before = len(await play.journal("esc.get", name))
        async with fault(play, gone, call="esc.get", zone=play.zone_id(name)):

            async def asked() -> bool:
                return len(await play.journal("esc.get", name)) >= before + 3

            await eventually(asked, 60)
        await signing
        found = await play.zone(name).result()
        assert found.outcome is ZoneOutcome.ROLLED_BACK
        assert "could not be watched" in found.reason and "turned esc on" not in found.reason
        await play.check_rules(absent={STOPS})


async def test_a_log_job_that_names_no_dataset_gets_the_fields_and_no_second_one_beside_it(
    client: Client, tmp_path: Path
) -> None:
    """The service's default is http_requests: a second job would push each request again."""
    fleet = fleet_of(zone("jobbed.example"))
    options: dict[str, Any] = {"log_jobs": {"dataset": "null"}}
    async with scene(client, tmp_path, fleet, simulator=options, **QUICK) as play, play.visited():
        await play.sign_everything()
        assert await play.outcome("jobbed.example") is ZoneOutcome.SETTLED
        calls = {entry["call"] for entry in await play.journal(zone="jobbed.example")}
        assert "logpush.jobs.update" in calls
        assert not {call for call in calls if call.startswith(("logpush.jobs.create", "logpush.ownership"))}
        await play.check_rules(absent={STOPS})
