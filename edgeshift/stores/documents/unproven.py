"""That a record of the archive does not count: no worker whom the roots know has signed it, or what it names
cannot be read.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from itertools import takewhile
from typing import NamedTuple

from edgeshift.model.digests import sha256
from edgeshift.stores.archive import Archive, ArchiveError, ArchiveUnavailable
from edgeshift.stores.archive_keys import NO_KEY, is_key, no_folder_at, shown
from edgeshift.stores.documents.codec import Document, Moment, get_record

FOLDER = "unproven"

MOST = 1_000
"""Of these records, how many are looked at: each is looked up."""

_HAVE_ODD = ("signed/", "intent/")
"""Where workers tell of names that are no keys."""

AT_ONCE = 16
"""Records that are read side by side."""


class Unproven(Document):
    """``unproven/<digits>``: that a worker has come upon a record that does not count. ``key``: the record;
    ``why``: why it does not; ``at``: when that was found first. ``of``: where the statement lies, or would,
    for which the record stands and which cannot be read; empty where the record itself does not count.

    Written by workers (activities/proof/records.py), read by ``alarms`` and ``doctor``.
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
    async for name in archive.list(FOLDER, odd=True):
        if name == no_folder_at(FOLDER):
            # Workers can tell of nothing there.
            return StillThere((Unproven(key=name, why=NO_KEY, at=datetime.now(UTC)),), False)
        if is_key(name):
            names.append(name)
        if len(names) > MOST:
            break
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> Unproven | None:
        async with gate:
            try:
                said = await get_record(archive, Unproven, name)
                data = await _lies_there(archive, said) if said else None
            except (ArchiveError, ValueError):
                # Whoever may write to the archive can put anything here, too.
                return None
        return said if said and data is not None and unproven_key(said.key, data) == name else None

    found = {said.key: said for said in await asyncio.gather(*map(one, names[:MOST])) if said}
    return StillThere(tuple(found[key] for key in sorted(found)), len(names) > MOST)


async def _lies_there(archive: Archive, said: Unproven) -> bytes | None:
    """What lies there by now of a record that a worker has told of; None where nothing does. Of a name that
    is no key, which cannot be read, nothing is known but that it is there. Raises ArchiveError.
    """
    if not is_key(said.key):
        place = "/".join(takewhile(is_key, said.key.split("/")))
        if not f"{place}/".startswith(_HAVE_ODD):
            return None
        async for name in archive.list(place, odd=True):
            if shown(name) == said.key:
                return b""
        return None
    data = await archive.get_named(said.key)
    if data is None or not said.of:
        return data
    try:
        return await archive.get_named(said.of) or b""
    except ArchiveUnavailable:
        return b""
