"""Every call of the client, and what each area makes of its answers, over bodies spoilt by a seed."""

from __future__ import annotations

import asyncio
import resource
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from activities.change.not_sent import NotSent
from activities.log_fields.reading import read_zone as read_log_zone
from activities.log_fields.ruleset_reading import find_ruleset, version_of, versions_since
from activities.waf.zone import read_configuration, read_zone, runs
from activities.zone_lists import listed
from edgeshift.areas import esc, log_fields, waf
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.areas.waf.aftercare import aftercare
from edgeshift.areas.waf.evidence import EvidencePolicy, judge
from edgeshift.model.digests import NotCanonical, digest, fingerprint
from edgeshift.model.fleet import Plan, Zone
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import SPECIFICATION
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, ServiceClient, ServiceError
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.server import running
from tests.kit.stored import put_json

LONGEST_CALL = 120.0
"""Seconds that one call may take, pages included, on a busy machine."""
MOST_GROWTH = 2_000
"""MB by which the process may grow over a chunk, simulator and its bombs included."""

FIELDS = FieldSet(request_headers=("user-agent",), response_headers=("content-type",), cookies=("Theme",))
BODY = {
    "rules": [{"action": "execute", "expression": "true", "action_parameters": {"id": waf.MANAGED_RULESET}}]
}


def fleet() -> Fleet:
    """A zone with something of everything that is read, and others for pages."""
    rich = {
        "name": "rich.example",
        "plan": "enterprise",
        "firewall_rules": [{"expression": f"ip.src eq 192.0.2.{n}", "products": ["waf"]} for n in range(5)],
        "page_rules": [{"targets": ["*rich.example/x*"], "actions": [{"id": "waf", "value": "off"}]}],
        "esc": {"behaviours": [], "with_secret": "customer-0123456789"},
        "logs": {
            "fields": [{"request_headers": ["x-team"], "cookies": ["Basket"], "description": "another's"}],
            "jobs": [
                {
                    "destination": "s3://request-logs/{zone}?region=eu-west-1",
                    "logpull_options": "fields=RayID&timestamps=rfc3339",
                    "name": "customers",
                }
            ],
        },
    }
    blocked = {"name": "over.example", "plan": "pro", "uri_overrides": [{"urls": ["over.example/a"]}]}
    others = [{"name": f"page-{number:02}.example", "plan": "pro"} for number in range(60)]
    return Fleet.model_validate({"zones": [rich, blocked, *others], "accounts": [{"name": "Main"}]})


@dataclass
class Table:
    """Where the bodies are met: a client of a simulator, and the things that it asks for."""

    client: ServiceClient
    control: Control
    zone: Zone
    over: Zone
    archive: Archive
    known: dict[str, Any] = field(default_factory=dict)


Meeting = Callable[[Table], Awaitable[object]]


async def _waf(table: Table) -> None:
    """As prepare, plan and ticket do."""
    await _assessed(table, table.zone)


async def _waf_over(table: Table) -> None:
    """Of a zone with overrides."""
    await _assessed(table, table.over)


async def _assessed(table: Table, zone: Zone) -> None:
    reading = await read_zone(table.client, zone)
    found = waf.assess(reading, SPECIFICATION)
    await put_json(table.archive, reading.model_dump(mode="json"))
    waf.Reading.model_validate(reading.model_dump(mode="json"))
    waf.ticket_text(zone, ReasonCode.TOO_MANY_RULES, found, (), SPECIFICATION)
    if reading.config is None:
        return
    body = waf.propose(reading).body
    waf.propose(reading, [waf.Adjustment(rule="a" * 32, action="log"), waf.Adjustment(enabled=False)])
    digest(body), fingerprint(body, zone), waf.is_log_only(body), waf.shadow(body)
    waf.same_rules(reading.entry_point, body)
    waf.logs_anyway(body, waf.MANAGED_RULESET, "a" * 32)
    await put_json(
        table.archive,
        {"body": body, "losses": list(map(waf.text_of_loss, found.losses)), "warnings": list(found.warnings)},
    )
    aftercare(zone, body, found.losses, None).model_dump(mode="json")


async def _events(table: Table) -> None:
    now = datetime.now(UTC)
    events = await table.client.security_events(table.zone.id, now - timedelta(hours=2), now)
    found = judge(
        (event.raw for event in events), frozenset({waf.MANAGED_RULESET}), "plain", EvidencePolicy()
    )
    await put_json(table.archive, found.model_dump(mode="json"))


async def _logs(table: Table) -> None:
    reading = await read_log_zone(table.client, table.zone)
    found = log_fields.assess(reading, table.zone, FIELDS, None, SPECIFICATION)
    await put_json(table.archive, reading.model_dump(mode="json"))
    log_fields.lacking(reading, FIELDS, SPECIFICATION) if found.verdict.value == "ready" else None
    if found.verdict.value == "ready":
        body = log_fields.proposal_body(reading, table.zone, FIELDS, None)
        digest(body), fingerprint(body, table.zone)
        merged = log_fields.merge(reading.rules, FIELDS)
        log_fields.rollback(reading.rules, merged, FIELDS)
        for job in reading.jobs:
            if log_fields.pushes(job):
                log_fields.updated(job, ["Cookies"], SPECIFICATION)


async def _versions(table: Table) -> None:
    ruleset = await find_ruleset(table.client, table.zone.id)
    if ruleset is None:
        return
    try:
        present = version_of(ruleset)
    except NotSent:
        return
    base = log_fields.Version(0, ())
    since = await versions_since(
        table.client, table.zone.id, str(ruleset.id), min(0, present.number), present
    )
    found = log_fields.reconcile(base, [], since, lambda rules: log_fields.merge(list(rules), FIELDS))
    await put_json(table.archive, found.put or [])


async def _esc(table: Table) -> None:
    setting = await table.client.esc(table.zone.scope)
    secret = setting.with_secret.get_secret_value() if setting.with_secret else None
    esc.assess(
        esc.Reading(always=setting.always is True, secret=esc.whose(secret)), datetime.now(UTC), SPECIFICATION
    )


async def _zones(table: Table) -> None:
    await listed(table.client)


def _of(call: Callable[[ServiceClient, Zone, dict[str, Any]], Awaitable[object]]) -> Meeting:
    async def meet(table: Table) -> None:
        await call(table.client, table.zone, table.known)

    return meet


S3 = SecretStr("s3://request-logs/elsewhere?region=eu-west-1")
MEETINGS: dict[str, Meeting] = {
    "waf": _waf,
    "waf-over": _waf_over,
    "events": _events,
    "log-fields": _logs,
    "versions": _versions,
    "esc": _esc,
    "zones": _zones,
    "accounts": _of(lambda client, zone, known: client.accounts()),
    "token": _of(lambda client, zone, known: client.verify_token()),
    "zone": _of(lambda client, zone, known: client.zone(zone.id)),
    "status": _of(lambda client, zone, known: client.waf_status(zone.id)),
    "config": _of(lambda client, zone, known: read_configuration(client, zone)),
    "runs": _of(lambda client, zone, known: runs(client, zone, BODY)),
    "job": _of(lambda client, zone, known: client.log_job(zone.id, known["job"])),
    "put-entry-point": _of(lambda client, zone, known: client.put_entry_point(zone.id, BODY, "validation")),
    "delete-override": _of(lambda client, zone, known: client.delete_waf_override(zone.id, "a" * 32)),
    "put-ruleset": _of(
        lambda client, zone, known: client.put_ruleset(zone.id, known["ruleset"], {"rules": known["rules"]})
    ),
    "create-ruleset": _of(lambda client, zone, known: client.create_ruleset(zone.id, log_fields.RULESET)),
    "update-job": _of(
        lambda client, zone, known: client.update_log_job(zone.id, known["job"], {"enabled": True})
    ),
    "create-job": _of(lambda client, zone, known: client.create_log_job(zone.id, {"destination_conf": S3})),
    "challenge": _of(lambda client, zone, known: client.ownership_challenge(zone.id, S3)),
    "validate-challenge": _of(lambda client, zone, known: client.validate_ownership(zone.id, S3, S3)),
    "set-secret": _of(
        lambda client, zone, known: client.set_esc_secret(zone.scope, SecretStr("edgeshift-1"))
    ),
    "disable-esc": _of(lambda client, zone, known: client.disable_esc(zone.scope)),
    "enable-esc": _of(lambda client, zone, known: client.enable_esc(zone.scope)),
}
"""What is done with answers, by name. Each raises ServiceError alone, or ArchiveError."""


@dataclass
class Met:
    """What came of a chunk. ``answers``: how many ended how. ``bodies``: spoilt answers, by mutation."""

    answers: Counter[str] = field(default_factory=Counter)
    bodies: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    longest: float = 0.0
    grown: int = 0


@asynccontextmanager
async def laid(folder: Path) -> AsyncIterator[Table]:
    """A table on a simulator of its own."""
    made = fleet()
    options = {"clock": "2023-10-02T08:00:00Z", "migration_seconds": 0, "validation_seconds": 0}
    options |= {"rate_limit": {"requests": 10**9}}
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(
            running(made, folder / "simulator", options=SimulatorOptions.model_validate(options))
        )
        token = made.credentials[0].value
        client = ServiceClient(
            served.base_url,
            Credential(token),
            pacer=Unpaced(),
            request_limit=timedelta(seconds=20),
        )
        await stack.enter_async_context(client)
        zones = {
            zone.name: Zone(id=zone.id, name=zone.name, account=zone.account, plan=Plan.ENTERPRISE)
            for zone in made.zones
        }
        table = Table(
            client,
            Control(served.control_url),
            zones["rich.example"],
            zones["over.example"],
            Archive(folder / "archive"),
        )
        found = await find_ruleset(client, table.zone.id)
        assert found is not None
        table.known = {
            "ruleset": found.id,
            "rules": found.raw["rules"],
            "job": (await client.log_jobs(table.zone.id))[0].id,
        }
        yield table


async def meet(seed: int, count: int, folder: Path, only: str = "") -> Met:
    """Spoil at least ``count`` answers, all by one seed, and look at what comes of each."""
    met = Met()
    names = [only] if only else sorted(MEETINGS)
    async with laid(folder) as table:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        turn = 0
        while sum(met.bodies.values()) < count:
            name = names[turn % len(names)]
            turn += 1
            # Where every answer is spoilt, the first one hides all that follow it.
            fault = {"kind": "poisoned", "seed": seed * 1_000_003 + turn, "probability": (1.0, 0.3)[turn % 2]}
            await table.control.send("POST", "faults", fault)
            await _met_once(met, name, turn, table)
            await table.control.send("DELETE", "faults")
            await _note_bodies(met, table)
        met.grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    if met.grown > MOST_GROWTH:
        met.complaints.append(f"the process grew by {met.grown} MB")
    return met


async def _met_once(met: Met, name: str, turn: int, table: Table) -> None:
    began = time.monotonic()
    try:
        async with asyncio.timeout(LONGEST_CALL):
            await MEETINGS[name](table)
        met.answers["believed"] += 1
    except (ServiceError, ArchiveError) as failure:
        met.answers[type(failure).__name__] += 1
    except TimeoutError:
        met.complaints.append(f"{name}, turn {turn}: longer than {LONGEST_CALL:g} s")
    except BaseException as wrong:
        after = table.known.get("seq", 0)
        faults = [entry["fault"] for entry in (await table.control.get("journal", after=after))["entries"]]
        met.complaints.append(f"{name}, turn {turn}: {type(wrong).__name__} {str(wrong)[:120]} of {faults}")
        if not isinstance(wrong, Exception):
            raise
    met.longest = max(met.longest, time.monotonic() - began)


async def _note_bodies(met: Met, table: Table) -> None:
    """Add the mutations that were met since the last time, by the journal."""
    while True:
        page = await table.control.get("journal", after=table.known.get("seq", 0), limit=1000)
        for entry in page["entries"]:
            table.known["seq"] = entry["seq"]
            if str(entry["fault"]).startswith("poisoned:"):
                name = str(entry["fault"]).removeprefix("poisoned:after:")
                met.bodies[name.split("@")[0].split("+")[0]] += 1
        if page["next"] is None:
            return


__all__ = ["MEETINGS", "Met", "NotCanonical", "Table", "meet"]
