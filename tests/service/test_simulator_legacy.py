"""Legacy firewall, page rules and security events over HTTP (docs/service.md §2.4, §3.2, §4.3)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.testbed.simulator.clock import timestamp
from edgeshift.testbed.simulator.fleet_file import Fleet, FleetZone, PlantedFalsePositive, PlantedGap, Traffic
from tests.service.simulated import Caller, MovableTime, in_process, log_only

QUERY = """
query Events($zoneTag: string, $filter: FirewallEventsAdaptiveFilter_InputObject, $limit: uint64!) {
  viewer { zones(filter: {zoneTag: $zoneTag}) {
    firewallEventsAdaptive(filter: $filter, limit: $limit, orderBy: [datetime_ASC]) {
      action source ruleId rulesetId rayName at: datetime clientRequestHTTPHost
      clientRequestHTTPMethodName clientRequestPath clientRequestQuery
    }
  } }
}
"""


async def test_firewall_rules_are_made_changed_and_deleted(tmp_path: Path) -> None:
    """Create, read, change, delete, page by page; each change is an effect in the journal."""
    async with in_process(tmp_path) as call:
        sent = [
            {"action": "block", "filter": {"expression": f"ip.src eq 192.0.2.{n}"}, "description": f"n{n}"}
            for n in range(7)
        ]
        made = await call.result("POST", "paged:/firewall/rules", sent)
        assert len({one["id"] for one in made}) == 7
        page = (await call("GET", "paged:/firewall/rules?per_page=5&page=2")).json()
        assert (len(page["result"]), page["result_info"]["total_count"]) == (2, 7)
        path = f"paged:/firewall/rules/{made[0]['id']}"
        changed = await call.result("PUT", path, {**made[0], "paused": True})
        assert await call.result("GET", path) == changed == {**made[0], "paused": True}
        filtered = f"paged:/filters/{made[0]['filter']['id']}"
        await call.result("PUT", filtered, {"expression": "ssl"})
        assert (await call.result("GET", path))["filter"]["expression"] == "ssl"
        assert await call.result("DELETE", path) == {"id": made[0]["id"]}
        await call.refused(404, "GET", path)
        await call.refused(
            400, "POST", "paged:/firewall/rules", [{"action": "block", "filter": {"expression": "("}}]
        )
        await call.refused(
            400, "POST", "paged:/firewall/rules", [{"action": "x", "filter": {"expression": "ssl"}}]
        )
        ids = "&".join(f"id={one['id']}" for one in made[1:3])
        assert len(await call.result("DELETE", f"paged:/firewall/rules?{ids}")) == 2
        assert len(await call.result("GET", "paged:/firewall/rules")) == 4
        effects = [one["effect"] for one in await call.journal(call="firewall.rules.create")]
        assert effects == ["applied", "none", "none"]


async def test_packages_groups_and_rules_are_read_and_changed(tmp_path: Path) -> None:
    """Sensitivity, a group's and a rule's mode change by PATCH; other values are refused."""
    async with in_process(tmp_path) as call:
        packages = await call.result("GET", "pro:/firewall/waf/packages")
        anomaly, traditional = sorted(packages, key=lambda one: one["detection_mode"])
        path = f"pro:/firewall/waf/packages/{anomaly['id']}"
        await call.result("PATCH", path, {"sensitivity": "low", "action_mode": "simulate"})
        package = await call.result("GET", path)
        assert (package["sensitivity"], package["action_mode"]) == ("low", "simulate")
        await call.refused(400, "PATCH", path, {"sensitivity": "extreme"})
        await call.refused(
            400, "PATCH", f"pro:/firewall/waf/packages/{traditional['id']}", {"sensitivity": "low"}
        )
        groups = await call.result("GET", f"{path}/groups")
        group = await call.result("PATCH", f"{path}/groups/{groups[0]['id']}", {"mode": "off"})
        assert group["mode"] == "off"
        rules_path = f"pro:/firewall/waf/packages/{traditional['id']}/rules"
        rules = await call.result("GET", f"{rules_path}?per_page=100")
        await call.result("PATCH", f"{rules_path}/{rules[0]['id']}", {"mode": "simulate"})
        assert (await call.result("GET", f"{rules_path}/{rules[0]['id']}"))["mode"] == "simulate"
        await call.refused(400, "PATCH", f"{rules_path}/{rules[0]['id']}", {"mode": 7})
        await call.refused(404, "GET", f"{path}/rules/none")


async def test_page_rules_and_overrides_are_made_and_deleted(tmp_path: Path) -> None:
    """Both lists round-trip in the service's own shapes."""
    async with in_process(tmp_path) as call:
        target = {"target": "url", "constraint": {"operator": "matches", "value": "*pro.example/a*"}}
        rule = {
            "targets": [target],
            "actions": [{"id": "disable_security"}],
            "priority": 2,
            "status": "active",
        }
        made = await call.result("POST", "pro:/pagerules", rule)
        assert {key: made[key] for key in rule} == rule
        patched = await call.result("PATCH", f"pro:/pagerules/{made['id']}", {"status": "disabled"})
        assert patched == {**made, "status": "disabled"}
        assert await call.result("DELETE", f"pro:/pagerules/{made['id']}") == {"id": made["id"]}
        assert await call.result("GET", "pro:/pagerules") == []
        wrong_rules: list[Any] = [
            {"targets": [], "actions": []},
            {"targets": [{}], "actions": [{"id": "waf"}]},
        ]
        for wrong in wrong_rules:
            await call.refused(400, "POST", "pro:/pagerules", wrong)
        override = await call.result(
            "POST", "pro:/firewall/waf/overrides", {"urls": ["pro.example/*"], "groups": {}}
        )
        assert (override["urls"], override["paused"]) == (["pro.example/*"], False)
        assert (await call.result("GET", "pro:/waf_migration/check?phase_two=1"))["compatible"] is False
        await call.refused(400, "POST", "pro:/firewall/waf/overrides", {"urls": []})


def _busy_fleet() -> Fleet:
    traffic = Traffic(
        requests_per_minute=60,
        false_positives=[PlantedFalsePositive(per_hour=60)],
        gaps=[PlantedGap(per_hour=60)],
    )
    return Fleet(zones=[FleetZone(name="busy.example", plan="enterprise", traffic=traffic)])


async def _events(call: Caller, time: MovableTime, hours: float, **wanted: Any) -> list[dict[str, Any]]:
    since = timestamp(time.now - timedelta(hours=hours))
    variables = {
        "zoneTag": call.ids["busy"],
        "filter": {"datetime_geq": since, "datetime_lt": timestamp(time.now), **wanted},
        "limit": 10_000,
    }
    answer = await call("POST", "/graphql", {"query": QUERY, "variables": variables}, by="operator")
    document = answer.json()
    assert (answer.status_code, document["errors"]) == (200, None), answer.text
    found: list[dict[str, Any]] = document["data"]["viewer"]["zones"][0]["firewallEventsAdaptive"]
    return found


async def test_events_show_both_verdicts_in_shadow_and_one_afterwards(tmp_path: Path) -> None:
    """Before: the previous WAF alone. Log-only validation: both on one ray. Migrated: the new one alone."""
    time = MovableTime()
    async with in_process(tmp_path, fleet=_busy_fleet(), time=time) as call:
        body = await _config(call)
        time.pass_by(6 * 3600)
        assert {one["source"] for one in await _events(call, time, 6)} == {"waf"}
        await _put(call, "validation", log_only(body))
        time.pass_by(6 * 3600)
        seen = await _events(call, time, 6)
        assert {one["source"] for one in seen} == {"waf", "firewallManaged"}
        assert {one["action"] for one in seen if one["source"] == "firewallManaged"} == {"log"}
        both = {one["rayName"] for one in seen if one["source"] == "waf"} & {
            one["rayName"] for one in seen if one["source"] == "firewallManaged"
        }
        assert both
        assert [one["at"] for one in seen] == sorted(one["at"] for one in seen)
        only = await _events(call, time, 6, source_in=["firewallmanaged"])
        assert only == [one for one in seen if one["source"] == "firewallManaged"]
        assert await _events(call, time, 6, source="waf", action="allow") == []
        await _put(call, "pending", body)
        time.pass_by(6 * 3600)
        assert {one["source"] for one in await _events(call, time, 6)} == {"firewallManaged"}
        assert {one["source"] for one in await _events(call, time, 18)} == {"waf", "firewallManaged"}


async def test_the_time_scale_lets_more_happen_in_less_time(tmp_path: Path) -> None:
    """At a scale of 60, six minutes hold the events of six hours, and none lies outside them."""
    time = MovableTime()
    async with in_process(tmp_path, fleet=_busy_fleet(), time=time, time_scale=60) as call:
        time.pass_by(360)
        found = await _events(call, time, 0.1)
        assert len(found) > 20
        assert all(
            timestamp(time.now - timedelta(minutes=6)) <= one["at"] < timestamp(time.now) for one in found
        )


@pytest.mark.parametrize(("listed", "checked"), [(0, 0), (0, 40), (20, 0), (20, 40)])
async def test_a_deleted_override_shows_in_reads_for_as_long_as_options_say(
    listed: int, checked: int, tmp_path: Path
) -> None:
    """In the list and in the check, each for its own time."""
    time = MovableTime()
    began = time.now
    late: dict[str, Any] = {
        "override_list_late_seconds": listed,
        "override_check_late_seconds": checked,
    }
    async with in_process(tmp_path, time=time, **late) as call:
        (one,) = await call.result("GET", "overridden:/firewall/waf/overrides")
        await call.result("DELETE", f"overridden:/firewall/waf/overrides/{one['id']}")
        for passed in (0, 19, 21, 41):
            time.now = began + timedelta(seconds=passed)
            found = await call.result("GET", "overridden:/firewall/waf/overrides")
            check = await call.result("GET", "overridden:/waf_migration/check?phase_two=1")
            assert found == ([one] if passed < listed else [])
            assert check["compatible"] is (passed >= checked)


async def test_a_large_time_scale_reaches_back_before_a_validation(tmp_path: Path) -> None:
    """At 3,600, a query from before the validation to after it finds the events of both: the years before
    the fleet began, times the scale, are more than a date can hold.
    """
    time = MovableTime()
    async with in_process(tmp_path, fleet=_busy_fleet(), time=time, time_scale=3600) as call:
        body = await _config(call)
        time.pass_by(10)
        await _put(call, "validation", log_only(body))
        time.pass_by(10)
        found = await _events(call, time, 20 / 3600)
        assert {one["source"] for one in found} == {"waf", "firewallManaged"}


async def test_wrong_queries_are_answered_in_graphqls_own_form(tmp_path: Path) -> None:
    """Syntax, unknown fields, a zone out of scope, a wrong token: data null and errors with messages."""
    async with in_process(tmp_path) as call:
        other = '{viewer{zones(filter:{zoneTag:"ZONE"}){zoneTag}}}'.replace("ZONE", call.ids["pro"])
        for query, status, by in (
            ("{viewer{", 200, "ada-token"),
            ("{viewer{nothing}}", 200, "ada-token"),
            (other, 200, "bob-token"),
            (other, 403, "ada-reader"),
            (other, 403, "old-token"),
            (None, 400, "ada-token"),
        ):
            answer = await call("POST", "/graphql", {"query": query}, by=by)
            assert answer.status_code == status, answer.text
            document = answer.json()
            assert document["data"] is None
            assert document["errors"][0]["message"]
            assert "success" not in document


async def test_a_query_over_more_than_thirty_days_is_refused(tmp_path: Path) -> None:
    """As docs/service.md §4.3 says; one over thirty days is answered."""
    time = MovableTime()
    async with in_process(tmp_path, time=time) as call:
        for more, refused in ((timedelta(0), False), (timedelta(seconds=1), True)):
            asked = {
                "zoneTag": call.ids["pro"],
                "filter": {
                    "datetime_geq": timestamp(time.now - timedelta(days=30) - more),
                    "datetime_lt": timestamp(time.now),
                },
                "limit": 10,
            }
            answer = await call("POST", "/graphql", {"query": QUERY, "variables": asked})
            errors = answer.json()["errors"]
            assert bool(errors) is refused, answer.text
            assert not refused or "at most 30 days" in errors[0]["message"]


async def _config(call: Caller) -> Any:
    return await call.result("GET", "busy:/waf_migration/config?phase_two=1", by="operator")


async def _put(call: Caller, value: str, body: Any) -> None:
    path = "busy:/rulesets/phases/http_request_firewall_managed/entrypoint"
    await call.result("PUT", f"{path}?waf_migration={value}&phase_two=1", body, by="operator")
