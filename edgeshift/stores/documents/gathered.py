"""That a worker has gathered a window's evidence (activities/waf/evidence.py)."""

from __future__ import annotations

from edgeshift.model.fleet import Zone
from edgeshift.stores.documents.codec import Document


class EvidenceGathered(Document):
    """``gathered/<zone>/<evidence>``: the evidence with this digest is what a worker has read of the zone's
    events itself. ``run``: the campaign's first run; ``spec``: digest of its specification.

    Written by ``gather_evidence``, read before a commit that rests on the evidence.
    """

    run: str
    spec: str


def gathered_key(zone: Zone, evidence: str) -> str:
    """The archive's name of it, for evidence with this digest."""
    return f"gathered/{zone.id}/{evidence}"
