"""Custom log fields rolled out while others write the same ruleset: nothing is lost, on the real thing."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from edgeshift.areas.log_fields import OUR_REF, PHASE
from edgeshift.model.fleet import ZoneOutcome, zone_migration_id
from edgeshift.testbed.simulator.edge_exchange import EdgeExchange
from tests.kit import Scene, fleet_of, scene

pytestmark = [pytest.mark.embedded, pytest.mark.long]

FIELDS: dict[str, Any] = {"request_headers": ["x-a"], "cookies": ["Id"], "verify": "2h", "every": "30m"}
OPTIONS = "CVE-2021-44228=true&fields=RayID,EdgeStartTimestamp&timestamps=rfc3339&sample_rate=1"


def rule(name: str, *headers: str) -> dict[str, Any]:
    names = [{"name": header} for header in headers or (f"x-{name}",)]
    return {
        "ref": name,
        "action": "log_custom_field",
        "expression": "true",
        "description": name,
        "enabled": True,
        "action_parameters": {"request_fields": names},
    }


class Service:
    """The simulator's service, as a stranger with a token of his own calls it; and its edge."""

    def __init__(self, play: Scene, http: httpx.AsyncClient) -> None:
        self.play, self.http = play, http
        self.ids = {zone.name: zone.id for zone in play.fleet.zones}

    async def __call__(self, method: str, zone: str, path: str, body: Any = None) -> Any:
        token = self.play.fleet.credentials[0].value
        answer = await self.http.request(
            method,
            f"{self.play.simulator.base_url}/zones/{self.ids[zone]}{path}",
            headers={"authorization": f"Bearer {token}"},
            json=body,
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    async def rules(self, zone: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self("GET", zone, f"/rulesets/phases/{PHASE}/entrypoint"))[
            "rules"
        ]
        return found

    async def begin(self, zone: str, *rules: dict[str, Any], options: str | None = OPTIONS) -> None:
        """A zone with these rules and, with options, a log job that pushes to a bucket of its own."""
        if rules:
            await self("PUT", zone, f"/rulesets/phases/{PHASE}/entrypoint", {"rules": list(rules)})
        if options is None:
            return
        address = f"r2://{zone}/logs"
        job = {"destination_conf": address, "dataset": "http_requests", "enabled": True, "frequency": "low"}
        await self("POST", zone, "/logpush/jobs", {**job, "logpull_options": options})

    async def job(self, zone: str) -> dict[str, Any]:
        (found,) = await self("GET", zone, "/logpush/jobs")
        return dict(found)

    async def stranger(self, zone: str, how: str, when: str, *rules: dict[str, Any], skip: int = 0) -> None:
        body = {"how": how, "when": when, "rules": list(rules), "skip": skip}
        await self.play.control.send("POST", f"zones/{self.ids[zone]}/rulesets/{PHASE}/write", body)

    async def traffic(self, zone: str, *requests: list[tuple[str, str]], later: float = 5) -> None:
        """Requests with these headers, logged and pushed; so many seconds from now."""
        state = self.play.simulator.state
        for number, headers in enumerate(requests):
            state.logs.record(
                EdgeExchange(
                    zone_id=self.ids[zone],
                    ray=f"{number:016x}",
                    at=state.clock.now() + timedelta(seconds=later),
                    method="GET",
                    scheme="https",
                    host=zone,
                    path="/",
                    query="",
                    client_ip="192.0.2.1",
                    request_headers=headers,
                )
            )
        await state.logs.flush()


@asynccontextmanager
async def stage(
    client: Client, folder: Path, *names: str, fields: dict[str, Any] | None = None, **spec: Any
) -> AsyncIterator[tuple[Scene, Service]]:
    """Enterprise zones and a campaign that has not begun."""
    fleet = fleet_of(*({"name": name, "plan": "enterprise"} for name in names))
    entries = f"file://{folder}/simulator/buckets/r2/{{zone}}/logs"
    terms = {**FIELDS, "entries": entries, **(fields or {})}
    async with (
        scene(client, folder, fleet, area="log-fields", log_fields=terms, begin=False, **spec) as play,
        httpx.AsyncClient() as http,
    ):
        yield play, Service(play, http)


async def settled(play: Scene, name: str) -> tuple[ZoneOutcome, str, dict[str, Any]]:
    """A zone's outcome, why, and its archived record."""
    outcome = await play.outcome(name)
    zone = next(target.zone for target in play.targets if target.zone.name == name)
    result = await play.client.get_workflow_handle(zone_migration_id(zone.id, play.spec.area)).result()
    record = await play.archive.get_json(result["record"]) if result["record"] else {}
    return outcome, result["reason"], record


def contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


def refs(rules: list[dict[str, Any]]) -> list[str]:
    return [item["ref"] for item in rules]


async def test_fields_arrive_in_entries_and_all_else_is_kept(temporal_client: Client, tmp_path: Path) -> None:
    """A stranger's rule and all else of the job stay as they were; the fields are seen."""
    async with stage(temporal_client, tmp_path, "a.example", fields={"verify": "80h"}) as (play, service):
        await service.begin("a.example", rule("theirs"))
        before, theirs = await service.job("a.example"), await service.rules("a.example")
        await play.begin()
        await play.zone_until("a.example", lambda state: state.phase.value == "awaiting_sign_off")
        await play.sign_what_waits()
        await play.zone_until("a.example", lambda state: state.phase.value == "watching")
        await service.traffic("a.example", [("x-a", "1"), ("cookie", "Id=2")], [("host", "a")])
        outcome, reason, record = await settled(play, "a.example")
        assert outcome is ZoneOutcome.SETTLED
        assert reason == "2 of 2 fields seen in 2 log entries"
        rules = await service.rules("a.example")
        assert rules[0] == theirs[0] and refs(rules) == ["theirs", OUR_REF]
        after = await service.job("a.example")
        assert after["logpull_options"] == OPTIONS.replace(
            "EdgeStartTimestamp", "EdgeStartTimestamp,Cookies,RequestHeaders"
        )
        moving = ("logpull_options", "last_complete")
        assert {k: v for k, v in after.items() if k not in moving} == {
            k: v for k, v in before.items() if k not in moving
        }
        seen = await play.archive.get_json(record["evidence"])
        assert [field["state"] for field in seen["fields"]] == ["seen", "seen"]
        await play.result()


STRANGERS: dict[str, tuple[list[tuple[str, str, list[dict[str, Any]], int]], list[str]]] = {
    "adds.example": ([("append", "before_put", [rule("new")], 0)], ["theirs", "new"]),
    "removes.example": ([("replace", "before_put", [], 0)], []),
    "changes.example": ([("replace", "before_put", [rule("theirs", "x-else")], 0)], ["theirs"]),
    "after.example": ([("replace", "after_put", [rule("theirs"), rule("late")], 0)], ["theirs", "late"]),
    "deletes.example": ([("delete", "before_put", [], 0)], []),
    "storm.example": (
        [("append", "before_put", [rule(f"n{number}")], number) for number in range(3)],
        ["theirs", "n0", "n1", "n2"],
    ),
}


async def test_strangers_who_write_between_our_reading_and_our_put_lose_nothing(
    temporal_client: Client, tmp_path: Path
) -> None:
    """What they added, changed and took out holds, and ours is in; their version is named in the record."""
    names = (*STRANGERS, "first.example")
    async with stage(temporal_client, tmp_path, *names) as (play, service):
        for name, (writes, _) in STRANGERS.items():
            await service.begin(name, rule("theirs"))
            for how, when, rules, skip in writes:
                await service.stranger(name, how, when, *rules, skip=skip)
        await service.begin("first.example")
        await service.stranger("first.example", "replace", "before_create", rule("first"))
        await play.begin()
        await play.sign_everything()
        for name, (_, expected) in {**STRANGERS, "first.example": ([], ["first"])}.items():
            outcome, reason, record = await settled(play, name)
            assert outcome is ZoneOutcome.SETTLED, (name, reason)
            rules = await service.rules(name)
            assert sorted(refs(rules)) == sorted([*expected, OUR_REF]), name
            found = await play.archive.get_json(record["found"])
            gap = name in ("adds.example", "removes.example", "changes.example", "storm.example")
            assert bool(found["overwritten"]) is gap, name
        changed = (await service.rules("changes.example"))[0]
        assert changed["action_parameters"]["request_fields"] == [{"name": "x-else"}]


async def test_what_is_not_verified_is_taken_back_to_the_letter(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Where no entry comes and the campaign says so: our rule, and what the jobs were to list, are out again;
    what a stranger has written meanwhile stays.
    """
    terms = {"unverified": "roll_back"}
    names = ("back.example", "bare.example")
    async with stage(temporal_client, tmp_path, *names, fields=terms) as (play, service):
        await service.begin("back.example", rule("theirs"))
        await service.begin("bare.example")
        before = await service.job("back.example")
        await service.stranger("back.example", "append", "after_put", rule("late"))
        await play.begin()
        await play.sign_everything()
        outcome, reason, _ = await settled(play, "back.example")
        assert outcome is ZoneOutcome.ROLLED_BACK and "no log entry with custom fields came" in reason
        assert refs(await service.rules("back.example")) == ["theirs", "late"]
        assert await service.job("back.example") == before
        assert (await settled(play, "bare.example"))[0] is ZoneOutcome.ROLLED_BACK
        assert await service.rules("bare.example") == []


async def test_a_stranger_who_writes_late_what_he_read_between_our_puts_loses_nobodys_rule(
    temporal_client: Client, tmp_path: Path
) -> None:
    """He read our first put, in which somebody's rule was missing for a moment, and writes after it was put
    back: it is noticed, our fields are taken back, and everybody's rules are there.
    """
    async with stage(temporal_client, tmp_path, "late.example", fields={"verify": "80h"}) as (play, service):
        await service.begin("late.example", rule("theirs"))
        await service.stranger("late.example", "append", "before_put", rule("new"))
        await play.begin()
        await play.zone_until("late.example", lambda state: state.phase.value == "awaiting_sign_off")
        await play.sign_what_waits()
        await play.zone_until("late.example", lambda state: state.phase.value == "watching")
        path = f"/rulesets/phases/{PHASE}/entrypoint"
        ruleset = (await service("GET", "late.example", path))["id"]
        read = await service("GET", "late.example", f"/rulesets/{ruleset}/versions/3")
        assert refs(read["rules"]) == ["theirs", OUR_REF]
        await service("PUT", "late.example", path, {"rules": [*read["rules"], rule("late")]})
        await service.traffic("late.example", [("x-a", "1"), ("cookie", "Id=2")])
        outcome, reason, _ = await settled(play, "late.example")
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        assert "version 5 of the ruleset, by somebody else, lacks what version 2 had" in reason
        assert sorted(refs(await service.rules("late.example"))) == ["late", "new", "theirs"]


async def test_a_log_job_that_somebody_makes_during_the_watch_is_told_and_takes_nothing_back(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It lists nothing that carries the fields, as is its maker's to say."""
    async with stage(temporal_client, tmp_path, "more.example", fields={"verify": "80h"}) as (play, service):
        await service.begin("more.example")
        await play.begin()
        await play.zone_until("more.example", lambda state: state.phase.value == "awaiting_sign_off")
        await play.sign_what_waits()
        await play.zone_until("more.example", lambda state: state.phase.value == "watching")
        await service.begin("more.example", options="fields=RayID")
        # Whether entries come in time or not: the fields are kept.
        await service.traffic("more.example", [("x-a", "1"), ("cookie", "Id=2")])
        outcome, reason, record = await settled(play, "more.example")
        assert outcome is ZoneOutcome.SETTLED and record["said"] == reason, reason
        assert reason.endswith("; log job 2 came since and does not list Cookies, RequestHeaders")


async def test_a_zone_without_a_job_gets_one_and_its_address_is_nowhere(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its ownership challenge, read where the service has put it; neither is in archive or history."""
    variable, key = f"EDGESHIFT_TEST_{uuid.uuid4().hex[:8].upper()}", f"sk{uuid.uuid4().hex}"
    monkeypatch.setitem(os.environ, variable, f"s3://{{zone}}/logs?region=eu&access-key-id={key}")
    bucket = f"file://{tmp_path}/simulator/buckets/s3/{{zone}}"
    job = {"destination": f"env:{variable}", "challenge": bucket}
    terms = {"job": job, "entries": f"{bucket}/logs"}
    async with stage(temporal_client, tmp_path, "new.example", fields=terms) as (play, service):
        await play.begin()
        await play.sign_everything()
        outcome, reason, _ = await settled(play, "new.example")
        assert outcome is ZoneOutcome.SETTLED, reason
        created = await service.job("new.example")
        assert created["name"] == "edgeshift-new.example" and created["enabled"] is True
        assert created["logpull_options"].endswith("Cookies,RequestHeaders&timestamps=rfc3339")
        assert created["destination_conf"].endswith(key)
        kept = contents(tmp_path / "state")
        assert kept and not any(key.encode() in data for data in kept)
        zone = play.targets[0].zone
        handle = play.client.get_workflow_handle(zone_migration_id(zone.id, play.spec.area))
        assert key not in (await handle.fetch_history()).to_json()


async def test_a_job_of_another_dataset_stays_on_though_it_has_the_name_of_ours(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rollback turns off the one that was created, and counts as made with the other one on."""
    variable = f"EDGESHIFT_TEST_{uuid.uuid4().hex[:8].upper()}"
    monkeypatch.setitem(os.environ, variable, "r2://{zone}/logs")
    terms = {"job": {"destination": f"env:{variable}"}, "unverified": "roll_back"}
    async with stage(temporal_client, tmp_path, "both.example", fields=terms) as (play, service):
        theirs = {"name": "edgeshift-both.example", "dataset": "firewall_events", "enabled": True}
        await service(
            "POST",
            "both.example",
            "/logpush/jobs",
            {**theirs, "destination_conf": "r2://both.example/events"},
        )
        await play.begin()
        await play.sign_everything()
        outcome, reason, _ = await settled(play, "both.example")
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        jobs = await service("GET", "both.example", "/logpush/jobs")
        assert {job["dataset"]: job["enabled"] for job in jobs} == {
            "firewall_events": True,
            "http_requests": False,
        }
        assert {job["name"] for job in jobs} == {theirs["name"]}


async def test_a_zone_that_has_it_all_and_one_that_cannot_are_left_alone(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing is sent to either."""
    async with stage(temporal_client, tmp_path, "done.example", "full.example") as (play, service):
        listing = "fields=RayID,Cookies,RequestHeaders"
        both = rule("theirs", "x-a")
        both["action_parameters"]["cookie_fields"] = [{"name": "Id"}]
        await service.begin("done.example", both, options=listing)
        await service.begin("full.example", rule("theirs", *(f"x-{number}" for number in range(39))))
        await play.begin()
        await play.sign_everything()
        assert (await settled(play, "done.example"))[0] is ZoneOutcome.ALREADY_SETTLED
        outcome, reason, _ = await settled(play, "full.example")
        assert outcome is ZoneOutcome.BLOCKED and "would have 41" in reason
        assert refs(await service.rules("done.example")) == ["theirs"]


REFUSAL = '{"success": false, "errors": [{"message": "not like this"}], "messages": [], "result": null}'
LOST = {"kind": "server_error", "effect": "after", "status": 502, "times": 1}
FAULTS: dict[str, tuple[dict[str, Any], str, ZoneOutcome]] = {
    "rules-lost.example": (LOST, "/rulesets/", ZoneOutcome.SETTLED),
    "job-lost.example": (LOST, "/logpush/jobs/", ZoneOutcome.SETTLED),
    "job-later.example": ({"kind": "rate_limit", "times": 2}, "/logpush/jobs/", ZoneOutcome.SETTLED),
    "job-refused.example": (
        {"kind": "server_error", "effect": "before", "status": 400, "times": 1, "body": REFUSAL},
        "/logpush/jobs/",
        ZoneOutcome.ROLLED_BACK,
    ),
    "unread.example": (
        {"kind": "server_error", "effect": "before", "status": 404, "body": REFUSAL},
        "/versions/",
        ZoneOutcome.ROLLED_BACK,
    ),
    "rules-refused.example": (
        {"kind": "server_error", "effect": "before", "status": 400, "times": 1, "body": REFUSAL},
        "/rulesets/",
        ZoneOutcome.FAILED,
    ),
}


async def test_answers_that_are_lost_and_steps_made_in_part_end_whole(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A write whose answer was lost is found; a step that stopped half way is gone on with, under the same
    sign-off; one that was refused half way is taken back.
    """
    async with stage(temporal_client, tmp_path, *FAULTS) as (play, service):
        await service.stranger("unread.example", "append", "before_put", rule("gone"), skip=1)
        for name, (fault, path, _) in FAULTS.items():
            await service.begin(name, rule("theirs"))
            method = "GET" if path == "/versions/" else "PUT"
            match = {"zone": service.ids[name], "method": method, "path": path}
            await play.control.send("POST", "faults", {**fault, "match": match})
        await play.begin()
        await play.sign_everything()
        assert all(fault["fired"] for fault in (await play.control.get("faults"))["faults"])
        for name, (_, _, expected) in FAULTS.items():
            outcome, reason, _ = await settled(play, name)
            assert outcome is expected, (name, reason)
            assert ("version 2 of the ruleset had was replaced" in reason) is (name == "unread.example")
            whole = expected is ZoneOutcome.SETTLED
            assert refs(await service.rules(name)) == ["theirs", *([OUR_REF] if whole else [])], name
            assert ("Cookies" in (await service.job(name))["logpull_options"]) is whole, name
            puts = [entry for entry in await play.journal(zone=name) if entry["method"] == "PUT"]
            assert sum(entry["call"].startswith("logpush") for entry in puts) <= (3 if whole else 1), name
