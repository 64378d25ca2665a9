"""What a target was before anything was changed."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import SerializeAsAny

from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.documents.codec import Document, Moment

Reading = TypeVar("Reading")


class Snapshot(Document, Generic[Reading]):
    """An object: everything that was read of a target, in the words of its area (``waf.Reading``,
    ``esc.Reading``, ``log_fields.Reading``).

    Written by each preparing activity (activities/snapshots.py). Read by the fenced door, the verifying
    activities, tickets, and by ``sign-off show``. The invariants look whether it precedes the first change.
    """

    zone: Zone
    reading: SerializeAsAny[Reading]


class SnapshotTaken(Document):
    """``snapshot/<target>/<area>/<digest>``: that a snapshot is there, and when it was first taken.

    Written after its snapshot; without it the fenced door sends nothing.
    """

    taken_at: Moment


def snapshot_key(target: Zone, area: Area, digest: str) -> str:
    """The archive's name of the record of a snapshot."""
    return f"snapshot/{target.id}/{area.value}/{digest}"
