"""Intents: what is about to be sent, recorded once before it is, so that nothing is sent twice."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from temporalio import activity

from activities.connections import Connections
from edgeshift.archive import ArchiveError
from edgeshift.areas.digests import canonical_bytes
from edgeshift.fleet import Area, Zone
from edgeshift.messages import Step


def intent_key(zone: Zone, area: Area, permit: str) -> str:
    """The archive's name of an intent."""
    return f"intent/{zone.id}/{area.value}/{permit}"


async def came_to_nothing(connections: Connections, intent: str, reason: str) -> None:
    """Record that nothing came of an intent. Where that fails, the intent counts as one that may show."""
    key = intent.replace("intent/", "nothing/", 1)
    try:
        await connections.archive.create_once(key, canonical_bytes({"reason": reason}))
    except ArchiveError as failure:
        activity.logger.warning("not recorded that nothing came of %s: %s", intent, failure)


async def commit_may_show(connections: Connections, zone: Zone, area: Area, limit: timedelta) -> bool:
    """Whether a commit of this zone was sent, by whomever, and may still come to show.

    ``limit``: how long that may take. One of which nothing came, or nothing more can come, does not count.
    """
    archive, now = connections.archive, connections.clock.now()
    async for key in archive.list(intent_key(zone, area, "").rstrip("/")):
        record = json.loads(await archive.get_named(key) or b"{}")
        if record.get("step") != Step.COMMIT.value or now >= datetime.fromisoformat(record["at"]) + limit:
            continue
        if await archive.get_named(key.replace("intent/", "nothing/", 1)) is None:
            return True
    return False


async def close_intents(connections: Connections, zone: Zone, area: Area, reason: str) -> None:
    """Record that nothing more can come of what was sent to this zone so far: all of it has shown."""
    async for key in connections.archive.list(intent_key(zone, area, "").rstrip("/")):
        await came_to_nothing(connections, key, reason)


async def seen_through(connections: Connections, zone: Zone, area: Area) -> None:
    """Record that what was sent to this zone so far was watched to its end: nobody takes it up again."""
    async for key in connections.archive.list(intent_key(zone, area, "").rstrip("/")):
        await connections.archive.create_once(key.replace("intent/", "seen/", 1), b"{}")


async def own_commit(
    connections: Connections, zone: Zone, area: Area, campaign: str
) -> dict[str, Any] | None:
    """The intent of the zone's last step, where that is a commit of this campaign, in whichever attempt,
    which nobody has watched to its end; or None.
    """
    found: list[tuple[str, str, dict[str, Any]]] = []
    async for key in connections.archive.list(intent_key(zone, area, "").rstrip("/")):
        record = json.loads(await connections.archive.get_named(key) or b"{}")
        if record.get("step") in (Step.COMMIT.value, Step.ROLL_BACK.value):
            found.append((str(record["at"]), key, record))
    _, key, last = max(found, default=("", "", {}))
    if last.get("step") != Step.COMMIT.value or last.get("campaign") != campaign or "proposal" not in last:
        return None
    seen = await connections.archive.get_named(key.replace("intent/", "seen/", 1))
    return last if seen is None else None
