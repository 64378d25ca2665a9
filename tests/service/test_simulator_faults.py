"""Scripted faults over HTTP: what goes wrong, and whether the effect is there (docs/service.md §7)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.simulated import Caller, MovableTime, simulated

PUT = {"call": "entrypoint.put"}


async def _spoilt(call: Caller, fault: dict[str, Any]) -> httpx.Response | type[Exception]:
    """What a commit under a fault comes to: its answer, or the kind of failure."""
    await call.control("POST", "faults", {"match": PUT, "times": 1, **fault})
    try:
        return await call.migrate("pro", "pending")
    except httpx.HTTPError as error:
        return type(error)


@pytest.mark.parametrize("effect", ["before", "after"])
@pytest.mark.parametrize(
    "kind", ["server_error", "gateway_timeout", "hang", "reset", "not_json", "truncated"]
)
async def test_each_fault_comes_before_or_after_the_effect(tmp_path: Path, kind: str, effect: str) -> None:
    """The zone is migrated exactly when the fault comes after the effect, and the journal says so."""
    async with simulated(tmp_path) as call:
        fault = {"kind": kind, "effect": effect, **({"seconds": 0.2} if kind == "hang" else {})}
        found = await _spoilt(call, fault)
        if kind in ("hang", "reset", "truncated"):
            assert found in (httpx.RemoteProtocolError, httpx.ReadError)
        else:
            assert isinstance(found, httpx.Response)
            statuses = {
                "server_error": 500 if effect == "before" else 502,
                "gateway_timeout": 504,
                "not_json": 200,
            }
            assert found.status_code == statuses[kind]
            assert "cf-ray" in found.headers
            if kind == "gateway_timeout":
                assert "code" not in found.json()["errors"][0]
            else:
                with pytest.raises(json.JSONDecodeError):
                    found.json()
        assert await call.state("pro") == ("start" if effect == "before" else "complete")
        entry = (await call.journal(call="entrypoint.put"))[0]
        assert entry["fault"] == f"{kind}:{effect}"
        assert entry["effect"] == ("none" if effect == "before" else "applied")
        assert (entry["status"] is None) == (kind in ("hang", "reset"))
        assert (await call.control("GET", "faults"))["faults"][0]["fired"] == 1


async def test_a_hang_lasts_until_the_client_gives_up(tmp_path: Path) -> None:
    """A time-out of the client's ends it, and the effect is there all the same."""
    async with simulated(tmp_path) as call:
        body = await call.result("GET", "pro:/waf_migration/config?phase_two=1")
        await call.control("POST", "faults", {"kind": "hang", "effect": "after", "match": PUT, "times": 1})
        path = "pro:/rulesets/phases/http_request_firewall_managed/entrypoint?waf_migration=1&phase_two=1"
        with pytest.raises(httpx.ReadTimeout):
            await call("PUT", path, body, timeout=1)
        assert await call.state("pro") == "complete"


async def test_latency_delays_and_changes_nothing_else(tmp_path: Path) -> None:
    """The answer is the real one, late; another fault can come on top of it."""
    async with simulated(tmp_path) as call:
        await call.control(
            "POST", "faults", {"kind": "latency", "seconds": 0.3, "match": {"call": "zones.list"}}
        )
        started = time.monotonic()
        assert len(await call.result("GET", "/zones")) == 6
        assert time.monotonic() - started >= 0.3
        await call.control(
            "POST", "faults", {"kind": "server_error", "match": {"call": "zones.*"}, "times": 1}
        )
        assert (await call("GET", "/zones")).status_code == 500


@pytest.mark.parametrize("block", [True, False])
async def test_a_429_can_be_single_or_a_real_block(tmp_path: Path, block: bool) -> None:
    """A single 429 concerns one call; a block refuses every call of the user for its time."""
    clock = MovableTime()
    async with simulated(tmp_path, time=clock) as call:
        fault = {
            "kind": "rate_limit",
            "retry_after": 7,
            "block": block,
            "times": 1,
            "match": {"user": "ada@example.com"},
        }
        await call.control("POST", "faults", fault)
        answer = await call("GET", "/zones")
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
        assert (await call("GET", "/zones", by="ada-key")).status_code == (429 if block else 200)
        clock.pass_by(300)
        assert (await call("GET", "/zones")).status_code == 200


async def test_faults_that_alter_the_answer(tmp_path: Path) -> None:
    """errors and messages null, wrong types, unknown values, or a value of one's own at a pointer."""
    async with simulated(tmp_path) as call:
        match = {"call": "waf.status"}
        faults: list[dict[str, Any]] = [
            {"kind": "null_errors"},
            {"kind": "wrong_types"},
            {"kind": "unknown_enum"},
            {"kind": "unknown_enum", "replace": {"/result/migration_state": "odd", "/success": None}},
        ]
        for fault in faults:
            await call.control("POST", "faults", {**fault, "match": match, "times": 1})
        answers = [(await call("GET", "pro:/waf_migration/status")).json() for _ in faults]
        assert (answers[0]["errors"], answers[0]["messages"]) == (None, None)
        assert answers[0]["result"]["migration_state"] == "start"
        assert not isinstance(answers[1]["result"]["migration_state"], str)
        assert answers[2]["result"]["migration_state"] == "phase_three"
        assert (answers[3]["result"]["migration_state"], answers[3]["success"]) == ("odd", None)


async def test_faults_match_zone_call_method_and_number(tmp_path: Path) -> None:
    """Only the third matching request of the one zone is met, and faults can be taken away."""
    async with simulated(tmp_path) as call:
        match = {"zone": call.ids["pro"], "method": "GET", "nth": 3}
        made = await call.control("POST", "faults", {"kind": "server_error", "match": match})
        statuses = [(await call("GET", f"{zone}:/pagerules")).status_code for zone in ("pro", "paged") * 4]
        assert statuses == [200, 200, 200, 200, 500, 200, 200, 200]
        assert (await call.control("GET", f"faults/{made['id']}"))["seen"] == 4
        await call.control("POST", "faults", {"kind": "server_error"})
        assert (await call("GET", "/zones")).status_code == 500
        assert await call.control("DELETE", "faults") == {"removed": 2}
        assert (await call("GET", "/zones")).status_code == 200


async def test_chance_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    """A probability meets the same requests in every run, about as often as it says."""
    runs: list[list[int]] = []
    fault = {"kind": "server_error", "probability": 0.3, "seed": 5}
    for folder in ("one", "two"):
        async with simulated(tmp_path / folder, faults=[fault]) as call:
            runs.append([(await call("GET", "/accounts")).status_code for _ in range(60)])
    assert runs[0] == runs[1]
    assert 6 <= runs[0].count(500) <= 32


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "earthquake"},
        {"kind": "latency", "where": "here"},
        {"kind": "null_errors", "effect": "before"},
        {"kind": "hang", "probability": 2},
        {"kind": "hang", "match": {"nth": 0}},
        [],
        "hang",
    ],
)
async def test_a_wrong_fault_is_refused(tmp_path: Path, fault: Any) -> None:
    """400 that names the field; no fault is set."""
    async with simulated(tmp_path) as call:
        answer = await call.http.post(f"{call.server.control_url}/faults", json=fault)
        assert answer.status_code == (201 if fault == [] else 400)
        if fault:
            assert answer.json()["error"]
        assert (await call.control("GET", "faults"))["faults"] == []
