"""The snapshots of a target in the archive: which there are, and what they hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from edgeshift.model.fleet import Area
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Intent, NothingMore, SnapshotTaken, get_record, snapshot_digest
from edgeshift.stores.documents.intents import EFFECTIVE, GIVEN_UP, OPENED


@dataclass(frozen=True)
class Taken:
    """A snapshot: its digest, and when it was first taken."""

    digest: str
    at: datetime


async def snapshots_of(archive: Archive, target: str, area: Area) -> list[Taken]:
    """The snapshots of a target, by its identifier, oldest first. Raises NotFound where there is none, and
    ArchiveError.
    """
    found = dict[str, datetime]()
    async for key in archive.list(f"snapshot/{target}/{area.value}"):
        taken = await get_record(archive, SnapshotTaken, key)
        if taken is not None:
            digest = snapshot_digest(key)
            found[digest] = min(found.get(digest, taken.taken_at), taken.taken_at)
    if not found:
        raise NotFound(
            f"the archive {archive.name} has no snapshot of {target} in area {area.value}",
            "it is taken when the target is read: by `edgeshift plan`, or when its turn has come; --archive"
            " names another archive",
        )
    every = (Taken(digest, at) for digest, at in found.items())
    return sorted(every, key=lambda taken: (taken.at, taken.digest))


async def first_change(archive: Archive, target: str, area: Area) -> datetime | None:
    """When it was first recorded of a target, by its identifier, that something was about to be sent that may
    have changed it; None where nothing was. A step is recorded after the reading that it rests on. Raises
    ArchiveError.
    """
    found = []
    async for key in archive.list(f"intent/{target}/{area.value}"):
        intent = await get_record(archive, Intent, key)
        if intent is None or intent.step in (OPENED, GIVEN_UP):
            continue
        nothing = await get_record(archive, NothingMore, key.replace("intent/", "nothing/", 1))
        if nothing is None or nothing.closed_as in EFFECTIVE:
            found.append(intent.at)
    return min(found, default=None)


def by_digest(found: Collection[Taken], prefix: str) -> Taken:
    """The one whose digest begins so. Raises NotFound, BadInput where several do."""
    wanted = prefix.strip().lower()
    some = [taken for taken in found if taken.digest.startswith(wanted)]
    if not some:
        raise NotFound(f"there is no snapshot {prefix!r} of this target", "`--list` shows which there are")
    if len(some) > 1:
        raise BadInput(
            f"{len(some)} snapshots of this target begin with {prefix!r}", "give more of the digest"
        )
    return some[0]


async def snapshot_document(archive: Archive, digest: str) -> dict[str, Any]:
    """The document of a snapshot, as it is in the archive. Raises ArchiveError."""
    found = await archive.get_json(digest)
    return found if isinstance(found, dict) else {}
