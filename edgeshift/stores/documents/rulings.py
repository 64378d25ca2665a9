"""Records of rejections, and of what voids them (edgeshift/campaign/rulings.py)."""

from __future__ import annotations

from typing import ClassVar

from edgeshift.stores.documents.codec import Document, Moment


class RulingRecord(Document):
    """``rulings/<campaign>/…``: that a fingerprint or a zone's proposal was rejected, that whoever had
    rejected it thought better of it, or that it was reopened; or that fingerprints were approved. Created
    once.

    Written by the campaign and by the zone that ends so, read where the campaign is started anew. ``verb``:
    ``rejected``, ``withdrawn``, ``reopened`` or ``approved``. ``digest``: the fingerprint, or the zone's
    digest; ``digests``: all fingerprints of an approval, which is kept as one. ``wave``: for which alone it
    was said; None for all. ``run``: of the campaign, the first one.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"digest", "digests", "zone", "wave"})

    verb: str
    at: Moment
    by: str
    reason: str = ""
    campaign: str
    run: str
    digest: str | None = None
    zone: str | None = None
    wave: int | None = None
    digests: tuple[str, ...] | None = None
