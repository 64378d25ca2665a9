"""The snapshot of a target: everything that was read of it, archived before anything is changed.

In waf the door refuses by the snapshot too, in what a fresh look at the zone does not show. So where the
roots ask for signatures, its record counts only where a worker has signed it, as those of what was sent do
(activities/proof/records.py).
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from pydantic import BaseModel

from activities.change.intent_records import now_of
from activities.connections import Connections
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.documents import Snapshot, SnapshotTaken, put_document, snapshot_key

RECORDED_AGAIN = timedelta(minutes=5)
"""How old the last record of a snapshot is, at least, when one is added: of a target that is read again, and
is as it was, there is a new one. Less than the least age at which the door has a zone read again.
"""


async def archive_snapshot(
    connections: Connections, target: Zone, area: Area, reading: BaseModel, profile: str | None = None
) -> str:
    """Archive a reading, read it back, and record when it was taken; its digest. ``profile``: the name of the
    one by which it is judged. Raises ArchiveError.
    """
    document = Snapshot(zone=target, reading=reading, profile=profile)
    found = await put_document(connections.archive, document, verify=True)
    key, records = snapshot_key(target, area, found), connections.records
    now = now_of(connections)
    taken, last = SnapshotTaken(taken_at=now), now - RECORDED_AGAIN
    if not await records.create(key, taken) and not await is_taken(connections, target, area, found, last):
        # It was read a while ago; or an earlier version has recorded it without a signature, or a stranger
        # has taken its name.
        await records.create(f"{key}-{uuid.uuid4().hex}", taken)
    return found


async def is_taken(
    connections: Connections, target: Zone, area: Area, digest: str, since: datetime | None = None
) -> bool:
    """Whether a worker has recorded that it took this snapshot of a target. ``since``: no earlier than then.
    Raises ArchiveError.
    """
    records, key = connections.records, snapshot_key(target, area, digest)

    async def counts(name: str) -> bool:
        taken = await records.proven(SnapshotTaken, name)
        return taken is not None and (since is None or taken.taken_at >= since)

    if await counts(key):
        return True
    async for name in records.keys(key.rpartition("/")[0]):
        if name.startswith(f"{key}-") and await counts(name):
            return True
    return False
