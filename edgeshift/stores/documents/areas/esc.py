"""What the area esc keeps in the archive of its own."""

from __future__ import annotations

from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.stores.documents.proposals import Proposal
from edgeshift.stores.documents.records import DocumentsPart, WatchedRecord


class ProbedProposal(Proposal):
    """A proposal of esc, made after a probe. ``report``: digest of the probe's ``ProbeReport``; ``baseline``:
    of the ``Baseline`` that later answers are compared with.
    """

    report: str
    baseline: str


class EscRecord(WatchedRecord):
    """An object: a scope with Edge Side Code off, or on again, written by ``watch_esc_scope``. Its evidence
    is a ``ProbeReport``.
    """


PART = DocumentsPart(EscRecord, ProbeReport)
