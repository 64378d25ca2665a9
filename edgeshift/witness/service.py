"""The simulator as a witness: its journal, its zones, the limits that it keeps."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from edgeshift.witness.control import Control
from edgeshift.witness.seen import RateLimitFacts, Request, ZoneAtService

MIGRATED = frozenset({"complete", "default"})
AT_ONCE = 8


async def load_journal(control: Control) -> tuple[Request, ...]:
    """Every request that the service saw."""
    return tuple(Request.model_validate(entry) for entry in await control.journal())


async def load_rate_limit(control: Control) -> RateLimitFacts:
    """The rate limit of each user, its window as long as it really lasts."""
    options = await control.get("options")
    limit = options["rate_limit"]
    return RateLimitFacts(
        requests=limit["requests"],
        window=timedelta(seconds=limit["window_seconds"] / options["time_scale"]),
    )


async def load_zones(control: Control) -> tuple[ZoneAtService, ...]:
    """Every zone as the service has it."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def load(zone: str) -> ZoneAtService:
        async with gate:
            return _zone(await control.get(f"zones/{zone}"))

    listed = (await control.get("zones"))["zones"]
    return tuple(await asyncio.gather(*(load(zone["id"]) for zone in listed)))


def _zone(found: dict[str, Any]) -> ZoneAtService:
    entry_point = found.get("entry_point")
    return ZoneAtService(
        id=found["id"],
        name=found["name"],
        plan=found["plan"],
        migrated=found["migration_state"] in MIGRATED,
        bodies=(entry_point,) if entry_point else (),
    )
