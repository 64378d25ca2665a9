"""What people sign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from edgeshift.model.digests import NotCanonical, canonical_bytes, essence
from edgeshift.model.reasons import Reason
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents.codec import Document, DocumentUnreadable, put_document


class Proposal(Document):
    """An object: the body that is signed, with what people should know before.

    Written by each preparing activity. Read by the fenced door, which sends ``body``; by the activities that
    verify; by ``sign-off``, ``show``, alarms and history. ``additions``, ``losses``, ``warnings``: sentences;
    ``notices``: those of the warnings that have a code.
    """

    verbatim: ClassVar[frozenset[str]] = frozenset({"body"})

    body: dict[str, Any]
    additions: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notices: tuple[Reason, ...] = ()


def without_digest(body: Mapping[str, Any]) -> str | None:
    """Why a body has no digest, or None: of a ruleset each rule is looked into (``essence``)."""
    rules = body.get("rules", [])
    if isinstance(rules, list) and all(isinstance(rule, Mapping) for rule in rules):
        return None
    return "rules is not a list of objects"


def none_of_its_area(digest: str, why: str) -> DocumentUnreadable:
    """That the archived proposal of this digest has a body which its area has nobody sign. ``why``: what is
    wrong with that.
    """
    return DocumentUnreadable(f"the proposal {digest[:12]} in the archive cannot be read: body: {why}")


async def put_proposal(archive: Archive, proposal: Proposal) -> str:
    """Store a proposal; its digest in the archive. What counts of its body is stored by itself, too, as
    canonical JSON: so the archive answers to the very digest that people see and sign. Raises ArchiveError.
    """
    try:
        await archive.put_object(canonical_bytes(essence(proposal.body)))
    except NotCanonical as why:
        raise ArchiveError(f"the proposal was not archived: {why}") from None
    return await put_document(archive, proposal, verify=True)
