"""That a worker has gathered a window's evidence (activities/waf/evidence.py)."""

from __future__ import annotations

from typing import ClassVar

from edgeshift.model.fleet import Zone
from edgeshift.stores.documents.codec import Document


class EvidenceGathered(Document):
    """``gathered/<zone>/<evidence>``: the evidence with this digest is what a worker has read of the zone's
    events itself. ``run``: the campaign's first run, as whoever asked for it told it; ``spec``:
    digest of its specification; ``start``: of its signed start, which counts in the place of the run, and is
    not there where names count.

    Written by ``gather_evidence``, read before a commit that rests on the evidence.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"start"})

    run: str
    spec: str
    start: str | None = None


def gathered_key(zone: Zone, evidence: str) -> str:
    """The archive's name of it, for evidence with this digest."""
    return f"gathered/{zone.id}/{evidence}"
