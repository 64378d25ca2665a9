"""What usual clients of the real API ask of the simulator beyond what edgeshift calls (docs/simulator.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.logs_kit import JOBS, a_job
from tests.service.simulated import STRICT, Caller, Json, in_process

POSTED = "https://logs.example/push"
CUSTOM = {"kind": "zone", "name": "mine", "phase": "http_request_firewall_custom"}


def a_rule(description: str) -> Json:
    return {"action": "block", "expression": "ssl", "description": description}


async def test_a_filter_in_use_is_not_deleted_and_outlives_its_rule(tmp_path: Path) -> None:
    """A rule refers to a filter by its id; the filter goes only when no rule uses it, or with the last one
    where the call says so."""
    async with in_process(tmp_path) as call:
        (made,) = await call.result("POST", "paged:/filters", [{"expression": "ssl", "description": "d"}])
        sent = {"action": "block", "filter": {"id": made["id"], "expression": ""}}
        one, two = await call.result("POST", "paged:/firewall/rules", [sent, sent])
        assert one["filter"] == two["filter"] == made
        changed = {"expression": "not ssl", "ref": "r"}
        await call.result("PUT", f"paged:/filters/{made['id']}", changed)
        rules = await call.result("GET", "paged:/firewall/rules")
        assert [rule["filter"]["expression"] for rule in rules] == ["not ssl", "not ssl"]
        (error,) = await call.refused(400, "DELETE", f"paged:/filters/{made['id']}")
        assert "in use" in error["message"]
        await call.result("DELETE", f"paged:/firewall/rules/{one['id']}?delete_filter_if_unused=true")
        assert len(await call.result("GET", "paged:/filters")) == 1
        await call.result("DELETE", f"paged:/firewall/rules/{two['id']}")
        assert (await call.result("GET", f"paged:/filters/{made['id']}"))["ref"] == "r"
        assert await call.result("DELETE", f"paged:/filters?id={made['id']}") == [{"id": made["id"]}]
        (last,) = await call.result(
            "POST", "paged:/firewall/rules", [{**sent, "filter": {"expression": "ssl"}}]
        )
        await call.result("DELETE", f"paged:/firewall/rules/{last['id']}?delete_filter_if_unused=true")
        assert await call.result("GET", "paged:/filters") == []
        await call.refused(404, "POST", "paged:/firewall/rules", [sent])
    async with in_process(tmp_path) as call:
        assert await call.result("GET", "paged:/filters") == []


async def test_a_rule_with_a_paused_filter_does_not_act(tmp_path: Path) -> None:
    """The proposed configuration has its rule turned off, as if the rule itself were paused."""
    async with in_process(tmp_path) as call:
        (rule,) = await call.result("GET", "pro:/firewall/rules")
        paused = {"id": rule["filter"]["id"], "expression": rule["filter"]["expression"], "paused": True}
        await call.result("PUT", "pro:/filters", [paused])
        (shown,) = await call.result("GET", "pro:/firewall/rules")
        assert (shown["paused"], shown["filter"]["paused"]) == (False, True)
        proposed = await call.result("GET", "pro:/waf_migration/config?phase_two=1")
        assert proposed["rules"][0]["enabled"] is False


@pytest.mark.parametrize("path", ["/filters/validate-expr", "paged:/filters/validate-expr"])
async def test_an_expression_is_judged(tmp_path: Path, path: str) -> None:
    """A 400 says what is wrong with it."""
    async with in_process(tmp_path) as call:
        assert await call.result("POST", path, {"expression": "ssl"}) is None
        (error,) = await call.refused(400, "POST", path, {"expression": "("})
        assert error["message"].startswith("filter parsing error")


async def test_all_settings_are_listed_and_several_changed(tmp_path: Path) -> None:
    """`waf` is among them for as long as there is a previous WAF; a wrong value changes none of them."""
    async with in_process(tmp_path) as call:
        items: list[Json] = [{"id": "browser_check", "value": "on"}, {"id": "waf", "value": "off"}]
        found = await call.result("PATCH", "pro:/settings", {"items": items})
        assert {one["id"]: one["value"] for one in found} == {
            "always_online": "off",
            "always_use_https": "off",
            "automatic_https_rewrites": "off",
            "browser_check": "on",
            "waf": "off",
        }
        assert await call.result("GET", "pro:/settings") == found
        wrong = [{"id": "waf", "value": "on"}, {"id": "browser_check", "value": "maybe"}]
        for refused in (
            wrong,
            wrong[::-1],
            [{"id": "waf", "value": 1}],
            [{"id": "polish", "value": "on"}],
            [],
        ):
            await call.refused(400, "PATCH", "pro:/settings", {"items": refused})
        assert await call.result("GET", "pro:/settings") == found
        (entry, *_) = await call.journal(call="settings.patch_many")
        assert entry["setting"] == {"sent": items, "before": {}, "after": {"browser_check": "on"}}
        await call.control("PATCH", f"zones/{call.ids['pro']}", {"state": "complete"})
        assert "waf" not in {one["id"] for one in await call.result("GET", "pro:/settings")}
        await call.refused(400, "PATCH", "pro:/settings", {"items": [{"id": "waf", "value": "on"}]})


async def test_a_log_job_is_deleted(tmp_path: Path) -> None:
    """The journal says what it was; a zone's own jobs alone can be deleted."""
    async with in_process(tmp_path) as call:
        await a_job(call)
        await call.refused(404, "DELETE", f"enterprise:{JOBS}/2")
        assert await call.result("DELETE", f"enterprise:{JOBS}/1") == {"id": 1}
        await call.refused(404, "DELETE", f"enterprise:{JOBS}/1")
        assert await call.result("GET", f"enterprise:{JOBS}") == []
        found = [one for one in await call.journal() if one["call"] == "logpush.jobs.delete"]
        assert [one["effect"] for one in found] == ["none", "applied", "none"]
        assert (found[1]["log_job"]["id"], found[1]["log_job"]["after"]) == (1, None)
        assert found[1]["log_job"]["before"]["dataset"] == "http_requests"


async def test_datasets_have_fields_and_jobs(tmp_path: Path) -> None:
    """Every dataset says its fields, with which a job of it can be made."""
    async with in_process(tmp_path) as call:
        for number, dataset in enumerate(("http_requests", "dns_logs", "firewall_events"), 1):
            fields = await call.result("GET", f"enterprise:/logpush/datasets/{dataset}/fields")
            body = {
                "destination_conf": POSTED,
                "dataset": dataset,
                "output_options": {"field_names": list(fields)},
            }
            await call.result("POST", f"enterprise:{JOBS}", body)
            (job,) = await call.result("GET", f"enterprise:/logpush/datasets/{dataset}/jobs")
            assert job["id"] == number
        await call.refused(400, "GET", "enterprise:/logpush/datasets/nothing/fields")
        await call.refused(400, "GET", "enterprise:/logpush/datasets/nothing/jobs")


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ([], ""),
        ({"field_names": "RayID"}, "/field_names"),
        ({"field_names": ["rayid"]}, "/field_names"),
        ({"field_names": ["RayID", "RayID"]}, "/field_names"),
        ({"timestamp_format": "iso"}, "/timestamp_format"),
        ({"output_type": "xml"}, "/output_type"),
        ({"sample_rate": 2}, "/sample_rate"),
        ({"sample_rate": True}, "/sample_rate"),
        ({"record_prefix": 7}, "/record_prefix"),
    ],
)
async def test_wrong_output_options_are_refused_with_their_place(
    tmp_path: Path, options: Any, pointer: str
) -> None:
    """400 with the pointer of what is wrong; null takes them away again."""
    async with in_process(tmp_path, log_jobs={"unknown_fields": "refuse"}) as call:
        right = {"field_names": ["RayID"], "CVE-2021-44228": False}
        body = {"destination_conf": POSTED, "output_options": {**right, "batch_prefix": None}}
        assert (await call.result("POST", f"enterprise:{JOBS}", body))["output_options"] == right
        errors = await call.refused(400, "PUT", f"enterprise:{JOBS}/1", {"output_options": options})
        assert errors[0]["source"]["pointer"] == f"/output_options{pointer}"
        assert (await call.result("GET", f"enterprise:{JOBS}/1"))["output_options"] == right
        without = await call.result("PUT", f"enterprise:{JOBS}/1", {"output_options": None})
        assert without["output_options"] is None


async def test_destinations_and_parameters_are_judged(tmp_path: Path) -> None:
    """The answer says whether they would do, and why not; no address is repeated."""
    async with in_process(tmp_path) as call:
        path = "enterprise:/logpush/validate"
        right, wrong = {"destination_conf": POSTED}, {"destination_conf": "ftp://secret/zone"}
        assert await call.result("POST", f"{path}/destination", right) == {"valid": True, "message": ""}
        said = await call.result("POST", f"{path}/destination", wrong)
        assert said["valid"] is False and "secret" not in said["message"]
        judged = (("fields=RayID", True), ("fields=none", True), ("fields=no ne", False), (None, False))
        for text, valid in judged:
            said = await call.result("POST", f"{path}/origin", {"logpull_options": text})
            assert said["valid"] is valid
        await call.control("PUT", "options", {"log_jobs": {"unknown_fields": "refuse"}})
        said = await call.result("POST", f"{path}/origin", {"logpull_options": "fields=none"})
        assert said["valid"] is False
        assert await call.result("POST", f"{path}/destination/exists", right) == {"exists": False}
        await call.result("POST", f"enterprise:{JOBS}", right)
        other = {"destination_conf": f"{POSTED}?header_a=b"}
        assert await call.result("POST", f"{path}/destination/exists", other) == {"exists": True}


async def descriptions(call: Caller, ruleset: str) -> list[str]:
    found = await call.result("GET", f"pro:/rulesets/{ruleset}")
    return [rule["description"] for rule in found["rules"]]


async def test_single_rules_of_a_ruleset_come_move_and_go(tmp_path: Path) -> None:
    """At the end, or where `position` says; each call makes the next version, and answers all rules."""
    async with in_process(tmp_path) as call:
        made = await call.result("POST", "pro:/rulesets", {**CUSTOM, "rules": [a_rule("a"), a_rule("b")]})
        one, path = made["id"], f"pro:/rulesets/{made['id']}/rules"
        first = made["rules"][0]["id"]
        await call.result("POST", path, a_rule("end"))
        await call.result("POST", path, {**a_rule("second"), "position": {"after": first}})
        await call.result("POST", path, {**a_rule("first"), "position": {"before": ""}})
        found = await call.result("POST", path, {**a_rule("third"), "position": {"index": 3}})
        assert [rule["description"] for rule in found["rules"]] == [
            "first",
            "a",
            "third",
            "second",
            "b",
            "end",
        ]
        assert found["version"] == "5"
        await call.result("PATCH", f"{path}/{first}", {"position": {"after": ""}})
        await call.result("PATCH", f"{path}/{first}", {"description": "last"})
        await call.result("DELETE", f"{path}/{found['rules'][0]['id']}")
        assert await descriptions(call, one) == ["third", "second", "b", "end", "last"]
        for wrong in ({"index": 0}, {"index": 9}, {"before": "none"}, {"index": True}, 7):
            await call.refused(400, "POST", path, {**a_rule("x"), "position": wrong})
        await call.refused(404, "DELETE", f"{path}/none")
        await call.refused(400, "DELETE", f"pro:/rulesets/{one}/versions/8")
        assert (await call("DELETE", f"pro:/rulesets/{one}/versions/2")).status_code == 204
        versions = await call.result("GET", f"pro:/rulesets/{one}/versions")
        assert [each["version"] for each in versions] == ["8", "7", "6", "5", "4", "3", "1"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "paged:/firewall/rules", {"action": "block", "filter": {"expression": "ssl"}}),
        ("POST", "paged:/filters", {"expression": "ssl"}),
        ("POST", "pro:/firewall/waf/overrides", {"urls": ["a.example/*"], "groups": None}),
        ("POST", "pro:/firewall/waf/overrides", {"urls": ["a.example/*"], "mode": "on"}),
        ("POST", "pro:/rulesets", {**CUSTOM, "rules": None}),
        ("POST", "pro:/rulesets", {**CUSTOM, "rules": [{**a_rule("a"), "ref": None}]}),
        ("POST", f"enterprise:{JOBS}", {"destination_conf": POSTED, "id": 3}),
        ("POST", f"enterprise:{JOBS}", {"destination_conf": POSTED, "frequency": None}),
        ("POST", f"enterprise:{JOBS}", {"destination_conf": POSTED, "filter": "{}"}),
    ],
)
async def test_what_is_too_much_is_taken_or_refused(
    tmp_path: Path, method: str, path: str, body: Json
) -> None:
    """Usual clients send it, so it is taken; the option `bodies` has it refused."""
    async with in_process(tmp_path) as call:
        await call.control("PUT", "options", {"bodies": STRICT})
        await call.refused(400, method, path, body)
        await call.control("PUT", "options", {"bodies": dict.fromkeys(("unknown_keys", "nulls"), "ignore")})
        await call.control("PUT", "options", {"bodies": {"single_items": "accept"}})
        await call.result(method, path, body)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "pro:/settings"),
        ("POST", "pro:/filters"),
        ("DELETE", f"enterprise:{JOBS}/1"),
        ("GET", "enterprise:/logpush/datasets/http_requests/fields"),
        ("POST", "enterprise:/logpush/validate/destination"),
        ("POST", "pro:/rulesets/none/rules"),
    ],
)
async def test_they_are_calls_like_all_others(tmp_path: Path, method: str, path: str) -> None:
    """Permission, the rate limit, faults and the journal hold for them."""
    async with in_process(tmp_path, rate_limit={"requests": 3}) as call:
        await call.refused(403, method, path, by="ada-reader")
        await call.control("POST", "faults", {"kind": "server_error", "status": 502, "times": 1})
        assert (await call(method, path)).status_code == 502
        await call(method, path)
        await call.refused(429, method, path)
        assert [one["status"] for one in await call.journal()][:2] == [403, 502]
        assert len(await call.journal()) == 4
