"""Records of what was there before, planted by somebody who may write to the archive: they neither put rules
into a zone nor turn off a log job that is nobody's here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode, codes_of
from edgeshift.stores.documents import JobCreated, RulesBefore, create_record
from tests.kit import BUCKET, Scene, fleet_of, scene
from tests.queue_kit import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

SPEC: dict[str, Any] = {
    "area": "log-fields",
    "log_fields": {
        "request_headers": ["user-agent"],
        "verify": "8h",
        "every": "2h",
        "unverified": "roll_back",
    },
    "commit": {"migration_limit": "8s", "poll": "1s"},
}
NAME = "planted.example"
JOB = {
    "destination": f"s3://{BUCKET}/{NAME}?region=eu-west-1",
    "logpull_options": "fields=RayID&timestamps=rfc3339",
    "name": "customers",
}
FOREIGN = {"request_headers": ["x-team"], "description": "of another team"}
EVIL = {
    "action": "log_custom_field",
    "expression": "true",
    "ref": "evil",
    "description": "of nobody",
    "action_parameters": {"request_fields": [{"name": "authorization"}]},
}


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def place(play: Scene) -> str:
    """Where the records of the zone and this campaign lie."""
    described = await play.campaign.describe()
    run = sha256((described.run_id or "").encode())[:16]
    return f"before/{play.zone_id(NAME)}/log-fields/{run}"


async def ruleset(play: Scene) -> dict[str, Any]:
    """The zone's ruleset of custom log fields."""
    found = await play.control.get(f"zones/{play.zone_id(NAME)}")
    (one,) = [item for item in found["rulesets"] if item["phase"] == "http_log_custom_fields"]
    return dict(one)


async def waits(play: Scene) -> None:
    """The zone waits for its sign-off."""
    await play.zone_until(NAME, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)


@pytest.mark.parametrize("ahead", [0, 5])
async def test_planted_rules_are_never_put(
    client: Client, tmp_path: Path, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of the version that is there, or of one that is none: the zone's rules stay as they are, and
    the record is named.
    """
    monkeypatch.setattr("workflows.zone.changing.MOST_REFUSED_STARTS", 1)
    zone = {"name": NAME, "plan": "enterprise", "logs": {"jobs": [JOB], "fields": [FOREIGN]}}
    async with scene(client, tmp_path, fleet_of(zone), **SPEC) as play:
        await waits(play)
        there = await ruleset(play)
        record = RulesBefore(version=int(there["version"]) + ahead, rules=[EVIL])
        await create_record(play.archive, f"{await place(play)}/{there['id']}/base", record)
        await play.sign_zone(NAME)
        result = await play.zone(NAME).result()
        assert result.outcome is ZoneOutcome.FAILED and codes_of(result.why) == (ReasonCode.ARCHIVE_DAMAGED,)
        assert "base in the archive is not what the service had" in result.reason
        assert (await ruleset(play))["rules"] == there["rules"]


async def test_a_log_job_that_nobody_signed_is_not_turned_off(client: Client, tmp_path: Path) -> None:
    """The way back turns off the job that the campaign made, by the name that was signed."""
    zone = {"name": NAME, "plan": "enterprise", "logs": {"jobs": [JOB]}}
    async with scene(client, tmp_path, fleet_of(zone), **SPEC) as play:
        await waits(play)
        await create_record(play.archive, f"{await place(play)}/new-job", JobCreated(name="customers"))
        await play.sign_zone(NAME)
        result = await play.zone(NAME).result()
        assert result.outcome is ZoneOutcome.ROLLED_BACK, result.reason
        # The fields into its list, and out again; it is not turned off.
        assert len(await play.journal("logpush.jobs.update", NAME)) == 2
