"""What the area waf keeps in the archive of its own."""

from __future__ import annotations

from typing import ClassVar

from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.areas.waf.losses import Loss
from edgeshift.areas.waf.terraform import EntryPoint
from edgeshift.stores.documents.proposals import Proposal
from edgeshift.stores.documents.records import DocumentsPart, ZoneRecord


class WafProposal(Proposal):
    """A proposal of waf. ``lost``: the settings of the previous WAF as facts; documents of earlier versions
    have ``losses`` alone. ``replaced``: rules of the new WAF that the zone has, and that edgeshift did not
    write, a few words each; None where there are none. They are among the ``losses``.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"lost", "replaced"})

    lost: tuple[Loss, ...] | None = None
    replaced: tuple[str, ...] | None = None


class WafRecord(ZoneRecord):
    """An object: a migrated zone, written by ``verify_waf_zone``. Its evidence is an ``Evidence``.
    ``entry_point``: as it was read back; None in records of earlier versions.
    """

    optional = frozenset({"entry_point"})

    aftercare: Aftercare
    entry_point: EntryPoint | None = None


PART = DocumentsPart(WafRecord, Evidence)
