"""What the area keeps in the archive of its own."""

from __future__ import annotations

from edgeshift.stores.documents import DocumentsPart, WatchedRecord
from edgeshift_always_https.reasons import OnOff


class AlwaysHttpsRecord(WatchedRecord):
    """An object: a zone with its setting as it was set, or set back, written by the last look. ``value``:
    what that look has read.
    """

    value: OnOff


PART = DocumentsPart(record=AlwaysHttpsRecord)
