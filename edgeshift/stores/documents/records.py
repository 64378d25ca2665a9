"""What a target came to, for its report: the document that a result names as its record."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from edgeshift.areas.parts import PartOf
from edgeshift.model.fleet import Zone
from edgeshift.stores.documents.codec import Document, Moment


class ZoneRecord(Document):
    """What the records of every area have. ``snapshot``, ``proposal``, ``evidence``: digests of these
    documents; ``evidence`` is empty where there is none. History reads it so; the report reads the record of
    its area.
    """

    zone: Zone
    campaign: str
    digest: str
    snapshot: str
    proposal: str
    evidence: str


class Advice(Document):
    """What is left to do by hand, in sentences."""

    advice: tuple[str, ...] = ()


class WatchedRecord(ZoneRecord):
    """What the records of changes that can be undone have, written at the end of the watch. ``why``: it was
    taken back, or empty; ``said``: the outcome in a sentence; ``codes``: of its reasons; ``changed_at``: when
    the change showed.
    """

    why: str
    said: str
    codes: tuple[str, ...] = ()
    changed_at: Moment
    aftercare: Advice


@dataclass(frozen=True)
class DocumentsPart:
    """What an area keeps in the archive of its own (edgeshift/areas/parts.py).

    ``record``: what a result's record is. ``evidence``: what people are shown of what was seen, and what a
    record names as its evidence; None where the area has none.
    """

    record: type[ZoneRecord] = WatchedRecord
    evidence: type[BaseModel] | None = None


DOCUMENTS = PartOf("documents", DocumentsPart)
