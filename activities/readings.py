"""The readings of a plan: kept in the archive, so that the zones of a campaign begin with them.

A reading counts only where it says that its zone is ready. Whatever would end a zone, or hold it up, is read
again by the zone itself, and so is a zone whose reading is old, or that has been worked on since. Nothing is
sent on the word of a reading: the fenced step compares what was signed with the service just before it sends.
"""

from __future__ import annotations

from datetime import datetime

from activities.connections import Connections
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignStart, Prepared
from edgeshift.model.fleet import Zone
from edgeshift.stores.archive import ArchiveError
from edgeshift.stores.documents import PlannedReading, get_document, put_document


async def keep_reading(
    connections: Connections, spec: CampaignSpec, zone: Zone, read_at: datetime, prepared: Prepared
) -> str:
    """Archive what a plan has read of a zone and what follows from it; its digest, or empty for one that its
    zone does not begin with. ``read_at``: when the reading began.
    """
    if prepared.verdict is not Verdict.READY:
        return ""
    kept = PlannedReading(zone=zone, area=spec.area, read_at=read_at, prepared=prepared)
    return await put_document(connections.archive, kept)


async def planned_reading(
    connections: Connections, start: CampaignStart, index: int, zone: Zone
) -> PlannedReading | None:
    """The plan's reading of a zone, however old; None where it has none, or one that cannot be read."""
    if not start.readings:
        return None
    try:
        digest = (await connections.readings(start.readings))[index]
        if not digest:
            return None
        found = await get_document(connections.archive, PlannedReading, digest)
    except (ArchiveError, IndexError):
        return None
    return found if (found.zone, found.area) == (zone, start.area) else None


async def is_fresh(connections: Connections, start: CampaignStart, found: PlannedReading) -> bool:
    """Whether a zone of the campaign begins with this reading, by its age."""
    fresh = (await connections.spec(start.spec)).plan.fresh
    return connections.clock.now() - found.read_at <= fresh
