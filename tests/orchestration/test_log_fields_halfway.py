"""Log fields that were written in part when something else came: nothing stays behind as a half."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from tests.kit import BUCKET, REVOKED, Scene, eventually, fleet_of, scene
from tests.kit.held import fault
from tests.kit.queue import on_queue
from tests.kit.signing import Roster

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

SPEC: dict[str, Any] = {
    "area": "log-fields",
    "log_fields": {"request_headers": ["user-agent"], "verify": "40h", "every": "2h"},
    "commit": {"migration_limit": "8s", "poll": "1s"},
}
FOREIGN = {"request_headers": ["x-team"], "description": "of another team"}
FORTY = [
    {
        "action": "log_custom_field",
        "expression": "true",
        "description": "all forty",
        "action_parameters": {"request_fields": [{"name": f"x-{number}"} for number in range(40)]},
    }
]
JOB = {
    "destination": f"s3://{BUCKET}/half?region=eu-west-1",
    "logpull_options": "fields=RayID&timestamps=rfc3339",
    "name": "customers",
}


async def _rules(play: Any, name: str = "half.example") -> list[str]:
    lists = await play.control.get(f"zones/{play.zone_id(name)}")
    found = [item for item in lists["rulesets"] if item["phase"] == "http_log_custom_fields"]
    return [rule["description"] for rule in found[0]["rules"]] if found else []


@pytest.mark.parametrize("why", ["aborted", "full by now"])
async def test_a_part_is_taken_back_when_the_zone_cannot_go_on(
    temporal_client: Client, tmp_path: Path, request: pytest.FixtureRequest, why: str
) -> None:
    """The rules are written and the log job is refused for a while; meanwhile the campaign is aborted, or a
    stranger uses up the forty fields: our rule is taken out, and the stranger's stays.
    """
    client = on_queue(temporal_client, request.node.name[:60])
    fleet = fleet_of(
        {"name": "half.example", "plan": "enterprise", "logs": {"jobs": [JOB], "fields": [FOREIGN]}}
    )
    async with scene(client, tmp_path, fleet, **SPEC) as play:
        refusing = {"kind": "rate_limit", "match": {"call": "logpush.jobs.update"}, "times": 500}
        await play.control.send("POST", "faults", refusing)
        await play.until(lambda found: bool(found.waiting))
        await play.sign_what_waits()

        async def written() -> bool:
            return len(await _rules(play)) == 2

        await eventually(written, what="the rules are written")
        if why == "aborted":
            await play.ask("abort", "enough")
        else:
            zone = play.zone_id("half.example")
            write = f"zones/{zone}/rulesets/http_log_custom_fields/write"
            await play.control.send("POST", write, {"rules": FORTY, "how": "replace", "when": "now"})
        await eventually(lambda: _closed(play), within=60, what="the zone ends")
        found = await play.zone("half.example").result()
        assert found.outcome is ZoneOutcome.ROLLED_BACK, found
        assert not [rule for rule in await _rules(play) if "edgeshift" in rule]


async def _closed(play: Any) -> bool:
    return (await play.zone("half.example").describe()).close_time is not None


@pytest.mark.parametrize("when", ["before it is read", "after it was signed"])
async def test_a_part_is_taken_back_as_it_was_signed_though_people_have_made_a_log_job_since(
    temporal_client: Client, tmp_path: Path, request: pytest.FixtureRequest, when: str
) -> None:
    """The rules are written, and the zone's first log job is not: the service refuses the token meanwhile. A
    log job that somebody makes by hand has something else proposed, of which nothing was sent. Its options
    stand in the way, when the zone is read or once that is signed: what is undone is what was sent.
    """
    client = on_queue(temporal_client, request.node.name[:60])
    name = f"way-{uuid.uuid4().hex[:8]}.example"
    fleet = fleet_of({"name": name, "plan": "enterprise", "logs": {"jobs": [], "fields": [FOREIGN]}})
    terms = {**SPEC, "log_fields": {**SPEC["log_fields"], "job": True}}
    odd, made = "timestamps=rfc3339", "fields=RayID&timestamps=rfc3339"
    async with scene(client, tmp_path, fleet, authority=Roster(), **terms) as play:
        await play.zone_until(name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
        first = (await play.state(name)).digest
        async with fault(play, REVOKED, call="logpush.ownership"):
            await play.sign_zone(name)
            await play.zone_until(name, lambda found: found.phase is ZonePhase.WAITING_FOR_SERVICE)
            assert len(await _rules(play, name)) == 2
            options = odd if when == "before it is read" else made
            job = {"destination_conf": f"r2://{name}/logs", "dataset": "http_requests", "enabled": True}
            found = await _by_hand(play, name, "POST", "", {**job, "logpull_options": options})
        if when == "after it was signed":
            await play.zone_until(
                name,
                lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF and found.digest != first,
            )
            await _by_hand(play, name, "PUT", f"/{found['id']}", {"logpull_options": odd})
            await play.sign_zone(name)
        ended = await asyncio.wait_for(play.zone(name).result(), 60)
        assert ended.outcome is ZoneOutcome.ROLLED_BACK, ended
        assert await _rules(play, name) == ["of another team"]


async def _by_hand(play: Scene, name: str, method: str, path: str, body: dict[str, Any]) -> Any:
    """A call of the service's, as a person makes it with a token of his own."""
    async with httpx.AsyncClient() as http:
        answer = await http.request(
            method,
            f"{play.simulator.base_url}/zones/{play.zone_id(name)}/logpush/jobs{path}",
            headers={"authorization": f"Bearer {play.fleet.credentials[0].value}"},
            json=body,
        )
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]
