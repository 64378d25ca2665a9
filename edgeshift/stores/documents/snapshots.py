"""What a target was before anything was changed."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from pydantic import SerializeAsAny

from edgeshift.model.fleet import Area, Zone
from edgeshift.profiles import DEFAULT, ServiceProfile, profile_named
from edgeshift.stores.documents.codec import Document, Moment

Reading = TypeVar("Reading")


class Snapshot(Document, Generic[Reading]):
    """An object: everything that was read of a target, in the words of its area (``waf.Reading``,
    ``esc.Reading``, ``log_fields.Reading``).

    Written by each preparing activity (activities/snapshots.py). Read by the fenced door, the verifying
    activities, tickets, and by ``sign-off`` and ``show``. The invariants look whether it precedes the first
    change.
    ``profile``: the name of the one by which it was judged; where it has none, the usual one.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"profile"})

    zone: Zone
    reading: SerializeAsAny[Reading]
    profile: str | None = None

    @property
    def facts(self) -> ServiceProfile:
        """What that profile says. Raises UnknownProfile where this version has no such profile."""
        return profile_named(self.profile or DEFAULT)


class SnapshotTaken(Document):
    """``snapshot/<target>/<area>/<digest>``: that a snapshot is there, and when it was first taken. Where a
    record that does not count has that name, the next one is beside it, as ``<digest>-<drawn>``.

    Written after its snapshot, and signed by its worker; without it the fenced door sends nothing, and in waf
    nothing where no worker has signed it.
    """

    taken_at: Moment


def snapshot_key(target: Zone, area: Area, digest: str) -> str:
    """The archive's name of the record of a snapshot."""
    return f"snapshot/{target.id}/{area.value}/{digest}"


def snapshot_digest(key: str) -> str:
    """The digest of the snapshot whose record has this name."""
    return key.rpartition("/")[2].partition("-")[0]
