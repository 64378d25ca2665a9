"""What people sign."""

from __future__ import annotations

from typing import Any, ClassVar

from edgeshift.model.reasons import Reason
from edgeshift.stores.documents.codec import Document


class Proposal(Document):
    """An object: the body that is signed, with what people should know before.

    Written by each preparing activity. Read by the fenced door, which sends ``body``; by the activities that
    verify; by ``sign-off show``, alarms and history. ``additions``, ``losses``, ``warnings``: sentences;
    ``notices``: those of the warnings that have a code.
    """

    verbatim: ClassVar[frozenset[str]] = frozenset({"body"})

    body: dict[str, Any]
    additions: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notices: tuple[Reason, ...] = ()


class ProbedProposal(Proposal):
    """A proposal of esc, made after a probe. ``report``: digest of the probe's ``ProbeReport``; ``baseline``:
    of the ``Baseline`` that later answers are compared with.
    """

    report: str
    baseline: str
