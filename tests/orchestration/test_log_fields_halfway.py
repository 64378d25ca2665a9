"""Log fields that were written in part when something else came: nothing stays behind as a half."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from tests.kit import BUCKET, eventually, fleet_of, scene
from tests.queue_kit import on_queue

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


async def _rules(play: Any) -> list[str]:
    lists = await play.control.get(f"zones/{play.zone_id('half.example')}")
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
