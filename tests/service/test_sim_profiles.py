"""The simulated service by either profile (docs/service.md §10)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeshift.profiles import PROFILES
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.service import load_profile, load_rate_limit
from edgeshift.testbed.simulator.edge_exchange import EdgeExchange
from edgeshift.testbed.simulator.fleet_file import Fleet, dump_fleet, load_fleet
from edgeshift.testbed.simulator.options import SimulatorOptions
from tests.service.logs_kit import CUSTOM, ENTRY, JOBS, a_job, a_rule, an_exchange, logged
from tests.service.simulated import Caller, Json, MovableTime, a_fleet, in_process, simulated

SPECIFICATION, LATER = PROFILES
BOTH = pytest.mark.parametrize("profile", [SPECIFICATION, LATER])
LIMIT = {"requests": 3, "window_seconds": 60, "block_seconds": 60}


async def status(call: Caller, by: str) -> int:
    """What a call of this credential answers."""
    return (await call("GET", "/zones", by=by)).status_code


# --- which profile


async def test_command_line_options_and_fleet_choose_in_this_order(tmp_path: Path) -> None:
    """A fleet file may name one; without any it is the specification. It stays as long as it runs."""
    fleet = a_fleet()
    async with in_process(tmp_path / "a", fleet=fleet) as call:
        options = await call.control("GET", "options")
        assert (options["profile"], options["log_fields"]["most"]) == (SPECIFICATION, 40)
        url = f"{call.server.control_url}/options"
        refused = await call.http.put(url, json={"profile": LATER})
        assert refused.status_code == 400 and "when the simulator starts" in refused.json()["error"]
    path = tmp_path / "fleet.yaml"
    dump_fleet(fleet.model_copy(update={"profile": LATER}), path)
    later = load_fleet(path)
    async with in_process(tmp_path / "b", fleet=later) as call:
        options = await call.control("GET", "options")
        assert (options["profile"], options["log_fields"]["most"]) == (LATER, None)
        changed = await call.control("PUT", "options", {"log_fields": {"most": 7}})
        assert (changed["log_fields"]["most"], changed["rate_limit"]["per_address"]) == (7, 200)
    async with in_process(tmp_path / "c", fleet=later, profile=SPECIFICATION) as call:
        assert (await call.control("GET", "options"))["profile"] == SPECIFICATION


def test_options_that_are_given_win_over_the_profile() -> None:
    """And a name that is none is refused."""
    given = SimulatorOptions.model_validate({"profile": LATER, "log_fields": {"most": 5}})
    found = given.of(SPECIFICATION)
    assert (found.log_fields.most, found.log_fields.data_bytes) == (5, None)
    assert (found.rate_limit.counts_by, found.rate_limit.requests) == ("credential", 1200)
    with pytest.raises(ValueError, match="there are specification, public-2025-04"):
        SimulatorOptions.model_validate({"profile": "later"})
    with pytest.raises(ValueError, match="there are specification, public-2025-04"):
        Fleet.model_validate({"profile": "later"})


# --- the rate limit


@pytest.mark.parametrize(("profile", "others"), [(SPECIFICATION, 429), (LATER, 200)])
async def test_tokens_of_a_user_share_a_limit_or_have_their_own(
    tmp_path: Path, profile: str, others: int
) -> None:
    """By the specification a user's tokens and keys; later each token. What is counted is known again after a
    restart, and the checkers know it too.
    """
    time = MovableTime()
    async with in_process(tmp_path, profile=profile, rate_limit=LIMIT, time=time) as call:
        assert [await status(call, "ada-token") for _ in range(2)] == [200, 200]
    async with in_process(tmp_path, profile=profile, rate_limit=LIMIT, time=time) as call:
        assert [await status(call, "ada-token") for _ in range(2)] == [200, 429]
        assert await status(call, "ada-reader") == others


async def test_an_address_may_not_call_faster_however_many_users_it_has(tmp_path: Path) -> None:
    """One call too many in a second is refused by itself: after that second the next one passes."""
    time = MovableTime()
    options: dict[str, Any] = {"profile": LATER, "rate_limit": {"per_address": 4}, "time": time}
    async with in_process(tmp_path, **options) as call:
        found = [await status(call, by) for by in ("ada-token", "bob-token") * 2]
        assert found == [200] * 4
        refused = await call("GET", "/zones")
        assert refused.status_code == 429 and refused.headers["retry-after"] == "1"
        assert "per second" in refused.json()["errors"][0]["message"]
        time.pass_by(1.001)
        assert await status(call, "ada-token") == 200


async def test_the_specification_knows_no_limit_of_an_address(tmp_path: Path) -> None:
    """As many calls in a second as the user's limit allows."""
    async with in_process(tmp_path, time=MovableTime()) as call:
        assert {await status(call, "ada-token") for _ in range(210)} == {200}


@BOTH
async def test_the_checkers_know_the_profile(tmp_path: Path, profile: str) -> None:
    """And by what the limit counts."""
    async with simulated(tmp_path, profile=profile) as call:
        control = Control(call.server.control_url)
        assert await load_profile(control) == profile
        assert (await load_rate_limit(control)).counts_by == PROFILES[profile].rate.counts_by


# --- the migration


@pytest.mark.parametrize(
    ("profile", "sensitivity", "level", "threshold"),
    [
        (SPECIFICATION, "medium", 2, 25),
        (SPECIFICATION, "low", 2, 40),
        (LATER, "medium", 1, 25),
        (LATER, "low", 1, 40),
        (LATER, "high", 2, 40),
        (LATER, "default", 2, 40),
    ],
)
async def test_sensitivities_become_what_the_profile_says(
    tmp_path: Path, profile: str, sensitivity: str, level: int, threshold: int
) -> None:
    """Categories above the level are off; the score rule has the threshold."""
    fleet = Fleet.model_validate(
        {
            "zones": [
                {"name": "a.example", "plan": "pro", "previous_waf": {"owasp": {"sensitivity": sensitivity}}}
            ]
        }
    )
    async with in_process(tmp_path, fleet=fleet, profile=profile) as call:
        token = call.fleet.credentials[0].label
        config = await call.result("GET", "a:/waf_migration/config?phase_two=1", by=token)
    overrides = config["rules"][-1]["action_parameters"]["overrides"]
    off = [one["category"] for one in overrides["categories"]]
    assert off == [f"paranoia-level-{number}" for number in range(level + 1, 5)]
    assert overrides["rules"][0]["score_threshold"] == threshold


# --- Edge Side Code


@pytest.mark.parametrize(
    ("profile", "before", "after"),
    [
        (SPECIFICATION, "2023-12-31T23:59:00Z", "2024-01-01T00:00:00Z"),
        (LATER, "2024-12-31T23:59:00Z", "2025-01-01T00:00:00Z"),
    ],
)
async def test_edge_side_code_ends_on_the_profiles_day(
    tmp_path: Path, profile: str, before: str, after: str
) -> None:
    """Calls are refused from then on, and the refusal names the day."""
    async with in_process(tmp_path, profile=profile, clock=before) as call:
        answer = await call("GET", "enterprise:/disable_esc")
        assert answer.status_code == 200
        long = await call("POST", "enterprise:/disable_esc", {"with_secret": "x" * 101})
        assert long.status_code == 400 and "at most 100 characters" in long.text
        await call.control("PUT", "clock", {"now": after})
        gone = await call("GET", "enterprise:/disable_esc")
        assert gone.status_code == 410 and f"removed on {after[:10]}" in gone.text


# --- custom log fields and log jobs


@pytest.mark.parametrize(("profile", "expected"), [(SPECIFICATION, 400), (LATER, 200)])
async def test_more_than_forty_fields(tmp_path: Path, profile: str, expected: int) -> None:
    """Refused by the specification; later no limit is documented."""
    rules = [a_rule(request_fields=[f"x-{number}" for number in range(60)])]
    async with in_process(tmp_path, profile=profile) as call:
        assert (await call("PUT", f"enterprise:{ENTRY}", {"rules": rules})).status_code == expected


def an_answer(zone: str) -> EdgeExchange:
    """An exchange whose headers a rule has changed on their way out."""
    origin = [("x-version", "origin"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-big", "v" * 9000)]
    out = [("x-version", "edge"), ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-added", "1")]
    return an_exchange(zone, origin=origin, response_headers=out)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (SPECIFICATION, {"x-version": "origin", "set-cookie": "a=1"}),
        (LATER, {"x-version": "edge", "set-cookie": "a=1", "x-added": "1"}),
    ],
)
async def test_response_headers_are_logged_as_the_profile_says(
    tmp_path: Path, profile: str, expected: Json
) -> None:
    """As the origin sent them, or as they went out; the first of several."""
    rule = a_rule(response_fields=["x-version", "set-cookie", "x-added"])
    async with simulated(tmp_path, profile=profile) as call:
        await call.result("PUT", f"enterprise:{ENTRY}", {"rules": [rule]})
        await a_job(call, CUSTOM)
        (entry,) = await logged(call, an_answer(call.ids["enterprise"]))
        assert entry["ResponseHeaders"] == expected


async def test_raw_values_and_every_value_are_chosen_by_rules(tmp_path: Path) -> None:
    """Later only: a header in one way alone; nothing is cut off. The specification knows neither."""
    rule = a_rule(raw_response_fields=["x-version", "x-big"], response_fields=["set-cookie"])
    rule["action_parameters"]["response_fields"][0]["preserve_duplicates"] = True
    async with simulated(tmp_path / "later", profile=LATER) as call:
        both = [rule, a_rule(response_fields=["x-version"])]
        (error,) = await call.refused(400, "PUT", f"enterprise:{ENTRY}", {"rules": both})
        assert "x-version" in error["message"] and "not both" in error["message"]
        await call.result("PUT", f"enterprise:{ENTRY}", {"rules": [rule]})
        await a_job(call, CUSTOM)
        (entry,) = await logged(call, an_answer(call.ids["enterprise"]))
        assert entry["ResponseHeaders"] == {
            "set-cookie": "a=1, b=2",
            "x-version": "origin",
            "x-big": "v" * 9000,
        }
    async with in_process(tmp_path / "spec") as call:
        errors = await call.refused(400, "PUT", f"enterprise:{ENTRY}", {"rules": [rule]})
        assert {error["source"]["pointer"] for error in errors} >= {
            "/rules/0/action_parameters/raw_response_fields"
        }


OUTPUT = {"field_names": ["RayID", "ClientIP"], "timestamp_format": "rfc3339", "output_type": "ndjson"}


@pytest.mark.parametrize(
    ("profile", "expected"), [(SPECIFICATION, ["RayID"]), (LATER, ["RayID", "ClientIP"])]
)
async def test_output_options_take_the_place_of_the_string_where_they_are_known(
    tmp_path: Path, profile: str, expected: list[str]
) -> None:
    """They are kept and answered by either; the journal shows what they list, as of a string."""
    async with simulated(tmp_path, profile=profile) as call:
        made = await a_job(call, "fields=RayID", output_options=OUTPUT)
        assert made["output_options"] == OUTPUT
        (entry,) = await logged(call, an_exchange(call.ids["enterprise"]))
        assert list(entry) == expected
        more = {**OUTPUT, "field_names": ["RayID", "Cookies"]}
        path = f"enterprise:{JOBS}/{made['id']}"
        changed = await call.result("PUT", path, {"output_options": more})
        assert changed["output_options"] == more and changed["logpull_options"] == "fields=RayID"
        sent = (await call.journal(call="logpush.jobs.update"))[-1]["log_job"]
        assert sent["sent"]["options"]["fields"] == "RayID,Cookies"
        assert sent["before"]["options"]["fields"] == "RayID,ClientIP"
        for wrong in ("fields=RayID", {"field_names": "RayID"}, {"sample_rate": 2}):
            (error,) = await call.refused(400, "PUT", path, {"output_options": wrong})
            assert error["source"]["pointer"].startswith("/output_options")


# --- dry runs


@pytest.mark.parametrize(("profile", "kept"), [(SPECIFICATION, True), (LATER, False)])
async def test_a_dry_run_is_checked_and_not_kept(tmp_path: Path, profile: str, kept: bool) -> None:
    """Where the profile knows it: PUT, DELETE (of a version too) and a migration; what is wrong is refused
    all the same.
    """
    async with in_process(tmp_path, profile=profile) as call:
        await call.result("PUT", f"enterprise:{ENTRY}", {"rules": [a_rule(request_fields=["a"])]})
        more = {"rules": [a_rule(request_fields=["a", "b"])]}
        answered = await call.result("PUT", f"enterprise:{ENTRY}?dry_run=true", more)
        assert (answered["version"], len(answered["rules"])) == ("2", 1)
        stored = await call.result("GET", f"enterprise:{ENTRY}")
        assert stored["version"] == ("2" if kept else "1")
        await call.refused(400, "PUT", f"enterprise:{ENTRY}?dry_run=true", {"rules": [{"action": "skip"}]})
        body = await call.result("GET", "pro:/waf_migration/config?phase_two=1")
        path = "pro:/rulesets/phases/http_request_firewall_managed/entrypoint"
        await call.result("PUT", f"{path}?waf_migration=pending&phase_two=1&dry_run=true", body)
        assert await call.state("pro") == ("complete" if kept else "start")
        last = (await call.journal(call="entrypoint.put"))[-1]
        assert (last["effect"] != "none") is kept and "dry_run" in last["query"]
        await call.result("PUT", f"enterprise:{ENTRY}", more)
        earlier = f"enterprise:/rulesets/{stored['id']}/versions/1"
        assert (await call("DELETE", f"{earlier}?dry_run=true")).status_code == 204
        assert (await call("GET", earlier)).status_code == (404 if kept else 200)
        assert ((await call.journal(call="rulesets.versions.delete"))[-1]["effect"] != "none") is kept
        gone = await call("DELETE", f"enterprise:/rulesets/{stored['id']}?dry_run=true")
        assert gone.status_code == 204
        there = (await call("GET", f"enterprise:/rulesets/{stored['id']}")).status_code
        assert there == (404 if kept else 200)
