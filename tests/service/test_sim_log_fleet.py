"""Log fields and log jobs that a fleet begins with, written by hand and generated (docs/fleet-format.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from edgeshift.testbed.simulator.fleet_file import Fleet, FleetZone, dump_fleet, load_fleet
from edgeshift.testbed.simulator.generate import generate_fleet
from tests.service.logs_kit import ENTRY, JOBS, PHASE, an_exchange, lines, logged
from tests.service.simulated import simulated

SECRET = "verysecret"
LOGS: dict[str, Any] = {
    "fields": [{"description": "Shop", "cookies": ["Cart"], "request_headers": ["x-shop"]}],
    "jobs": [
        {
            "name": "shop",
            "destination": f"s3://logs/shop?region=eu-west-1&secret-access-key={SECRET}",
            "logpull_options": "fields=RayID,Cookies&timestamps=rfc3339",
        }
    ],
}


def a_zone(plan: str = "enterprise", **logs: Any) -> dict[str, Any]:
    return {"name": "enterprise.example", "plan": plan, "logs": {**LOGS, **logs}}


async def test_a_zone_begins_with_what_the_fleet_says(tmp_path: Path) -> None:
    """The ruleset and the jobs are there from the start, and entries are pushed."""
    fleet = Fleet.model_validate({"zones": [a_zone()]})
    async with simulated(tmp_path, fleet=fleet) as call:
        ruleset = await call.result("GET", f"enterprise:{ENTRY}", by="operator")
        assert (ruleset["version"], ruleset["phase"], ruleset["kind"]) == ("1", PHASE, "zone")
        assert ruleset["rules"][0]["action_parameters"] == {
            "request_fields": [{"name": "x-shop"}],
            "cookie_fields": [{"name": "Cart"}],
        }
        (job,) = await call.result("GET", f"enterprise:{JOBS}", by="operator")
        assert (job["id"], job["enabled"], job["destination_conf"]) == (
            1,
            True,
            LOGS["jobs"][0]["destination"],
        )
        seen = an_exchange(call.ids["enterprise"], request=[("cookie", "Cart=3")])
        assert (await logged(call, seen))[0]["Cookies"] == {"Cart": "3"}
        shown = await call.control("GET", f"zones/{call.ids['enterprise']}")
        assert shown["log_jobs"][0]["logpull_options"] == job["logpull_options"]
        assert SECRET not in json.dumps(shown)
    async with simulated(tmp_path, fleet=fleet) as call:
        assert len(await call.result("GET", f"enterprise:{JOBS}", by="operator")) == 1
        assert len(lines(call)) == 1


async def test_no_rules_are_not_the_same_as_no_ruleset(tmp_path: Path) -> None:
    """An empty list of fields makes a ruleset without rules; without the key there is none."""
    fleet = Fleet.model_validate({"zones": [a_zone(fields=[])]})
    async with simulated(tmp_path / "empty", fleet=fleet) as call:
        assert (await call.result("GET", f"enterprise:{ENTRY}", by="operator"))["rules"] == []
    fleet = Fleet.model_validate({"zones": [a_zone(fields=None)]})
    async with simulated(tmp_path / "none", fleet=fleet) as call:
        await call.refused(404, "GET", f"enterprise:{ENTRY}", by="operator")


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        (a_zone("pro"), "only an enterprise zone has log fields"),
        (a_zone(fields=[{"request_headers": ["X-Shop"]}]), "must be in lower case"),
        (a_zone(fields=[{"description": "nothing"}]), "at least one of"),
        (a_zone(fields=[{"cookies": [f"c{number}" for number in range(41)]}]), "41, and at most 40"),
        (a_zone(jobs=[{"destination": "logs/shop"}]), "must begin with one of"),
        (
            a_zone(jobs=[{"destination": "gs://logs/a", "logpull_options": "fields=Ray"}]),
            "'Ray' is not a log field",
        ),
        (a_zone(jobs=[{"destination": "gs://logs/a", "name": "a b"}]), "name"),
    ],
)
def test_a_wrong_beginning_is_refused(zone: dict[str, Any], said: str) -> None:
    """What the service would not take cannot be in a fleet; a destination is never repeated."""
    with pytest.raises(ValidationError, match=said):
        Fleet.model_validate({"zones": [zone]})
    assert SECRET not in repr(FleetZone.model_validate(a_zone()))


async def test_a_zones_logs_change_by_the_service_alone(tmp_path: Path) -> None:
    """The control API does not change what the calls change."""
    fleet = Fleet.model_validate({"zones": [a_zone()]})
    async with simulated(tmp_path, fleet=fleet) as call:
        url = f"{call.server.control_url}/zones/{call.ids['enterprise']}"
        answer = await call.http.patch(url, json={"logs": {"jobs": []}})
        assert (answer.status_code, answer.json()) == (400, {"error": "logs cannot be changed"})


def test_generated_fleets_log_where_asked(tmp_path: Path) -> None:
    """The share of the Enterprise zones, with every shape among the first; the same for the same seed, and
    nothing else depends on it."""
    plain, logging = generate_fleet(120, 3), generate_fleet(120, 3, logs=0.5)
    path = tmp_path / "fleet.yaml"
    dump_fleet(logging, path)
    assert load_fleet(path) == logging == generate_fleet(120, 3, logs=0.5)
    chosen = [zone for zone in logging.zones if zone.logs.jobs or zone.logs.fields is not None]
    assert all(zone.plan == "enterprise" for zone in chosen)
    assert {len(zone.logs.jobs) for zone in chosen} == {1, 2}
    assert any(
        sum(len(rule.request_headers) for rule in zone.logs.fields or []) == 40 for zone in logging.zones
    )
    for zone in logging.zones:
        zone.logs = type(zone.logs)()
    assert [zone.model_dump() for zone in plain.zones] == [zone.model_dump() for zone in logging.zones]


async def test_traffic_at_the_edge_is_logged_as_it_came(tmp_path: Path) -> None:
    """A request over HTTP becomes an entry with the client's and the origin's own headers, though a rule
    changes both on their way."""
    fields = [{"request_headers": ["x-shop", "x-late"], "response_headers": ["set-cookie", "x-added"]}]
    fleet = Fleet.model_validate({"zones": [a_zone(fields=fields)]})
    rewriting = {
        "action": "rewrite",
        "expression": "true",
        "action_parameters": {"headers": {"x-late": {"operation": "set", "value": "1"}}},
    }
    adding = {
        "action": "rewrite",
        "expression": "true",
        "action_parameters": {"headers": {"x-added": {"operation": "set", "value": "1"}}},
    }
    async with simulated(tmp_path, fleet=fleet) as call:
        phases = "enterprise:/rulesets/phases"
        for phase, rule in (
            ("http_request_late_transform", rewriting),
            ("http_response_headers_transform", adding),
        ):
            await call.result("PUT", f"{phases}/{phase}/entrypoint", {"rules": [rule]}, by="operator")
        options = {"logpull_options": "fields=RayID,ClientRequestPath,RequestHeaders,ResponseHeaders"}
        await call.result("PUT", f"enterprise:{JOBS}/1", options, by="operator")
        answer = await call.http.get(
            f"{call.server.edge_url}/login", headers={"host": "www.enterprise.example", "X-Shop": "seven"}
        )
        assert answer.headers["x-added"] == "1"
        (entry,) = await logged(call)
        assert entry["RayID"] == answer.headers["cf-ray"].partition("-")[0]
        assert entry["ClientRequestPath"] == "/login"
        assert entry["RequestHeaders"] == {"x-shop": "seven"}
        assert entry["ResponseHeaders"] == {"set-cookie": answer.headers.get_list("set-cookie")[0]}
