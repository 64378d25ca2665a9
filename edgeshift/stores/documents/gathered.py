"""That a worker has gathered evidence: of a window (activities/waf/evidence.py), or by a probe
(activities/esc/evidence.py).
"""

from __future__ import annotations

from typing import ClassVar

from edgeshift.model.fleet import Zone
from edgeshift.stores.documents.codec import Document


class EvidenceGathered(Document):
    """``gathered/<target>/<evidence>``: the evidence with this digest is what a worker has read of the zone's
    events, or what its probe of the scope has found, itself. ``run``: the campaign's first run, as whoever
    asked for it told it; ``spec``: digest of its specification; ``start``: of its signed start, which counts
    in the place of the run, and is not there where names count. ``proposal``, ``snapshot``: of a probe alone,
    the digests of what was proposed by it, and of the reading that it was made by.

    Written by ``gather_evidence`` and ``probe_esc_scope``, read before a commit that rests on the evidence.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"start", "proposal", "snapshot"})

    run: str
    spec: str
    start: str | None = None
    proposal: str | None = None
    snapshot: str | None = None


def gathered_key(zone: Zone, evidence: str) -> str:
    """The archive's name of it, for evidence with this digest."""
    return f"gathered/{zone.id}/{evidence}"
