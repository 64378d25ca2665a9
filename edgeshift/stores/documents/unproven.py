"""That a record of the archive does not count: no worker whom the roots know has signed it."""

from __future__ import annotations

from edgeshift.model.digests import sha256
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents.codec import Document, DocumentUnreadable, Moment, get_record

FOLDER = "unproven"

MOST = 1_000
"""Of these records, how many are looked at: each is looked up."""


class Unproven(Document):
    """``unproven/<digits>``: that a worker has come upon a record that does not count. ``key``: the record;
    ``why``: why it does not; ``at``: when that was found first.

    Written by workers (activities/records.py), read by ``alarms`` and ``doctor``.
    """

    key: str
    why: str
    at: Moment


def unproven_key(key: str, data: bytes) -> str:
    """The archive's name of it, for a record of this name with these bytes."""
    return f"{FOLDER}/{sha256(key.encode())[:32]}-{sha256(data)[:16]}"


async def unproven_there(archive: Archive) -> list[Unproven]:
    """The records that do not count and are still there as they were found, by name; of the first thousand
    that workers have told of. Raises ArchiveError.
    """
    found: dict[str, Unproven] = {}
    count = 0
    async for name in archive.list(FOLDER):
        count += 1
        if count > MOST:
            break
        try:
            said = await get_record(archive, Unproven, name)
            data = await archive.get_named(said.key) if said else None
        except (DocumentUnreadable, ValueError):
            # Whoever may write to the archive can put anything here, too.
            continue
        if said is not None and data is not None and unproven_key(said.key, data) == name:
            found[said.key] = said
    return [found[key] for key in sorted(found)]
