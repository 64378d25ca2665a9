"""Checks of what one area's campaigns stand on beside the rest: permissions, the removal date, the edge that
is probed, the store of log entries. Each by really using it; nothing is written.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from urllib.parse import urlsplit

from edgeshift.areas import esc
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.runtime.secret_refs import SecretRef, SecretRefError
from edgeshift.service_api import ServiceClient, ServiceError
from edgeshift.stores.log_entries import LogStore, LogStoreError

SOON = timedelta(days=14)
"""Less than this before the removal date is worth a warning."""

LOOKED_THROUGH = 500
"""Zones that are looked through for one of the right plan."""

CONNECT_WITHIN = 10.0
"""Seconds."""


class State(StrEnum):
    """What a check found."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Check:
    """One check: its name, what it found, in words, and what to mend where something is wrong."""

    name: str
    state: State
    said: str
    mend: str = ""


def ok(name: str, said: str) -> Check:
    """A check that found all well."""
    return Check(name, State.OK, said)


async def any_zone(client: ServiceClient, area: Area) -> Zone | None:
    """A zone that the credential reaches, Enterprise if the area needs that and there is one."""
    first: Zone | None = None
    async for zone in _zones(client):
        first = first or zone
        if area is not Area.LOG_FIELDS or zone.plan is Plan.ENTERPRISE:
            return zone
    return first


async def _zones(client: ServiceClient) -> AsyncIterator[Zone]:
    seen = 0
    async for zone in client.zones():
        plan = Plan.of(zone.plan.legacy_id if zone.plan else None)
        if zone.account is not None:
            yield Zone(id=zone.id, name=zone.name, account=zone.account.id, plan=plan)
        seen += 1
        if seen >= LOOKED_THROUGH:
            return


def readings(
    client: ServiceClient, spec: CampaignSpec, zone: Zone
) -> tuple[dict[str, Callable[[], Awaitable[object]]], str]:
    """What a credential has to be able to read of a zone in this area, and what gives it the right."""
    if spec.area is Area.ESC:
        found: dict[str, Callable[[], Awaitable[object]]] = {
            "ESC setting of a zone": lambda: client.esc(f"zones/{zone.id}")
        }
        if spec.esc.scope == "account":
            found["ESC setting of an account"] = lambda: client.esc(f"accounts/{zone.account}")
            found["accounts"] = client.accounts
        return found, "give it permission to read and edit disable_esc of its zones and accounts"
    if spec.area is Area.LOG_FIELDS:
        found = {"rulesets": lambda: client.rulesets(zone.id)}
        if zone.plan is Plan.ENTERPRISE:
            # The service has no log jobs for other zones.
            found["log jobs"] = lambda: client.log_jobs(zone.id)
        return found, "give it permission to read and edit rulesets and log jobs of its zones"
    found = {
        "WAF migration": lambda: client.waf_check(zone.id),
        "rulesets": lambda: client.rulesets(zone.id),
        "page rules": lambda: client.page_rules(zone.id),
    }
    return found, "give it permission to read and edit zone WAF and rulesets"


async def check_permissions(client: ServiceClient, spec: CampaignSpec, name: str, zone: Zone) -> Check:
    """What the credential may read of one zone, by reading it."""
    reads, mend = readings(client, spec, zone)
    refused = []
    for what, read in reads.items():
        try:
            await read()
        except ServiceError as problem:
            if spec.area is Area.ESC and esc.is_removed(client.service_time() or datetime.now(UTC)):
                # That is said by the check of the removal date.
                continue
            refused.append(f"{what} ({problem.status or 'no answer'})")
    if refused:
        said = f"works, but cannot read of {zone.name}: {', '.join(refused)}"
        return Check(name, State.WARNING, said, mend)
    if spec.area is Area.LOG_FIELDS and zone.plan is not Plan.ENTERPRISE:
        said = f"works, but reaches no Enterprise zone among the first {LOOKED_THROUGH}"
        return Check(name, State.WARNING, said, "log fields are for Enterprise zones: check the targets")
    return ok(name, f"works; reads zones such as {zone.name} (writing is not tried)")


async def check_area(client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[Check]:
    """What the area needs beside permissions."""
    if spec.area is Area.ESC:
        return [check_removal(client.service_time()), await _check_edge(spec, zone)]
    if spec.area is Area.LOG_FIELDS:
        return [await _check_entries(spec, zone), *_check_job(spec)]
    return []


def check_removal(now: datetime | None) -> Check:
    """Whether there is time left before Edge Side Code is removed. ``now``: the service's time."""
    name = "removal date"
    if now is None:
        said = "the service does not say what time it is, so this machine's clock decides"
        return Check(name, State.WARNING, said, "see that nothing between takes the Date header away")
    if gone := esc.too_late(now):
        return Check(name, State.FAILED, text_of(gone))
    left = esc.REMOVED_AT - now
    said = f"{esc.REMOVED_AT:%Y-%m-%d}, {say_duration(left)} from now by the service's clock"
    if left < SOON:
        return Check(name, State.WARNING, said, "`edgeshift plan` names the scopes that cannot make it")
    return ok(name, said)


async def _check_edge(spec: CampaignSpec, zone: Zone) -> Check:
    """Whether the hosts that are probed can be reached: at the edge that the file names, or by DNS."""
    name = "probe"
    edge = urlsplit(spec.esc.probe.edge or f"https://{zone.name}")
    host = str(edge.hostname)
    port = edge.port or (443 if edge.scheme == "https" else 80)
    where = f"{host}:{port}"
    try:
        async with asyncio.timeout(CONNECT_WITHIN):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
    except (OSError, TimeoutError) as why:
        said = f"nobody answers at {where} ({_trouble(why)})"
        mend = "see esc.probe.edge" if spec.esc.probe.edge else "name the edge's address under esc.probe.edge"
        return Check(name, State.FAILED if spec.esc.probe.edge else State.WARNING, said, mend)
    return ok(name, f"{where} takes connections" + (f" (for {zone.name})" if spec.esc.probe.edge else ""))


def _trouble(why: Exception) -> str:
    if isinstance(why, socket.gaierror):
        return "the name is not known"
    return "no answer in time" if isinstance(why, TimeoutError) else type(why).__name__


async def _check_entries(spec: CampaignSpec, zone: Zone) -> Check:
    """Whether log entries can be read from where the file says that they are."""
    name = "log entries"
    if spec.log_fields.entries is None:
        said = "log_fields.entries is not given: that fields arrive will not be verified"
        return Check(name, State.WARNING, said, "say where the log jobs' entries can be read")
    try:
        async for _ in LogStore(spec.log_fields.entries, zone).entries():
            return ok(name, f"there are some of {zone.name}")
    except LogStoreError as problem:
        return Check(name, State.FAILED, str(problem), "see log_fields.entries and the store's credentials")
    said = f"the store can be read; there are none of {zone.name} yet"
    return ok(name, said)


def _check_job(spec: CampaignSpec) -> list[Check]:
    """Whether the destination of new log jobs is where the file says."""
    job = spec.log_fields.job
    if job is None:
        return []
    name = f"log destination, {job.destination}"
    try:
        SecretRef(job.destination).resolve()
    except SecretRefError as problem:
        return [Check(name, State.FAILED, str(problem), "the worker needs it too, in its own surroundings")]
    return [ok(name, "is there (it is not shown, and nothing is pushed to it here)")]
