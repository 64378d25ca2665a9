"""The snapshot of a target: everything that was read of it, archived before anything is changed."""

from __future__ import annotations

from pydantic import BaseModel

from activities.connections import Connections
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.documents import Snapshot, SnapshotTaken, create_record, put_document, snapshot_key


async def archive_snapshot(
    connections: Connections, target: Zone, area: Area, reading: BaseModel, profile: str | None = None
) -> str:
    """Archive a reading, read it back, and record when it was taken; its digest. ``profile``: the name of the
    one by which it is judged. Raises ArchiveError.
    """
    archive = connections.archive
    document = Snapshot(zone=target, reading=reading, profile=profile)
    found = await put_document(archive, document, verify=True)
    taken = SnapshotTaken(taken_at=connections.clock.now())
    await create_record(archive, snapshot_key(target, area, found), taken)
    return found
