"""Custom log fields at the simulator: each limit, and one past it (docs/service.md §2.2, §4.2, §7, §8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.logs_kit import ENTRY, PHASE, a_rule
from tests.service.simulated import Caller, Json, in_process

BODY = {"name": "Log fields", "kind": "zone", "description": "", "phase": PHASE}


async def made(call: Caller) -> Json:
    """An empty ruleset of the phase in the Enterprise zone."""
    return await call.result("POST", "enterprise:/rulesets", BODY)


async def test_the_procedure_of_the_documentation(tmp_path: Path) -> None:
    """List, create, PUT: the rules replace all that were there, each PUT makes the next version, and earlier
    ones can be read."""
    async with in_process(tmp_path) as call:
        listed = await call.result("GET", "enterprise:/rulesets")
        assert not [one for one in listed if one["phase"] == PHASE]
        ruleset = await made(call)
        assert (ruleset["version"], ruleset["rules"]) == ("1", [])
        path = f"enterprise:/rulesets/{ruleset['id']}"
        theirs, mine = a_rule(request_fields=["x-their"]), a_rule(cookie_fields=["Mine"])
        second = await call.result("PUT", path, {"rules": [{**theirs, "ref": "theirs"}]})
        third = await call.result("PUT", path, {"rules": [mine]})
        assert [second["version"], third["version"]] == ["2", "3"]
        assert [rule["action_parameters"] for rule in third["rules"]] == [mine["action_parameters"]]
        (listed,) = [one for one in await call.result("GET", "enterprise:/rulesets") if one["phase"] == PHASE]
        assert (listed["kind"], listed["version"], "rules" in listed) == ("zone", "3", False)
        assert await call.result("GET", f"{path}/versions/2") == second
        assert second["rules"][0]["ref"] == "theirs"
        assert third["rules"][0]["ref"] == third["rules"][0]["id"]
        again = await call.result("PUT", path, {"rules": [third["rules"][0], theirs]})
        assert again["rules"][0]["id"] == third["rules"][0]["id"]
        assert (await call("DELETE", path)).status_code == 204
        assert (await call.refused(404, "GET", f"enterprise:{ENTRY}"))[0]["code"] == 10003


async def test_a_zone_has_one_ruleset_of_the_phase_and_enterprise_alone(tmp_path: Path) -> None:
    """The second is refused with 20217 at /kind; another plan with 50002."""
    async with in_process(tmp_path) as call:
        await made(call)
        (error,) = await call.refused(400, "POST", "enterprise:/rulesets", BODY)
        assert (error["code"], error["source"]) == (20217, {"pointer": "/kind"})
        for method, path, body in (("POST", "pro:/rulesets", BODY), ("PUT", f"pro:{ENTRY}", {"rules": []})):
            (error,) = await call.refused(400, method, path, body)
            assert (error["code"], error["message"]) == (50002, f"not entitled to use the phase {PHASE}")


def changed(**keys: Any) -> Json:
    return {**a_rule(request_fields=["x-one"]), **keys}


PARAMETERS = "/rules/0/action_parameters"


@pytest.mark.parametrize(
    ("rule", "pointer"),
    [
        (changed(action="log"), "/rules/0/action"),
        (changed(action="rewrite"), "/rules/0/action"),
        (changed(expression='http.host eq "a.example"'), "/rules/0/expression"),
        (changed(expression="TRUE"), "/rules/0/expression"),
        (changed(expression=" true"), "/rules/0/expression"),
        (changed(expression="(true)"), "/rules/0/expression"),
        (changed(expression=""), "/rules/0/expression"),
        (changed(expression=True), "/rules/0/expression"),
        (changed(action_parameters={}), PARAMETERS),
        (changed(action_parameters=None), PARAMETERS),
        (changed(action_parameters={"request_fields": [], "cookie_fields": []}), PARAMETERS),
        (changed(action_parameters={"header_fields": [{"name": "a"}]}), f"{PARAMETERS}/header_fields"),
        (changed(action_parameters={"request_fields": ["x-one"]}), f"{PARAMETERS}/request_fields/0"),
        (changed(action_parameters={"request_fields": {"name": "a"}}), f"{PARAMETERS}/request_fields"),
        (changed(action_parameters={"cookie_fields": [{"name": 7}]}), f"{PARAMETERS}/cookie_fields/0"),
        (a_rule(request_fields=["X-One"]), f"{PARAMETERS}/request_fields/0/name"),
        (a_rule(response_fields=["ok", "Set-Cookie"]), f"{PARAMETERS}/response_fields/1/name"),
        (a_rule(request_fields=["x one"]), f"{PARAMETERS}/request_fields/0/name"),
        (a_rule(request_fields=[""]), f"{PARAMETERS}/request_fields/0/name"),
        (a_rule(request_fields=["x-é"]), f"{PARAMETERS}/request_fields/0/name"),
        (a_rule(cookie_fields=["a=b"]), f"{PARAMETERS}/cookie_fields/0/name"),
        (a_rule(cookie_fields=["a;b"]), f"{PARAMETERS}/cookie_fields/0/name"),
        (a_rule(cookie_fields=["a", "b", "a"]), f"{PARAMETERS}/cookie_fields/2/name"),
    ],
)
async def test_a_wrong_rule_is_refused_with_its_place(tmp_path: Path, rule: Json, pointer: str) -> None:
    """400 with the pointer of what is wrong, by both paths; nothing is stored."""
    async with in_process(tmp_path) as call:
        ruleset = await made(call)
        for path in (f"enterprise:/rulesets/{ruleset['id']}", f"enterprise:{ENTRY}"):
            errors = await call.refused(400, "PUT", path, {"rules": [rule]})
            assert pointer in [one["source"]["pointer"] for one in errors]
        assert await call.result("GET", f"enterprise:{ENTRY}") == ruleset


async def test_names_that_are_right(tmp_path: Path) -> None:
    """Cookie names differ by case alone, a name may be in two arrays, an empty array may lie beside a full
    one, and a header may have any sign of a token."""
    async with in_process(tmp_path) as call:
        rule = a_rule(
            request_fields=["x-a", "cookie", "!#$%&'*+-.^_`|~09"],
            response_fields=["x-a"],
            cookie_fields=["a", "A"],
        )
        empty = a_rule(request_fields=["x-b"], cookie_fields=[])
        stored = await call.result("PUT", f"enterprise:{ENTRY}", {"rules": [rule, empty]})
        assert [one["action_parameters"] for one in stored["rules"]] == [
            rule["action_parameters"],
            empty["action_parameters"],
        ]


async def test_other_phases_do_not_take_the_action(tmp_path: Path) -> None:
    """The action log_custom_field belongs to its phase alone."""
    async with in_process(tmp_path) as call:
        path = "enterprise:/rulesets/phases/http_request_transform/entrypoint"
        errors = await call.refused(400, "PUT", path, {"rules": [a_rule(request_fields=["a"])]})
        assert errors[0]["source"]["pointer"] == "/rules/0/action"


async def test_forty_fields_are_stored_and_forty_one_refused(tmp_path: Path) -> None:
    """The limit counts every entry of every rule, disabled ones too; nothing of a refused PUT is stored."""
    headers = [f"x-{number}" for number in range(20)]
    rules = [
        a_rule(request_fields=headers, response_fields=headers[:10]),
        {**a_rule(cookie_fields=headers[:9], request_fields=["x-0"]), "enabled": False},
    ]
    async with in_process(tmp_path) as call:
        stored = await call.result("PUT", f"enterprise:{ENTRY}", {"rules": rules})
        more = [*rules, a_rule(cookie_fields=["one-more"])]
        (error,) = await call.refused(400, "PUT", f"enterprise:{ENTRY}", {"rules": more})
        assert error["source"] == {"pointer": "/rules"}
        assert "41, and at most 40" in error["message"]
        assert await call.result("GET", f"enterprise:{ENTRY}") == stored
        await call.control("PUT", "options", {"log_fields": {"counted": "distinct"}})
        await call.result("PUT", f"enterprise:{ENTRY}", {"rules": more})


async def test_empty_arrays_are_a_choice(tmp_path: Path) -> None:
    """With the option, arrays that are there but empty count as present."""
    async with in_process(tmp_path, log_fields={"empty_arrays": "accept"}) as call:
        await call.result("PUT", f"enterprise:{ENTRY}", {"rules": [a_rule(cookie_fields=[])]})
        await call.refused(400, "PUT", f"enterprise:{ENTRY}", {"rules": [changed(action_parameters={})]})


def names(ruleset: Json) -> list[str]:
    """The request headers of a ruleset's rules."""
    rules = ruleset["rules"]
    return [one["name"] for rule in rules for one in rule["action_parameters"]["request_fields"]]


async def test_a_stranger_writes_between_a_read_and_a_put(tmp_path: Path) -> None:
    """The write comes just before the client's PUT, which replaces it; the gap shows in the version, and the
    version between can be read."""
    theirs, mine = a_rule(request_fields=["theirs"]), a_rule(request_fields=["mine"])
    async with in_process(tmp_path) as call:
        read = await made(call)
        write = f"zones/{call.ids['enterprise']}/rulesets/{PHASE}/write"
        await call.control("POST", write, {"rules": [theirs], "when": "before_put", "skip": 1})
        path = f"enterprise:/rulesets/{read['id']}"
        assert (await call.result("PUT", path, {"rules": [mine]}))["version"] == "2"
        put = await call.result("PUT", path, {"rules": [mine]})
        assert (put["version"], names(put)) == ("4", ["mine"])
        assert names(await call.result("GET", f"{path}/versions/3")) == ["theirs"]
        assert (await call.result("PUT", path, {"rules": [mine]}))["version"] == "5"


async def test_a_stranger_writes_now_or_after_a_put(tmp_path: Path) -> None:
    """At once, or between the PUT and its reading back; in place of the rules or behind them."""
    theirs, mine = a_rule(request_fields=["theirs"]), a_rule(request_fields=["mine"])
    async with in_process(tmp_path) as call:
        write = f"zones/{call.ids['enterprise']}/rulesets/{PHASE}/write"
        answered = await call.control("POST", write, {"rules": [theirs]})
        assert names(answered["ruleset"]) == ["theirs"]
        await call.control("POST", write, {"rules": [theirs], "how": "append", "when": "after_put"})
        put = await call.result("PUT", f"enterprise:{ENTRY}", {"rules": [mine]})
        assert (put["version"], names(put)) == ("2", ["mine"])
        assert names(await call.result("GET", f"enterprise:{ENTRY}")) == ["mine", "theirs"]
        done = (await call.control("GET", "stranger-writes"))["done"]
        assert [(one["how"], one["version"]) for one in done] == [("replace", "1"), ("append", "3")]
        assert done[0]["rules"] == [theirs]


async def test_a_stranger_meets_the_limits_too(tmp_path: Path) -> None:
    """What is appended to forty fields is refused, as the service would; the client's PUT goes through."""
    full, theirs = a_rule(request_fields=[f"x-{n}" for n in range(40)]), a_rule(request_fields=["theirs"])
    async with in_process(tmp_path) as call:
        write = f"zones/{call.ids['enterprise']}/rulesets/{PHASE}/write"
        await call.control("POST", write, {"rules": [theirs], "how": "append", "when": "before_put"})
        await call.control("POST", write, {"rules": [full]})
        assert (await call.result("PUT", f"enterprise:{ENTRY}", {"rules": [full]}))["version"] == "2"
        done = (await call.control("GET", "stranger-writes"))["done"]
        assert [(one["version"], one["refused"]) for one in done] == [("1", False), ("1", True)]


async def test_a_stranger_creates_or_deletes_the_ruleset(tmp_path: Path) -> None:
    """A create finds a stranger's ruleset there; a PUT finds it gone."""
    theirs = a_rule(request_fields=["theirs"])
    async with in_process(tmp_path) as call:
        write = f"zones/{call.ids['enterprise']}/rulesets/{PHASE}/write"
        await call.control("POST", write, {"rules": [theirs], "when": "before_create"})
        (error,) = await call.refused(400, "POST", "enterprise:/rulesets", BODY)
        assert error["code"] == 20217
        there = await call.result("GET", f"enterprise:{ENTRY}")
        assert names(there) == ["theirs"]
        await call.control("POST", write, {"how": "delete", "when": "before_put"})
        await call.refused(404, "PUT", f"enterprise:/rulesets/{there['id']}", {"rules": [theirs]})


async def test_waiting_writes_survive_a_restart_and_can_be_forgotten(tmp_path: Path) -> None:
    """What is armed is listed, is there again in the same folder, and is removed on demand."""
    theirs = a_rule(request_fields=["theirs"])
    async with in_process(tmp_path) as call:
        write = f"zones/{call.ids['enterprise']}/rulesets/{PHASE}/write"
        await call.control("POST", write, {"rules": [theirs], "when": "before_put"})
    async with in_process(tmp_path) as call:
        (armed,) = (await call.control("GET", "stranger-writes"))["armed"]
        assert (armed["phase"], armed["write"]["when"]) == (PHASE, "before_put")
        assert await call.control("DELETE", "stranger-writes") == {"removed": 1}
        assert (await call.result("PUT", f"enterprise:{ENTRY}", {"rules": []}))["version"] == "1"


@pytest.mark.parametrize(
    ("phase", "body", "said"),
    [
        (PHASE, {"rules": [{"action": "log_custom_field"}]}, "the expression is invalid"),
        (PHASE, {"rules": [], "when": "tomorrow"}, "when"),
        ("http_request_firewall_managed", {"rules": []}, "entry_point"),
        ("no_phase", {"rules": []}, "no_phase"),
    ],
)
async def test_a_wrong_stranger_is_told_so(tmp_path: Path, phase: str, body: Json, said: str) -> None:
    """A stranger can write what the service would take, and nothing else."""
    async with in_process(tmp_path) as call:
        url = f"{call.server.control_url}/zones/{call.ids['enterprise']}/rulesets/{phase}/write"
        answer = await call.http.post(url, json=body)
        assert answer.status_code == 400
        assert said in answer.json()["error"]
