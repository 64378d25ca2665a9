"""The plan that the service tells of a zone now: a list may not tell it, or was frozen weeks ago."""

from __future__ import annotations

from edgeshift.model.fleet import Plan, Zone
from edgeshift.service_api import ServiceClient


async def plan_now(client: ServiceClient, zone: Zone, *, urgent: bool = False) -> str:
    """The zone's plan, by one call; empty where it is not told, and ``other`` for a word that nobody knows.
    Raises ServiceError.
    """
    found = (await client.zone(zone.id, urgent=urgent)).plan
    return Plan.of(found.legacy_id).value if found is not None and found.legacy_id else ""
