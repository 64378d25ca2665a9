"""The client against the simulator, over HTTP: every call, each way to migrate, every fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from activities.waf.zone import read_zone
from edgeshift.model.fleet import Plan, Zone
from edgeshift.rate_limit.local_pacing import LocalPacer
from edgeshift.rate_limit.pacing import Pacer, Unpaced
from edgeshift.rate_limit.slots import PaceTerms
from edgeshift.service_api import (
    Credential,
    Forbidden,
    InvalidCredential,
    NotFound,
    NotUnderstood,
    Outcome,
    RateLimited,
    Refused,
    ServiceClient,
    ServiceError,
)
from edgeshift.testbed.simulator.faults import FaultSpec
from edgeshift.testbed.simulator.fleet_whole import Fleet
from edgeshift.testbed.simulator.options import RateLimit, SimulatorOptions
from edgeshift.testbed.simulator.server import RunningSimulator, running

BYPASS = {"action": "bypass", "products": ["waf"]}


def fleet() -> Fleet:
    """A zone of each kind that the client meets, and enough others for several pages."""
    zones: list[dict[str, Any]] = [
        {"name": "pro.example", "plan": "pro"},
        {"name": "enterprise.example", "plan": "enterprise"},
        {
            "name": "overrides.example",
            "plan": "business",
            "uri_overrides": [{"urls": ["overrides.example/a"]}, {"urls": ["overrides.example/b"]}],
        },
        {
            "name": "rules.example",
            "plan": "pro",
            "firewall_rules": [{**BYPASS, "expression": f"ip.src eq 192.0.2.{n}"} for n in range(201)],
            "page_rules": [{"targets": ["*rules.example/x*"], "actions": [{"id": "waf", "value": "off"}]}],
        },
        {"name": "done.example", "plan": "pro", "migration": {"state": "complete"}},
        {
            "name": "modes.example",
            "plan": "pro",
            "previous_waf": {"managed": {"rules": {"100008": "simulate"}}},
        },
        *({"name": f"page-{n:03}.example", "plan": "free"} for n in range(60)),
    ]
    return Fleet.model_validate(
        {
            "users": [{"email": "ops@example.org"}],
            "credentials": [
                {"label": "all"},
                {"label": "key", "kind": "key"},
                {"label": "reader", "permissions": ["zone:read", "waf:read"]},
                {"label": "gone", "status": "disabled"},
            ],
            "accounts": [{"name": "Main"}, {"name": "Other"}],
            "zones": zones,
        }
    )


@dataclass
class Scene:
    """A running simulator, and clients of it."""

    simulator: RunningSimulator
    fleet: Fleet

    def zone(self, name: str) -> str:
        return next(zone.id for zone in self.fleet.zones if zone.name == f"{name}.example")

    def client(self, label: str = "all", *, pacer: Pacer | None = None, seconds: float = 10) -> ServiceClient:
        found = next(item for item in self.fleet.credentials if item.label == label)
        credential = (
            Credential(token=found.value)
            if found.kind == "token"
            else Credential(key=found.value, email="ops@example.org")
        )
        return ServiceClient(
            self.simulator.base_url,
            credential,
            pacer=pacer or Unpaced(),
            request_limit=timedelta(seconds=seconds),
        )

    async def control(self, method: str, path: str, document: Any = None) -> Any:
        async with httpx.AsyncClient() as http:
            answer = await http.request(method, f"{self.simulator.control_url}{path}", json=document)
            assert answer.is_success, answer.text
            return answer.json() if answer.content else None

    async def journal(self, call: str) -> list[dict[str, Any]]:
        found = await self.control("GET", f"/journal?limit=1000&call={call}")
        return list(found["entries"])


def whole(zone: str, name: str) -> Zone:
    return Zone(id=zone, name=f"{name}.example", account="d" * 32, plan=Plan.PRO)


@asynccontextmanager
async def scene(data: Path, **options: Any) -> AsyncIterator[Scene]:
    options = {"migration_seconds": 0.2, "validation_seconds": 0.1, "visibility_seconds": 0.1} | options
    made = fleet()
    async with running(made, data, options=SimulatorOptions(**options)) as simulator:
        yield Scene(simulator, made)


async def until_state(client: ServiceClient, zone: str, state: str) -> None:
    async with asyncio.timeout(60):
        while True:
            if (await client.waf_status(zone)).migration_state == state:
                return
            await asyncio.sleep(0.05)


async def test_zones_and_accounts_are_read_to_the_end(tmp_path: Path) -> None:
    """Sixty-six zones over two pages, each once; filters narrow them; a zone has its plan and account."""
    async with scene(tmp_path) as here, here.client() as client:
        names = [zone.name async for zone in client.zones()]
        assert names == sorted(zone.name for zone in here.fleet.zones)
        assert [zone.name async for zone in client.zones(name="pro.example")] == ["pro.example"]
        accounts = {account.name: account.id for account in await client.accounts()}
        assert set(accounts) == {"Main", "Other"}
        assert [zone.name async for zone in client.zones(account=accounts["Other"])] == []
        zone = await client.zone(here.zone("enterprise"))
        assert zone.plan is not None and zone.plan.legacy_id == "enterprise"
        assert zone.account is not None and zone.account.id == accounts["Main"]


async def test_a_professional_zone_migrates(tmp_path: Path) -> None:
    """Check, configuration, PUT with pending, status: five calls, and the legacy calls fail afterwards."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("pro")
        assert (await client.waf_check(zone)).compatible is True
        assert await client.entry_point(zone) is None
        config = await client.waf_config(zone)
        assert config.rules and config.raw["rules"]
        await client.put_entry_point(zone, {"name": config.name, "rules": config.raw["rules"]}, "pending")
        await until_state(client, zone, "complete")
        status = await client.waf_status(zone)
        assert (status.new_waf_status, status.old_waf_status) == ("enabled", "disabled")
        stored = await client.entry_point(zone)
        assert stored is not None and stored.rules is not None
        assert len(stored.rules) == len(config.rules)
        with pytest.raises(ServiceError) as raised:
            await client.waf_packages(zone)
        assert raised.value.status == 410


async def test_an_enterprise_zone_validates_first(tmp_path: Path) -> None:
    """Validation, then pending; the body returned by the service is sent as it was returned."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("enterprise")
        config = await client.waf_config(zone)
        for word, state in (("validation", "validation"), ("pending", "complete")):
            await client.put_entry_point(zone, config.raw, word)
            await until_state(client, zone, state)
        entries = await here.journal("entrypoint.put")
        assert [entry["query"] for entry in entries] == [
            "waf_migration=validation&phase_two=1",
            "waf_migration=pending&phase_two=1",
        ]


async def test_a_refused_write_says_so_and_nothing_happened(tmp_path: Path) -> None:
    """201 rules, validation without Enterprise, a migrated zone: refused, with the service's words."""
    async with scene(tmp_path) as here, here.client() as client:
        cases = [("rules", "pending"), ("pro", "validation"), ("done", "pending")]
        for name, word in cases:
            with pytest.raises(Refused) as raised:
                await client.put_entry_point(here.zone(name), {"name": "default", "rules": []}, word)
            assert raised.value.outcome is Outcome.NOTHING_HAPPENED
            assert raised.value.messages
            assert raised.value.ray
        entries = await here.journal("entrypoint.put")
        assert [entry["effect"] for entry in entries] == ["none"] * 3


async def test_the_previous_waf_is_read_whole(tmp_path: Path) -> None:
    """201 firewall rules over three pages, packages, groups, rules, overrides, page rules and the setting."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("rules")
        rules = await client.firewall_rules(zone)
        assert len({rule.id for rule in rules}) == 201
        assert all(rule.products == ["waf"] and rule.filter for rule in rules)
        packages = await client.waf_packages(zone)
        assert {package.detection_mode for package in packages} == {"anomaly", "traditional"}
        for package in packages:
            groups = await client.waf_groups(zone, package.id)
            assert groups and all(group.mode in ("on", "off") for group in groups)
            found = await client.waf_rules(zone, package.id)
            assert found and len({rule.id for rule in found}) == len(found)
        (page_rule,) = await client.page_rules(zone)
        assert page_rule.raw["actions"] == [{"id": "waf", "value": "off"}]
        assert (await client.waf_setting(zone)).value == "on"
        assert await client.waf_overrides(zone) == []


async def test_a_snapshot_has_the_modes_that_the_migration_loses(tmp_path: Path) -> None:
    """Every group, and of the rules those that somebody has given a mode; others are not even asked for."""
    async with scene(tmp_path) as here, here.client() as client:
        changed = await read_zone(client, whole(here.zone("modes"), "modes"))
        assert {rule["mode"] for rule in changed.rules} == {"simulate"}
        assert [rule["id"] for rule in changed.rules] == ["100008"]
        (own,) = [group for group in changed.groups if group["modified_rules_count"]]
        assert own["package_id"] == changed.rules[0]["package_id"]
        assert len(changed.groups) > 1
        plain = await read_zone(client, whole(here.zone("pro"), "pro"))
        assert plain.groups and plain.rules == []
        asked = [entry["zone"] for entry in await here.journal("waf.rules.list")]
        assert set(asked) == {here.zone("modes")}


async def test_overrides_block_a_zone_until_they_are_deleted(tmp_path: Path) -> None:
    """Two URI-based overrides make a zone ineligible; deleted one by one, it is eligible."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("overrides")
        assert (await client.waf_check(zone)).compatible is False
        for override in await client.waf_overrides(zone):
            assert override.urls
            await client.delete_waf_override(zone, override.id)
        assert await client.waf_overrides(zone) == []
        assert (await client.waf_check(zone)).compatible is True
        with pytest.raises(Refused) as raised:
            await client.delete_waf_override(zone, "f" * 32)
        assert raised.value.nothing_happened


async def test_rulesets_make_a_round_trip(tmp_path: Path) -> None:
    """Create, update, list, earlier versions, delete; a second one for the phase is refused by its code."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("enterprise")
        body = {"name": "n", "kind": "zone", "phase": "http_request_firewall_custom", "description": "d"}
        made = await client.create_ruleset(zone, body)
        assert made.id is not None
        with pytest.raises(Refused) as raised:
            await client.create_ruleset(zone, body)
        assert 20217 in raised.value.codes
        rule = {"action": "block", "expression": "true", "description": "all", "enabled": False}
        changed = await client.put_ruleset(zone, made.id, {"rules": [rule]})
        assert changed.rules is not None and changed.rules[0].ref == changed.rules[0].id
        listed = await client.rulesets(zone)
        assert made.id in [item.id for item in listed]
        assert all(item.rules is None for item in listed)
        versions = await client.ruleset_versions(zone, made.id)
        assert {item.version for item in versions} >= {changed.version}
        earlier = await client.ruleset_version(zone, made.id, int(made.version or 0))
        assert not earlier.rules
        assert (await client.ruleset(zone, made.id)).raw == changed.raw
        await client.delete_ruleset(zone, made.id)
        with pytest.raises(NotFound):
            await client.ruleset(zone, made.id)


async def test_both_schemes_work_and_bad_credentials_are_named(tmp_path: Path) -> None:
    """Token and key read alike; a token that is wrong, disabled or too narrow fails by its own name."""
    async with scene(tmp_path) as here:
        zone = here.zone("pro")
        async with here.client() as token, here.client("key") as key, here.client("reader") as reader:
            assert (await token.waf_status(zone)).raw == (await key.waf_status(zone)).raw
            assert (await token.verify_token()).status == "active"
            with pytest.raises(Forbidden) as raised:
                await reader.put_entry_point(zone, {"name": "default", "rules": []}, "pending")
            assert raised.value.outcome is Outcome.NOTHING_HAPPENED
        async with here.client("gone") as gone:
            with pytest.raises(InvalidCredential):
                await gone.waf_status(zone)
        for credential in (Credential(token="short"), Credential(key="0" * 37, email="ops@example.org")):
            async with ServiceClient(here.simulator.base_url, credential, pacer=Unpaced()) as stranger:
                with pytest.raises(InvalidCredential):
                    await stranger.waf_status(zone)


async def test_an_unknown_zone_is_refused(tmp_path: Path) -> None:
    """A zone that is not there is an error of the service's, not an empty answer."""
    async with scene(tmp_path) as here, here.client() as client:
        with pytest.raises(ServiceError) as raised:
            await client.waf_check("0" * 32)
        assert raised.value.status in (400, 403, 404)


async def test_security_events_come_whole_however_small_the_limit(tmp_path: Path) -> None:
    """A limit of fifty halves the span until it is met; the events are the same, in order, each once."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("enterprise")
        until = datetime.now(UTC).replace(microsecond=0)
        since = until - timedelta(hours=12)
        whole = await client.security_events(zone, since, until)
        assert len(whole) > 60
        assert {event.source for event in whole} == {"waf"}
        assert all(event.rayName and event.datetime and event.clientIP for event in whole)
        split = await client.security_events(zone, since, until, limit=50)
        key = [(event.datetime, event.rayName, event.ruleId) for event in whole]
        assert sorted(key, key=str) == sorted(
            ((event.datetime, event.rayName, event.ruleId) for event in split), key=str
        )
        assert [event.datetime for event in split] == sorted(str(event.datetime) for event in split)
        assert await client.security_events(zone, until, since) == []
        with pytest.raises(ValueError, match="time zone"):
            await client.security_events(zone, datetime(2024, 1, 1), until)  # noqa: DTZ001 - the mistake itself
        with pytest.raises(ServiceError):
            await client.security_events("0" * 32, since, until)


AFTER = {"effect": "after"}
BEFORE = {"effect": "before"}

FAULTS: list[tuple[dict[str, Any], Outcome, bool]] = [
    ({"kind": "rate_limit"}, Outcome.NOTHING_HAPPENED, False),
    ({"kind": "server_error", "status": 500, **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "server_error", "status": 502, **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "server_error", "status": 500, **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "server_error", "status": 502, **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "gateway_timeout", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "hang", **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "hang", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "reset", **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "reset", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "not_json", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "not_json", **BEFORE}, Outcome.MAY_HAVE_HAPPENED, False),
    ({"kind": "truncated", **AFTER}, Outcome.MAY_HAVE_HAPPENED, True),
    ({"kind": "wrong_types"}, Outcome.MAY_HAVE_HAPPENED, True),
]


@pytest.mark.parametrize(
    ("fault", "outcome", "done"),
    FAULTS,
    ids=[f"{row[0]['kind']}-{row[0].get('effect', '')}" for row in FAULTS],
)
async def test_a_fault_at_the_commit_is_judged_and_never_sent_again(
    tmp_path: Path, fault: dict[str, Any], outcome: Outcome, done: bool
) -> None:
    """Every fault at the migrating PUT: its outcome is what can be known, and the journal has one PUT."""
    spec = FaultSpec.model_validate({**fault, "match": {"call": "entrypoint.put"}})
    async with scene(tmp_path, faults=[spec]) as here, here.client(seconds=2) as client:
        zone = here.zone("pro")
        config = await client.waf_config(zone)
        with pytest.raises(ServiceError) as raised:
            await client.put_entry_point(zone, config.raw, "pending")
        assert raised.value.outcome is outcome
        if done:
            await until_state(client, zone, "complete")
        else:
            await asyncio.sleep(0.5)
            assert (await client.waf_status(zone)).migration_state == "start"
        assert len(await here.journal("entrypoint.put")) == 1


@pytest.mark.parametrize("kind", ["null_errors", "unknown_enum"])
async def test_what_is_only_unusual_is_tolerated(tmp_path: Path, kind: str) -> None:
    """Null errors and messages, and values nobody knows: every reading goes through."""
    faults = [FaultSpec.model_validate({"kind": kind})]
    async with scene(tmp_path, faults=faults) as here, here.client() as client:
        zone = here.zone("rules")
        assert (await client.waf_check(zone)).compatible is True
        assert await client.waf_status(zone)
        assert len(await client.firewall_rules(zone)) == 201
        assert len([item async for item in client.zones()]) == len(here.fleet.zones)
        for package in await client.waf_packages(zone):
            assert await client.waf_groups(zone, package.id)


@pytest.mark.parametrize("kind", ["not_json", "wrong_types", "truncated"])
async def test_nonsense_is_an_error_and_never_a_reading(tmp_path: Path, kind: str) -> None:
    """Answers that are no answers: each reading fails by name, none comes back empty or wrong."""
    faults = [FaultSpec.model_validate({"kind": kind})]
    async with scene(tmp_path, faults=faults) as here, here.client(seconds=2) as client:
        zone = here.zone("rules")
        for read in (client.waf_check, client.waf_config, client.firewall_rules, client.page_rules):
            with pytest.raises(ServiceError) as raised:
                await read(zone)
            assert raised.value.outcome is Outcome.READ
            assert kind == "truncated" or isinstance(raised.value, NotUnderstood)


async def test_a_paced_client_never_meets_the_limit(tmp_path: Path) -> None:
    """Twice as much work as a window holds, from many tasks: no call is refused, and the limit is used."""
    limit = RateLimit(requests=60, window_seconds=3, block_seconds=3)
    terms = PaceTerms(limit=60, window=3.0, block=0.5)
    async with scene(tmp_path, rate_limit=limit) as here:
        pacer = LocalPacer(terms)
        async with here.client(pacer=pacer) as client:
            began = asyncio.get_running_loop().time()
            zone = here.zone("pro")
            await asyncio.gather(*(client.waf_status(zone) for _ in range(120)))
            took = asyncio.get_running_loop().time() - began
        await pacer.aclose()
        (use,) = (await here.control("GET", "/rate-limits"))["users"]
        assert use["busiest_window"] <= 60
        assert took < 120 / terms.rate + 3


async def test_a_block_is_kept_to(tmp_path: Path) -> None:
    """After the service has refused a call for the limit, the next one waits as long as it was told."""
    limit = RateLimit(requests=5, window_seconds=60, block_seconds=1, retry_after=True)

    class Noting(LocalPacer):
        told: float | None = None
        at = 0.0

        def blocked(self, seconds: float) -> None:
            self.told, self.at = seconds, asyncio.get_running_loop().time()
            super().blocked(seconds)

    async with scene(tmp_path, rate_limit=limit) as here:
        pacer = Noting(PaceTerms(limit=100_000, window=1.0))
        zone = here.zone("pro")
        async with here.client(pacer=pacer) as client:
            with pytest.raises(RateLimited) as raised:
                for _ in range(6):
                    await client.waf_status(zone)
            assert raised.value.retry_after == pacer.told == 1
            assert (await client.waf_status(zone, urgent=True)).migration_state == "start"
            assert asyncio.get_running_loop().time() - pacer.at > 0.9
        await pacer.aclose()
