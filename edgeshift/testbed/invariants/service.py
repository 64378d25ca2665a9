"""The simulator as a checker: its journal, its zones, the limits that it keeps."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.kept import KeptLogFields
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import RateLimitFacts, ZoneAtService

MIGRATED = frozenset({"complete", "default"})
AT_ONCE = 8
_ACCOUNT_SETTING = re.compile(r"/accounts/(?P<id>[0-9a-f]{32})/disable_esc$")


async def load_journal(control: Control, strangers: Collection[str] = ()) -> tuple[Request, ...]:
    """Every request that the service saw. ``strangers``: labels of credentials that no campaign uses."""
    return tuple(_request(entry, strangers) for entry in await control.journal())


def _request(entry: dict[str, Any], strangers: Collection[str]) -> Request:
    """A line of the journal, its time by the clock that the simulator's was set ahead of."""
    at_service = datetime.fromisoformat(entry["time"])
    account = _ACCOUNT_SETTING.search(entry["path"])
    return Request.model_validate(
        {
            **entry,
            "time": at_service - timedelta(seconds=entry["ahead_seconds"]),
            "service_time": at_service,
            "zone": account["id"] if account else entry["zone"],
            "stranger": entry["credential"] in strangers,
        }
    )


async def load_rate_limit(control: Control) -> RateLimitFacts:
    """The rate limit of each user, its window as long as it really lasts."""
    options = await control.get("options")
    limit = options["rate_limit"]
    return RateLimitFacts(
        requests=limit["requests"],
        window=timedelta(seconds=limit["window_seconds"] / options["time_scale"]),
        counts_by=limit["counts_by"],
    )


async def load_profile(control: Control) -> str:
    """The name of the simulated service's profile."""
    return str((await control.get("options"))["profile"])


async def load_zones(
    control: Control, data: Path | None = None, accounts: Mapping[str, str] | None = None
) -> tuple[ZoneAtService, ...]:
    """Every zone as the service has it, and the accounts (names by identifiers) as scopes of their own.

    ``data``: the simulator's data folder, for what its control API does not show.
    """
    kept = await asyncio.to_thread(KeptLogFields, data) if data is not None else None
    gate = asyncio.Semaphore(AT_ONCE)

    async def load(zone: str) -> ZoneAtService:
        async with gate:
            return _zone(await control.get(f"zones/{zone}"), kept)

    listed = (await control.get("zones"))["zones"]
    zones = await asyncio.gather(*(load(zone["id"]) for zone in listed))
    scopes = [
        ZoneAtService(id=account, name=name, plan="other", account=account, kind="account")
        for account, name in (accounts or {}).items()
    ]
    return (*zones, *scopes)


def _zone(found: dict[str, Any], kept: KeptLogFields | None) -> ZoneAtService:
    entry_point = found.get("entry_point")
    return ZoneAtService(
        id=found["id"],
        name=found["name"],
        plan=found["plan"],
        migrated=found["migration_state"] in MIGRATED,
        bodies=(entry_point,) if entry_point else (),
        account=found["account"],
        rules=kept.rules_of(found["id"]) if kept else (),
        jobs=kept.jobs_of(found["id"]) if kept else (),
    )
