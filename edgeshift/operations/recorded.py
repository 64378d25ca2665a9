"""Whether a worker has recorded something that is named to people, by the roots that are known here."""

from __future__ import annotations

from datetime import UTC, datetime

from edgeshift.authority.roots import Roots, asking
from edgeshift.authority.worker_records import refused
from edgeshift.stores.archive import Archive

NO_FUTURE = datetime.max.replace(tzinfo=UTC)
"""Workers judge by the server's clock whether a record is from the future; the one here may be behind."""


async def not_recorded(archive: Archive, key: str, roots: Roots | None) -> str | None:
    """Why the record of this name does not count; None where it does. Without roots, and where they ask for
    no signatures, any counts. Raises ArchiveError.
    """
    data = await archive.get_named(key)
    if data is None:
        return "no worker has recorded it"
    asked = asking(roots)
    return None if asked is None else refused(key, data, asked, NO_FUTURE)


async def not_recorded_beside(archive: Archive, key: str, roots: Roots | None) -> str | None:
    """As ``not_recorded``, of a record that workers make again beside one that does not count: its name, with
    something added (activities/snapshots.py).
    """
    if (why := await not_recorded(archive, key, roots)) is None:
        return None
    async for name in archive.list(key.rpartition("/")[0]):
        if name.startswith(f"{key}-") and await not_recorded(archive, name, roots) is None:
            return None
    return why
