"""Campaigns at a service with the later public changes: a rollout of log fields, and a plan of waf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas.assessment import Verdict
from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.operations import assess
from edgeshift.stores.documents import Snapshot, get_document
from tests.kit import BUCKET, fleet_of, scene
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

LATER = "public-2025-04"
OPTIONS = {"field_names": ["RayID", "ClientRequestPath"], "timestamp_format": "rfc3339", "sample_rate": 1}


def zone(name: str, **logs: Any) -> dict[str, Any]:
    """An Enterprise zone whose log job has output_options, which lie about nothing: the string is ignored."""
    job = {
        "destination": f"s3://{BUCKET}/{name}?region=eu-west-1",
        "logpull_options": "fields=RayID",
        "output_options": OPTIONS,
        "name": "customers",
    }
    return {"name": name, "plan": "enterprise", "logs": {"jobs": [job], **logs}}


async def test_log_fields_go_into_output_options_and_come_out_again(
    temporal_client: Client, tmp_path: Path
) -> None:
    """More fields than the specification has room for, beside somebody else's; a zone settles by real entries
    with the edge's own header, and one that somebody spoils is taken back to what its job had.
    """
    client = on_queue(temporal_client, "profile-log-fields")
    theirs = {"request_headers": [f"x-{number}" for number in range(45)]}
    fleet = fleet_of(zone("kept.example", fields=[theirs]), zone("spoilt.example"), profile=LATER)
    own: dict[str, Any] = {
        "area": "log-fields",
        "log_fields": {
            "request_headers": ["user-agent"],
            "response_headers": ["server"],
            "verify": "400h",
            "every": "2h",
        },
        "commit": {"migration_limit": "8s", "poll": "1s"},
    }
    async with scene(client, tmp_path, fleet, profile=LATER, **own) as play, play.visited("kept.example"):
        for item in fleet.zones:
            await play.zone_until(item.name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
            await play.sign_zone(item.name)
        # Nobody visits this one, so that it is still watched when its rule goes.
        await play.zone_until("spoilt.example", lambda found: found.phase is ZonePhase.WATCHING)
        await play.stranger("spoilt.example", [])
        assert await play.outcome("spoilt.example") is ZoneOutcome.ROLLED_BACK
        assert await play.outcome("kept.example") is ZoneOutcome.SETTLED
        jobs = {
            name: play.simulator.state.log_jobs.of_zone(play.zone_id(name))[0]
            for name in ("kept.example", "spoilt.example")
        }
        listed = [*OPTIONS["field_names"], "RequestHeaders", "ResponseHeaders"]  # type: ignore[misc]
        assert jobs["kept.example"]["output_options"] == {**OPTIONS, "field_names": listed}
        assert jobs["spoilt.example"]["output_options"] == OPTIONS
        assert {job["logpull_options"] for job in jobs.values()} == {"fields=RayID"}
        await play.check_rules(absent={7})


async def test_a_plan_of_waf_goes_by_the_later_profile(temporal_client: Client, tmp_path: Path) -> None:
    """The paranoia level in what to know is that of the configuration that the service gives, and the
    snapshot names the profile.
    """
    client = on_queue(temporal_client, "profile-waf")
    fleet = fleet_of(
        {"name": "medium.example", "plan": "pro", "previous_waf": {"owasp": {"sensitivity": "medium"}}}
    )
    async with scene(client, tmp_path, fleet, profile=LATER, begin=False) as play:
        report, _ = await assess(play.client, play.archive, play.spec)
        (line,) = report.zones
        assert line.verdict is Verdict.READY
        assert any("becomes paranoia level 1" in text for text in line.warnings), line.warnings
        assert line.losses == []
        snapshots = [
            await get_document(play.archive, Snapshot[Any], key.rpartition("/")[2])
            async for key in play.archive.list(f"snapshot/{play.zone_id('medium.example')}")
        ]
        assert snapshots and {one.facts.name for one in snapshots} == {LATER}
