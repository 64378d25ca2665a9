"""Which archive this is: a name of its own that it is given once, and that every campaign carries."""

from __future__ import annotations

import re
from uuid import uuid4

from edgeshift.stores.archive import IDENTITY, Archive, ArchiveCorrupt

KEY = IDENTITY

_IDENTITY = re.compile(r"[0-9a-f]{32}")


async def identity_of(archive: Archive) -> str:
    """The archive's identity, 32 hexadecimal digits; it is given one if it has none.

    Of several that ask at once, all are told the same. Raises ArchiveUnavailable, and ArchiveCorrupt where
    the record is something else.
    """
    if (known := await known_identity(archive)) is not None:
        return known
    await archive.create_once(KEY, uuid4().hex.encode())
    found = await known_identity(archive)
    if found is None:
        raise ArchiveCorrupt(f"{archive.name}: the record {KEY} that was just written is not there")
    return found


async def known_identity(archive: Archive) -> str | None:
    """The archive's identity, or None where it has none yet; nothing is written. Raises ArchiveError."""
    raw = await archive.get_named(KEY)
    if raw is None:
        return None
    found = raw.decode("ascii", "replace")
    if not _IDENTITY.fullmatch(found):
        raise ArchiveCorrupt(f"{archive.name}: the record {KEY} is no identity of 32 hexadecimal digits")
    return found


async def identity_if_made(archive: Archive) -> str | None:
    """As ``known_identity``; None also where the archive is a folder that is not there, which is no failure
    to whoever only looks whether it is the one that is meant.
    """
    return await known_identity(archive) if archive.is_made else None
