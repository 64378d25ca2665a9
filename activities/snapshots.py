"""The snapshot of a target: everything that was read of it, archived before anything is changed."""

from __future__ import annotations

from pydantic import BaseModel

from activities.connections import Connections
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area, Zone


async def archive_snapshot(connections: Connections, target: Zone, area: Area, reading: BaseModel) -> str:
    """Archive a reading, read it back, and record when it was taken; its digest. Raises ArchiveError."""
    archive = connections.archive
    document = {"zone": target.model_dump(mode="json"), "reading": reading.model_dump(mode="json")}
    found = await archive.put_json(document, verify=True)
    record = {"taken_at": connections.clock.now().isoformat()}
    await archive.create_once(f"snapshot/{target.id}/{area.value}/{found}", canonical_bytes(record))
    return found
