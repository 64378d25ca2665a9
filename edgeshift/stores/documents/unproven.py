"""That a record of the archive does not count: no worker whom the roots know has signed it, or what it names
cannot be read.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from edgeshift.model.digests import sha256
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents.codec import Document, DocumentUnreadable, Moment, get_record

FOLDER = "unproven"

MOST = 1_000
"""Of these records, how many are looked at: each is looked up."""

AT_ONCE = 16
"""Records that are read side by side."""


class Unproven(Document):
    """``unproven/<digits>``: that a worker has come upon a record that does not count. ``key``: the record;
    ``why``: why it does not; ``at``: when that was found first. ``of``: where the statement lies, or would,
    for which the record stands and which cannot be read; empty where the record itself does not count.

    Written by workers (activities/records.py), read by ``alarms`` and ``doctor``.
    """

    key: str
    why: str
    at: Moment
    of: str = ""


def unproven_key(key: str, data: bytes) -> str:
    """The archive's name of it, for a record of this name with these bytes, or whose statement has these."""
    return f"{FOLDER}/{sha256(key.encode())[:32]}-{sha256(data)[:16]}"


class StillThere(NamedTuple):
    """Records that do not count, by name. ``more``: whether there may be others, since workers, or somebody
    else, told of more than are looked at.
    """

    found: tuple[Unproven, ...]
    more: bool


async def unproven_there(archive: Archive) -> StillThere:
    """The records that do not count and are still there as workers found them. Raises ArchiveError."""
    names: list[str] = []
    async for name in archive.list(FOLDER):
        names.append(name)
        if len(names) > MOST:
            break
    places = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> Unproven | None:
        async with places:
            try:
                said = await get_record(archive, Unproven, name)
                data = await archive.get_named(said.key) if said else None
                if said and said.of and data is not None:
                    data = await archive.get_named(said.of) or b""
            except (DocumentUnreadable, ValueError):
                # Whoever may write to the archive can put anything here, too.
                return None
        return said if said and data is not None and unproven_key(said.key, data) == name else None

    found = {said.key: said for said in await asyncio.gather(*map(one, names[:MOST])) if said}
    return StillThere(tuple(found[key] for key in sorted(found)), len(names) > MOST)
