"""Campaigns that roll out custom log fields, against the simulator's service, edge and buckets on a real
Temporal.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from tests.kit import BUCKET, STRANGER, Scene, fleet_of, scene
from tests.kit.held import fault
from tests.kit.planned import start_by_plan
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

QUICK: dict[str, Any] = {
    "area": "log-fields",
    "log_fields": {
        "request_headers": ["user-agent", "x-requested-with"],
        "response_headers": ["content-type"],
        "cookies": ["session_id", "Theme"],
        "verify": "40h",
        "every": "2h",
        "job": True,
    },
    "commit": {"migration_limit": "8s", "poll": "1s"},
}
FOREIGN: dict[str, Any] = {"request_headers": ["x-team"], "description": "of another team"}
STOPS = 7


def zone(name: str, job: bool = True, plan: str = "enterprise", **logs: Any) -> dict[str, Any]:
    """An Enterprise zone, with a log job that lists no custom fields."""
    made = {
        "destination": f"s3://{BUCKET}/{name}?region=eu-west-1&secret-access-key=customers-own",
        "logpull_options": "fields=RayID,ClientRequestPath&timestamps=rfc3339&sample_rate=1",
        "name": "customers",
    }
    return {"name": name, "plan": plan, "logs": {"jobs": [made] if job else [], **logs}}


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def _result(play: Scene, name: str) -> tuple[ZoneOutcome, str]:
    found = await play.zone(name).result()
    return found.outcome, found.reason


async def test_fields_are_written_beside_others_and_seen_in_real_entries(
    client: Client, tmp_path: Path
) -> None:
    """Without a ruleset, beside somebody else's rule, and without a job: all log the fields afterwards."""
    fleet = fleet_of(
        zone("bare.example"), zone("shared.example", fields=[FOREIGN]), zone("jobless.example", job=False)
    )
    async with scene(client, tmp_path, fleet, **QUICK) as play, play.visited():
        await play.sign_everything()
        for item in fleet.zones:
            outcome, reason = await _result(play, item.name)
            assert outcome is ZoneOutcome.SETTLED, (item.name, reason)
        assert await play.journal("logpush.ownership", "jobless.example")
        await play.check_rules(absent={STOPS})


async def test_what_cannot_be_done_is_said_before_anything_is_sent(client: Client, tmp_path: Path) -> None:
    """A zone that is not Enterprise, and one whose forty fields somebody else uses: no write at all."""
    full: dict[str, Any] = {"request_headers": [f"x-{number}" for number in range(38)]}
    fleet = fleet_of(
        zone("small.example", job=False, plan="pro"),
        zone("full.example", fields=[full]),
        zone("fine.example"),
    )
    async with scene(client, tmp_path, fleet, **QUICK) as play, play.visited():
        await play.sign_everything()
        assert (await _result(play, "small.example"))[0] is ZoneOutcome.BLOCKED
        outcome, reason = await _result(play, "full.example")
        assert outcome is ZoneOutcome.BLOCKED and "40 at most" in reason
        for name in ("small.example", "full.example"):
            assert all(entry["method"] == "GET" for entry in await play.journal(zone=name))
        await play.check_rules(absent={STOPS})


async def test_a_misspelt_log_field_of_the_new_job_is_told_before_anything_is_sent(
    client: Client, tmp_path: Path
) -> None:
    """The service takes any name, and pushes entries without it: the plan compares them with its list."""
    fleet = fleet_of(zone("jobless.example", job=False), zone("jobbed.example"))
    async with scene(client, tmp_path, fleet, begin=False, **QUICK) as play:
        found = play.spec.section(LogFieldsSpec)
        assert found.job is not None
        job = found.job.model_copy(update={"fields": ("RayId", "ClientIP", "Nonsense")})
        terms = found.model_copy(update={"job": job})
        play.spec = play.spec.model_copy(update={"log_fields": terms})
        await start_by_plan(play)
        await play.until(lambda found: sum(found.places.get(one, 0) for one in ("awaiting", "blocked")) == 2)
        assert await play.journal("logpush.datasets.fields", "jobless.example")
        outcome, reason = await _result(play, "jobless.example")
        assert outcome is ZoneOutcome.BLOCKED
        assert "log_fields.job.fields: the service has no log field RayId (RayID?), Nonsense" in reason
        assert all(entry["method"] == "GET" for entry in await play.journal(zone="jobless.example"))
        # Only where a job would be created.
        assert await play.journal("logpush.datasets.fields", "jobbed.example") == []


@pytest.mark.parametrize("status", [403, 404])
async def test_log_fields_that_the_service_does_not_name_block_nothing(
    client: Client, tmp_path: Path, status: int
) -> None:
    """Whoever signs is told that nobody has compared the new job's log fields with anything."""
    # The server may still answer for the zone of the other case.
    name = f"jobless-{status}.example"
    told = {"success": False, "errors": [{"code": 10000, "message": "not for you"}], "messages": []}
    refused = {"kind": "server_error", "effect": "before", "status": status, "body": json.dumps(told)}
    async with scene(client, tmp_path, fleet_of(zone(name, job=False)), begin=False, **QUICK) as play:
        async with fault(play, refused, call="logpush.datasets.fields"):
            await start_by_plan(play)
            state = await play.zone_until(name, lambda found: found.phase == "awaiting_sign_off")
        shown = await play.archive.get_json(state.proposal)
        assert "log fields of the new job is not known" in " ".join(shown["warnings"])


@pytest.mark.parametrize("when", ["before_put", "after_put"])
async def test_a_stranger_who_writes_in_between_loses_nothing(
    client: Client, tmp_path: Path, when: str
) -> None:
    """Whichever write comes over which: both stand at the end."""
    async with (
        scene(client, tmp_path, fleet_of(zone("busy.example", fields=[FOREIGN])), **QUICK) as play,
        play.visited(),
    ):
        await play.stranger("busy.example", [STRANGER], when=when, how="append")
        await play.sign_everything()
        outcome, reason = await _result(play, "busy.example")
        assert outcome is ZoneOutcome.SETTLED, reason
        assert not (await play.control.get("stranger-writes"))["armed"]
        await play.check_rules(absent={STOPS})


async def test_fields_that_nobody_saw_are_rolled_back_where_the_campaign_says_so(
    client: Client, tmp_path: Path
) -> None:
    """Without any traffic no entry comes: what was added is taken out again, and nothing else."""
    terms = {**QUICK, "log_fields": {**QUICK["log_fields"], "unverified": "roll_back", "verify": "8h"}}
    async with scene(client, tmp_path, fleet_of(zone("quiet.example", fields=[FOREIGN])), **terms) as play:
        await play.sign_everything()
        outcome, reason = await _result(play, "quiet.example")
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        await play.check_rules(absent={STOPS})


async def test_a_page_of_a_gateway_is_no_reason_to_take_fields_out_again(
    client: Client, tmp_path: Path
) -> None:
    """While a zone is watched, three readings in a row are answered 400 without a word of the service: they
    do not say that its fields are gone.
    """
    page = {"kind": "server_error", "status": 400, "body": "<html>400 Bad Request</html>", "times": 3}
    async with scene(client, tmp_path, fleet_of(zone("paged.example")), **QUICK) as play:
        await play.zone_until("paged.example", lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.sign_zone("paged.example")
        await play.zone_until("paged.example", lambda found: found.phase is ZonePhase.WATCHING)
        await play.control.send("POST", "faults", {**page, "match": {"call": "rulesets.list"}})
        async with play.visited():
            outcome, reason = await _result(play, "paged.example")
        assert outcome is ZoneOutcome.SETTLED, reason
        assert [one["fired"] for one in (await play.control.get("faults"))["faults"]] == [3]


def plant_old_entries(url: str, name: str, now: datetime) -> None:
    """Entries without a time that carry the field, in an object of the day before."""
    old = Path(url.removeprefix("file://").replace("{zone}", name)) / "yesterday.log"
    old.parent.mkdir(parents=True)
    old.write_text('{"RayID": "7", "RequestHeaders": {"user-agent": "an old one"}}\n' * 40)
    os.utime(old, (now.timestamp() - 86_400,) * 2)


async def test_entries_from_before_the_change_do_not_settle_a_zone(client: Client, tmp_path: Path) -> None:
    """Somebody logged the field until yesterday, and the job does not list the time: no entry has come."""
    terms = {**QUICK, "log_fields": {"request_headers": ["user-agent"], "verify": "8h", "every": "2h"}}
    terms["log_fields"]["unverified"] = "roll_back"
    async with scene(client, tmp_path, fleet_of(zone("until.example")), **terms) as play:
        plant_old_entries(str(play.spec.section(LogFieldsSpec).entries), "until.example", play.now())
        await play.sign_everything()
        outcome, reason = await _result(play, "until.example")
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        assert "no log entry with custom fields came" in reason
