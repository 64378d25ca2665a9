"""Rulesets, their versions and entry points over HTTP (docs/service.md §2.2, §4.2)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edgeshift.testbed.simulator.equivalent import OWASP_RULESET
from tests.service.simulated import ENTRY_POINT, MANAGED_RULESET, STRICT, Caller, Json, in_process

CUSTOM = "/rulesets/phases/http_request_firewall_custom/entrypoint"
SKIP = {"action": "skip", "expression": "true"}
BLOCK = {"action": "block", "expression": 'http.host eq "a.example"'}


async def test_put_makes_the_next_version_and_keeps_earlier_ones(tmp_path: Path) -> None:
    """A PUT creates the entry point, each makes the next version; rules keep their ids by id and by ref."""
    async with in_process(tmp_path) as call:
        first = await call.result("PUT", f"pro:{CUSTOM}", {"rules": [{**BLOCK, "ref": "mine"}, BLOCK]})
        assert first["version"] == "1"
        assert re.fullmatch(r"[0-9a-f]{32}", first["id"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", first["last_updated"])
        named, unnamed = first["rules"]
        assert (named["ref"], unnamed["ref"]) == ("mine", unnamed["id"])

        changed = {**BLOCK, "ref": "mine", "enabled": False}
        second = await call.result("PUT", f"pro:{CUSTOM}", {"rules": [unnamed, changed]})
        assert (second["id"], second["version"]) == (first["id"], "2")
        assert second["rules"][0] == unnamed
        assert (second["rules"][1]["id"], second["rules"][1]["version"]) == (named["id"], "2")

        for versions in (f"pro:{CUSTOM}/versions", f"pro:/rulesets/{first['id']}/versions"):
            listed = await call.result("GET", versions)
            assert [one["version"] for one in listed] == ["2", "1"]
            assert all("rules" not in one for one in listed)
            assert await call.result("GET", f"{versions}/1") == first
            assert (await call.refused(404, "GET", f"{versions}/9"))[0]["code"] == 10003


async def test_lists_omit_rules_and_show_managed_rulesets(tmp_path: Path) -> None:
    """The list has the zone's rulesets and the managed ones; one of them is read with its rules."""
    async with in_process(tmp_path) as call:
        mine = await call.result("PUT", f"pro:{CUSTOM}", {"rules": [BLOCK]})
        listed = await call.result("GET", "pro:/rulesets")
        assert all("rules" not in one for one in listed)
        assert [one["kind"] for one in listed] == ["zone", "managed", "managed"]
        assert (await call.result("GET", f"pro:/rulesets/{mine['id']}"))["rules"] == mine["rules"]
        assert (await call.result("GET", f"pro:/rulesets/{MANAGED_RULESET}"))["rules"]
        await call.refused(403, "PUT", f"pro:/rulesets/{MANAGED_RULESET}", {"rules": []})
        assert await call.result("GET", "enterprise:/rulesets") == [
            one for one in listed if one["kind"] != "zone"
        ]


async def test_a_phase_has_one_ruleset_and_delete_makes_room(tmp_path: Path) -> None:
    """A second ruleset of a phase is refused with 20217; after DELETE (204) there is none."""
    async with in_process(tmp_path) as call:
        body = {"name": "mine", "kind": "zone", "phase": "http_request_firewall_custom", "rules": [BLOCK]}
        made = await call.result("POST", "pro:/rulesets", body)
        error = (await call.refused(400, "POST", "pro:/rulesets", body))[0]
        assert error["code"] == 20217
        assert error["source"] == {"pointer": "/kind"}
        assert error["message"] == (
            "'zone' is not a valid value for kind because exceeded maximum number of zone rulesets "
            "for phase http_request_firewall_custom"
        )
        gone = await call("DELETE", f"pro:/rulesets/{made['id']}")
        assert (gone.status_code, gone.content) == (204, b"")
        assert (await call.refused(404, "GET", f"pro:{CUSTOM}"))[0] == {
            "code": 10003,
            "message": "could not find entrypoint ruleset in the http_request_firewall_custom phase",
        }
        await call.refused(404, "DELETE", f"pro:/rulesets/{made['id']}")


async def test_a_new_ruleset_of_log_fields_shows_late_on_demand(tmp_path: Path) -> None:
    """In the list, and by its id; writes find it at once, and a second one is refused."""
    body = {"name": "mine", "kind": "zone", "phase": "http_log_custom_fields"}
    entry = "enterprise:/rulesets/phases/http_log_custom_fields/entrypoint"
    late = {"listed_seconds": 3600, "readable_seconds": 3600}
    async with in_process(tmp_path, log_fields=late) as call:
        made = await call.result("POST", "enterprise:/rulesets", body)
        one = f"enterprise:/rulesets/{made['id']}"
        for path in (one, f"{one}/versions", f"{one}/versions/1", entry):
            await call.refused(404, "GET", path)
        assert (await call.refused(400, "POST", "enterprise:/rulesets", body))[0]["code"] == 20217
        assert (await call.result("PUT", one, {"rules": []}))["version"] == "2"
        await call.control("PUT", "options", {"log_fields": {"readable_seconds": 0}})
        assert (await call.result("GET", one))["version"] == "2"
        for listed in (3600, 0):
            await call.control("PUT", "options", {"log_fields": {"listed_seconds": listed}})
            kinds = [one["kind"] for one in await call.result("GET", "enterprise:/rulesets")]
            assert ("zone" in kinds) == (not listed)


async def test_a_phase_needs_the_plan_and_the_migration(tmp_path: Path) -> None:
    """50002 for log fields below Enterprise, and for the managed phase until the migration."""
    async with in_process(tmp_path) as call:
        log_fields = {"name": "x", "kind": "zone", "phase": "http_log_custom_fields"}
        error = (await call.refused(400, "POST", "pro:/rulesets", log_fields))[0]
        assert (error["code"], error["message"]) == (
            50002,
            "not entitled to use the phase http_log_custom_fields",
        )
        await call.result("POST", "enterprise:/rulesets", log_fields)
        await call.refused(400, "PUT", f"pro:{ENTRY_POINT}", {"rules": []})
        assert (await call.migrate("pro", "pending")).status_code == 200
        stored = await call.result("GET", f"pro:{ENTRY_POINT}")
        updated = await call.result("PUT", f"pro:{ENTRY_POINT}", {"rules": stored["rules"][:1]})
        assert (updated["version"], len(updated["rules"])) == ("2", 1)
        assert await call.state("pro") == "complete"


@pytest.mark.parametrize(
    ("rule", "pointer"),
    [
        ({"action": "block", "expression": ""}, "/rules/0/expression"),
        ({"action": "block", "expression": '(http.host eq "a"'}, "/rules/0/expression"),
        ({"action": "block", "expression": 'http.host eq "a'}, "/rules/0/expression"),
        ({"action": "block", "expression": 7}, "/rules/0/expression"),
        ({"action": "explode", "expression": "true"}, "/rules/0/action"),
        ({"action": "block", "expression": "true", "enabled": "yes"}, "/rules/0/enabled"),
        ({"action": "block", "expression": "true", "id": "short"}, "/rules/0/id"),
        ({"action": "execute", "expression": "true"}, "/rules/0/action_parameters"),
        (
            {"action": "execute", "expression": "true", "action_parameters": {"id": "no"}},
            "/rules/0/action_parameters/id",
        ),
        (
            {
                "action": "execute",
                "expression": "true",
                "action_parameters": {"id": MANAGED_RULESET, "overrides": {"rules": ["x"]}},
            },
            "/rules/0/action_parameters/overrides/rules/0",
        ),
        (
            {
                "action": "execute",
                "expression": "true",
                "action_parameters": {"id": OWASP_RULESET, "overrides": {"score_threshold": 60}},
            },
            "/rules/0/action_parameters/overrides/score_threshold",
        ),
        (
            {
                "action": "execute",
                "expression": "true",
                "action_parameters": {
                    "id": OWASP_RULESET,
                    "overrides": {"categories": [{"category": "x", "score_threshold": 60}]},
                },
            },
            "/rules/0/action_parameters/overrides/categories/0/score_threshold",
        ),
        *(
            (
                {
                    "action": "execute",
                    "expression": "true",
                    "action_parameters": {"id": MANAGED_RULESET, "overrides": {"rules": [override]}},
                },
                "/rules/0/action_parameters/overrides/rules/0/action",
            )
            for override in ({"id": "e" * 32, "action": action} for action in ("skip", "execute", "rewrite"))
        ),
        (
            {"action": "execute", "expression": "true", "action_parameters": {"id": []}},
            "/rules/0/action_parameters/id",
        ),
        *(
            (
                {**SKIP, "action_parameters": {"ruleset": "current", key: value}},
                f"/rules/0/action_parameters/{key}",
            )
            for key, value in (
                ("ruleset", 5),
                ("rulesets", 5),
                ("rulesets", [MANAGED_RULESET, {}]),
                ("phases", "http_request_firewall_managed"),
                ("products", [[]]),
                ("rules", ["x"]),
                ("rules", {MANAGED_RULESET: "x"}),
                ("rules", {MANAGED_RULESET: [5]}),
            )
        ),
        ({**SKIP, "action_parameters": {}}, "/rules/0/action_parameters"),
        ("not an object", "/rules/0"),
    ],
)
async def test_a_wrong_rule_is_refused_with_its_place(tmp_path: Path, rule: Json, pointer: str) -> None:
    """400 with the pointer of what is wrong; nothing is stored."""
    async with in_process(tmp_path) as call:
        errors = await call.refused(400, "PUT", f"pro:{CUSTOM}", {"rules": [rule]})
        assert pointer in [one["source"]["pointer"] for one in errors]
        if pointer.endswith("expression") and isinstance(rule["expression"], str):
            said = "is not a valid value for Expression because the expression is invalid: "
            assert errors[0]["message"].startswith(f"'{rule['expression']}' {said}")
        await call.refused(404, "GET", f"pro:{CUSTOM}")


async def test_an_expression_that_is_no_sentence_is_refused(tmp_path: Path) -> None:
    """Wherever the service compiles one; fields and functions that the simulator does not know are taken."""
    known = 'any(http.request.headers["x-tenant"][*] in {"a" "b"}) and not ip.src in $office'
    current = {"action": "skip", "action_parameters": {"ruleset": "current"}}
    async with in_process(tmp_path) as call:
        await _migrated(call)
        made = await call.result(
            "POST", "pro:/firewall/rules", [{"action": "block", "filter": {"expression": known}}]
        )
        filtered = f"pro:/filters/{made[0]['filter']['id']}"
        for broken in ("true true", "nonsense ~~ 5", 'http.host is "a"'):
            body = {"rules": [{**current, "expression": broken}]}
            (error,) = await call.refused(400, "PUT", f"enterprise:{ENTRY_POINT}", body)
            assert error["source"] == {"pointer": "/rules/0/expression"}
            rules = [{"action": "block", "filter": {"expression": broken}}]
            (error,) = await call.refused(400, "POST", "pro:/firewall/rules", rules)
            assert "filter parsing error" in error["message"]
            await call.refused(400, "PUT", filtered, {"expression": broken})
        kept = await call.result(
            "PUT", f"enterprise:{ENTRY_POINT}", {"rules": [{**current, "expression": known}]}
        )
        assert kept["rules"][0]["expression"] == known


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"text"', b"null", b'{"rules": {}}', b'{"rules": null}', b"\xff\xfe", b"[" * 100_000],
)
async def test_a_body_of_a_wrong_shape_is_a_400_not_a_500(tmp_path: Path, body: bytes) -> None:
    """Malformed JSON and wrong types are answered in the envelope, whatever the call."""
    async with in_process(tmp_path, bodies=STRICT) as call:
        await _migrated(call)
        for method, path in (
            ("PUT", f"enterprise:{ENTRY_POINT}"),
            ("PUT", f"pro:{ENTRY_POINT}?waf_migration=pending&phase_two=1"),
            ("POST", "pro:/rulesets"),
            ("POST", "pro:/firewall/rules"),
            ("POST", "pro:/pagerules"),
            ("POST", "pro:/firewall/waf/overrides"),
            ("PATCH", "pro:/settings/waf"),
        ):
            answer = await call(method, path, content=body)
            assert answer.status_code == 400, (method, path, answer.text)
            assert answer.json()["success"] is False


async def _migrated(call: Caller) -> None:
    assert (await call.migrate("enterprise", "pending")).status_code == 200
