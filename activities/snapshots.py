"""The snapshot of a target: everything that was read of it, archived before anything is changed.

In waf the door refuses by the snapshot too, in what a fresh look at the zone does not show. So where the
roots ask for signatures, its record counts only where a worker has signed it, as those of what was sent do
(activities/proof/records.py).
"""

from __future__ import annotations

import uuid

from pydantic import BaseModel

from activities.connections import Connections
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.documents import Snapshot, SnapshotTaken, put_document, snapshot_key


async def archive_snapshot(
    connections: Connections, target: Zone, area: Area, reading: BaseModel, profile: str | None = None
) -> str:
    """Archive a reading, read it back, and record when it was taken; its digest. ``profile``: the name of the
    one by which it is judged. Raises ArchiveError.
    """
    document = Snapshot(zone=target, reading=reading, profile=profile)
    found = await put_document(connections.archive, document, verify=True)
    key, records = snapshot_key(target, area, found), connections.records
    taken = SnapshotTaken(taken_at=connections.clock.now())
    if not await records.create(key, taken) and not await is_taken(connections, target, area, found):
        # An earlier version has recorded it without a signature, or a stranger has taken its name.
        await records.create(f"{key}-{uuid.uuid4().hex}", taken)
    return found


async def is_taken(connections: Connections, target: Zone, area: Area, digest: str) -> bool:
    """Whether a worker has recorded that it took this snapshot of a target. Raises ArchiveError."""
    records, key = connections.records, snapshot_key(target, area, digest)
    if await records.proven(SnapshotTaken, key) is not None:
        return True
    async for name in records.keys(key.rpartition("/")[0]):
        if name.startswith(f"{key}-") and await records.proven(SnapshotTaken, name) is not None:
            return True
    return False
