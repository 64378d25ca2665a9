"""The journal, the control API and what survives a kill: the simulator as a checker."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from edgeshift.testbed.simulator.database import FILE_NAME, DataFolderError
from edgeshift.testbed.simulator.fleet_file import dump_fleet
from edgeshift.testbed.simulator.journal import body_digest, is_log_only
from edgeshift.testbed.simulator.server import ListenError, listen, running
from tests.service.simulated import (
    ENTRY_POINT,
    MANAGED_RULESET,
    STRICT,
    MovableTime,
    a_fleet,
    log_only,
    simulated,
)

CUSTOM = "/rulesets/phases/http_request_firewall_custom/entrypoint"
ONE_RULE = {"name": "default", "rules": [{"action": "execute", "action_parameters": {"id": "x"}}]}


async def test_every_request_is_in_the_journal_with_what_it_did(tmp_path: Path) -> None:
    """Answered, refused and unknown requests are there in order, with who, what, and the zone's states."""
    async with simulated(tmp_path) as call:
        body = await call.result("GET", "enterprise:/waf_migration/config?phase_two=1")
        await call.migrate("enterprise", "validation", log_only(body))
        await call.migrate("enterprise", "pending", body)
        await call("GET", "/nowhere")
        await call.http.get(f"{call.server.base_url}/zones")
        entries = await call.journal()
        assert [one["seq"] for one in entries] == [1, 2, 3, 4, 5]
        assert [one["call"] for one in entries] == [
            "waf.config",
            "entrypoint.put",
            "entrypoint.put",
            "unknown",
            "zones.list",
        ]
        shadow, commit = entries[1:3]
        assert (shadow["log_only"], commit["log_only"]) == (True, False)
        assert (shadow["state_before"]["migration_state"], shadow["state_after"]["migration_state"]) == (
            "start",
            "validation",
        )
        assert commit["state_after"]["migration_state"] == "complete"
        assert commit["body_digest"] == body_digest(body) != shadow["body_digest"]
        sent = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        assert commit["body_sha256"] == hashlib.sha256(sent).hexdigest()
        assert (commit["credential"], commit["plan"], commit["effect"]) == (
            "ada-token",
            "enterprise",
            "applied",
        )
        assert commit["query"] == "waf_migration=pending&phase_two=1"
        assert [one["status"] for one in entries] == [200, 200, 200, 400, 400]
        text = json.dumps(entries)
        assert not any(one.value in text for one in call.fleet.credentials)


async def test_the_journal_is_read_in_pages_and_by_zone_and_call(tmp_path: Path) -> None:
    """`next` leads to the following page and is null at the end."""
    async with simulated(tmp_path) as call:
        for zone in ("pro", "paged", "pro"):
            await call.result("GET", f"{zone}:/pagerules")
        page = await call.control("GET", "journal", params={"limit": 2})
        assert ([one["seq"] for one in page["entries"]], page["next"]) == ([1, 2], 2)
        page = await call.control("GET", "journal", params={"limit": 2, "after": page["next"]})
        assert ([one["seq"] for one in page["entries"]], page["next"]) == ([3], None)
        assert len(await call.journal(zone=call.ids["pro"])) == 2
        assert await call.journal(call="zones.list") == []


async def test_the_journal_can_be_neither_changed_nor_shortened(tmp_path: Path) -> None:
    """The database itself refuses UPDATE and DELETE."""
    async with simulated(tmp_path) as call:
        await call.result("GET", "/zones")
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        for statement in ("UPDATE journal SET call = 'x'", "DELETE FROM journal"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                database.execute(statement)
    database.close()


def test_the_digest_leaves_out_what_the_service_assigns() -> None:
    """Ids of the ruleset and of its rules do not count, whatever their order; those in parameters do."""
    rule = ONE_RULE["rules"][0]
    assert isinstance(rule, dict)
    assigned = {"id": "1", "version": "2", "ref": "3", "last_updated": "4"}
    assert body_digest(
        {**ONE_RULE, **assigned, "kind": "zone", "rules": [{**assigned, **rule}]}
    ) == body_digest(ONE_RULE)
    other = {**ONE_RULE, "rules": [{**rule, "action_parameters": {"id": "y"}}]}
    assert body_digest(other) != body_digest(ONE_RULE)
    assert body_digest({"rules": "none"}) is body_digest([]) is None


def test_log_only_means_every_managed_ruleset_logs() -> None:
    """One ruleset that acts, or one rule excepted, and it is not log-only; skip rules do not matter."""
    logging = {"action": "execute", "action_parameters": {"overrides": {"action": "log"}}}
    excepted = {
        "action": "execute",
        "action_parameters": {"overrides": {"action": "log", "rules": [{"id": "a", "action": "block"}]}},
    }
    assert is_log_only({"rules": [{"action": "skip"}, logging]})
    assert not is_log_only({"rules": [logging, {"action": "execute", "action_parameters": {}}]})
    assert not is_log_only({"rules": [excepted]})
    assert not is_log_only({"rules": []})


@pytest.mark.parametrize(
    "body",
    [
        b'{"rules": [{"action": "execute", "expression": "true", "action_parameters": {"id": "%s",'
        b' "overrides": {"action": "log", "rules": 5}}}]}' % MANAGED_RULESET.encode(),
        b'{"rules": [{"action": "execute", "expression": "true", "action_parameters": {"id": {}}}]}',
        b'{"rules": [{"action": "skip", "expression": "true", "action_parameters": {"rulesets": 5}}]}',
        b'{"description": "\\ud800", "rules": []}',
        b'{"rules": [], "\\uDC00": 1}',
        *(
            b'{"rules": [{"action": "block", "expression": "ssl", "action_parameters": {"n": %s}}]}' % number
            for number in (b"1e999", b"-1e999", b"NaN")
        ),
        b'{"rules": [], "more": %s}' % (b"[" * 900 + b"]" * 900),
        b"\xff",
    ],
)
async def test_malformed_bodies_are_refused_and_in_the_journal(body: bytes, tmp_path: Path) -> None:
    """With or without the migration; nothing of the simulator fails by them."""
    async with simulated(tmp_path) as call:
        kind = {**call.headers("ada-token"), "content-type": "application/json"}
        zone = f"{call.server.base_url}/zones/{call.ids['enterprise']}"
        for path in (CUSTOM, f"{ENTRY_POINT}?waf_migration=validation&phase_two=1"):
            answer = await call.http.put(zone + path, content=body, headers=kind)
            assert answer.status_code == 400 and "cf-ray" in answer.headers
        kept = await call.journal(call="entrypoint.put")
        assert [(one["status"], one["fault"], one["log_only"]) for one in kept] == [(400, None, False)] * 2


async def test_the_control_api_changes_zones_for_drift_and_support(tmp_path: Path) -> None:
    """Settings, lists, plan and state can be edited; a wrong edit changes nothing."""
    async with simulated(tmp_path) as call:
        before = await call.result("GET", "pro:/waf_migration/config?phase_two=1")
        path = f"zones/{call.ids['pro']}"
        added = [{"expression": "true", "products": ["waf"]}]
        shown = await call.control(
            "PATCH", path, {"add_firewall_rules": added, "previous_waf": {"enabled": False}}
        )
        assert (shown["rules_to_migrate"], shown["settings"]["previous_waf"]["enabled"]) == (2, False)
        assert (await call.result("GET", "pro:/settings/waf"))["value"] == "off"
        assert await call.result("GET", "pro:/waf_migration/config?phase_two=1") != before
        identity = shown["settings"]["firewall_rules"][1]["id"]
        await call.control(
            "PATCH", path, {"remove_firewall_rules": [identity], "previous_waf": {"enabled": True}}
        )
        assert await call.result("GET", "pro:/waf_migration/config?phase_two=1") == before
        edits: list[Any] = [
            {"plan": "gold"},
            {"id": "x"},
            {"remove_page_rules": ["x"]},
            {"state": "gone"},
            [],
            {"x": 1},
        ]
        for wrong in edits:
            answer = await call.http.patch(f"{call.server.control_url}/{path}", json=wrong)
            assert answer.status_code == 400
            assert answer.json()["error"]
        await call.control("PATCH", path, {"state": "complete", "entry_point": before})
        assert await call.state("pro") == "complete"
        assert len(await call.journal(call="waf.config")) == 3


async def test_clock_and_options_hold_after_a_restart(tmp_path: Path) -> None:
    """The clock's shift and changed options are kept in the data folder."""
    time = MovableTime()
    async with simulated(tmp_path, time=time) as call:
        assert (await call.control("PUT", "clock", {"now": "2022-12-24T00:00:00Z"}))["now"].startswith(
            "2022-12-24"
        )
        await call.control("PUT", "options", {"rate_limit": {"requests": 7}})
        await call.control("PUT", "clock", {"time_scale": 4})
        for path, wrong in (
            ("clock", {"now": "soon"}),
            ("options", {"speed": 1}),
            ("options", {"time_scale": 0}),
        ):
            answer = await call.http.put(f"{call.server.control_url}/{path}", json=wrong)
            assert answer.status_code == 400
    async with simulated(tmp_path, time=time) as call:
        clock = await call.control("GET", "clock")
        assert clock["now"].startswith("2022-12-24")
        assert clock["time_scale"] == 4
        assert (await call.control("GET", "options"))["rate_limit"]["requests"] == 7


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "192.0.2.7", ""])
async def test_the_control_api_is_for_this_machine_alone(tmp_path: Path, host: str) -> None:
    """A request under another name is refused, as a page in a browser would make it."""
    async with simulated(tmp_path) as call:
        answer = await call.http.get(f"{call.server.control_url}/health", headers={"host": host})
        assert answer.status_code == 403
        for good in ("localhost", "127.0.0.1:99", "[::1]:1"):
            answer = await call.http.get(f"{call.server.control_url}/health", headers={"host": good})
            assert answer.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"host": "evil.example", "origin": "http://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-type": ""}, 415),
    ],
)
async def test_no_page_of_another_site_changes_anything(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    """A post that a browser sends for a stranger's page, or one that is no JSON, is refused and without
    effect; the same one of a tool of this machine is taken.
    """
    async with simulated(tmp_path) as call:
        url, fault = f"{call.server.control_url}/faults", b'{"kind": "latency", "seconds": 0}'
        sent = {"content-type": "application/json", **headers}
        answer = await call.http.post(url, content=fault, headers=sent)
        assert answer.status_code == status and answer.json()["error"]
        assert (await call.control("GET", "faults"))["faults"] == []
        own = f"http://127.0.0.1:{call.server.port}"
        for good in ({}, {"origin": own, "sec-fetch-site": "same-origin"}):
            sent = {"content-type": "application/json; charset=utf-8", **good}
            assert (await call.http.post(url, content=fault, headers=sent)).status_code == 201


async def test_a_folder_of_another_fleet_and_a_busy_port_are_refused(tmp_path: Path) -> None:
    """Each is an error that names the folder, or the address."""
    fleet = a_fleet()
    async with simulated(tmp_path) as call:
        with pytest.raises(ListenError, match=f"127.0.0.1:{call.server.port}"):
            listen("127.0.0.1", call.server.port)
    del fleet.zones[0]
    with pytest.raises(DataFolderError, match=f"{tmp_path}.*another fleet"):
        async with running(fleet, tmp_path):
            pass


async def test_a_killed_simulator_goes_on_where_it_was(tmp_path: Path) -> None:
    """SIGKILL in the middle of a migration: state, journal and faults are there when it is started again."""
    fleet = a_fleet()
    dump_fleet(fleet, tmp_path / "fleet.json")
    zone = fleet.zones[0].id
    headers = {"authorization": f"Bearer {fleet.credentials[0].value}"}
    process, url = await _started(tmp_path)
    async with httpx.AsyncClient(timeout=10, trust_env=False, headers=headers) as http:
        config = await http.get(f"{url}/client/v4/zones/{zone}/waf_migration/config?phase_two=1")
        path = f"/client/v4/zones/{zone}/rulesets/phases/http_request_firewall_managed/entrypoint"
        query = "?waf_migration=pending&phase_two=1"
        put = await http.put(url + path + query, json=config.json()["result"])
        assert put.status_code == 200
        await http.post(f"{url}/_simulator/faults", json={"kind": "latency", "seconds": 0})
        process.send_signal(signal.SIGKILL)
        await process.wait()
        process, url = await _started(tmp_path)
        try:
            for _ in range(100):
                status = await http.get(f"{url}/client/v4/zones/{zone}/waf_migration/status")
                if status.json()["result"]["migration_state"] == "complete":
                    break
                await asyncio.sleep(0.05)
            stored = await http.get(url + path)
            assert stored.json()["result"] == put.json()["result"]
            entries = (await http.get(f"{url}/_simulator/journal")).json()["entries"]
            assert [one["call"] for one in entries[:3]] == ["waf.config", "entrypoint.put", "waf.status"]
            assert len((await http.get(f"{url}/_simulator/faults")).json()["faults"]) == 1
        finally:
            process.terminate()
            assert await process.wait() == 0


@pytest.mark.parametrize("strict", [True, False])
async def test_the_command_chooses_how_strictly_bodies_are_read(tmp_path: Path, strict: bool) -> None:
    """Leniently, as the service does, or all to the letter."""
    dump_fleet(a_fleet(), tmp_path / "fleet.json")
    process, url = await _started(tmp_path, *(["--strict"] if strict else []))
    try:
        async with httpx.AsyncClient(trust_env=False) as http:
            options = (await http.get(f"{url}/_simulator/options")).json()
    finally:
        process.terminate()
        await process.wait()
    assert (options["bodies"] == STRICT) is strict
    assert ("refuse" in options["bodies"].values()) is strict


async def test_the_command_names_what_is_wrong(tmp_path: Path) -> None:
    """A missing fleet file, a malformed address: exit code 2 and one line that says what would be right."""
    dump_fleet(a_fleet(), tmp_path / "fleet.json")
    for arguments, said in (
        (["--fleet", "no.yaml", "--data", "d", "--listen", "127.0.0.1:0"], "no.yaml"),
        (["--fleet", "fleet.json", "--data", "d", "--listen", "8780"], "HOST:PORT"),
        (["--fleet", "fleet.json", "--data", "fleet.json", "--listen", "127.0.0.1:0"], "data folder"),
    ):
        process = await _run(tmp_path, *arguments)
        _, errors = await process.communicate()
        assert process.returncode == 2, errors
        assert said in errors.decode()
        assert "Traceback" not in errors.decode()


async def _started(folder: Path, *more: str) -> tuple[asyncio.subprocess.Process, str]:
    process = await _run(
        folder,
        *("--fleet", "fleet.json", "--data", "data", "--listen", "127.0.0.1:0"),
        *("--migration-seconds", "0.5", "--visibility-seconds", "0"),
        *more,
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    return process, line.split(" at ")[1].split("/client")[0]


async def _run(folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "edgeshift.cli.main", "simulator", *arguments),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
