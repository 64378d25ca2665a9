"""What the area esc keeps in the archive of its own."""

from __future__ import annotations

from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.stores.documents.records import DocumentsPart, WatchedRecord


class EscRecord(WatchedRecord):
    """An object: a scope with Edge Side Code off, or on again, written by ``watch_esc_scope``. Its evidence
    is a ``ProbeReport``.
    """


PART = DocumentsPart(EscRecord, ProbeReport)
