"""What the area waf keeps in the archive of its own."""

from __future__ import annotations

from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.areas.waf.terraform import EntryPoint
from edgeshift.stores.documents.records import DocumentsPart, ZoneRecord


class WafRecord(ZoneRecord):
    """An object: a migrated zone, written by ``verify_waf_zone``. Its evidence is an ``Evidence``.
    ``entry_point``: as it was read back; None in records of earlier versions.
    """

    optional = frozenset({"entry_point"})

    aftercare: Aftercare
    entry_point: EntryPoint | None = None


PART = DocumentsPart(WafRecord, Evidence)
