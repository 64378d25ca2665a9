"""What a person should see before signing, out of the archive, in each area."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import BaseModel

from edgeshift.messages import Step, ZoneState
from edgeshift.model.body_changes import changes
from edgeshift.model.body_view import Item
from edgeshift.model.digests import Body, NotCanonical, digest, fingerprint
from edgeshift.model.fleet import DEFAULT_AREA, Area, ScopeKind, Zone
from edgeshift.operations.errors import NotAsSigned, NotRecorded
from edgeshift.operations.parts import PROPOSALS
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import DOCUMENTS, Proposal, get_document

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots


@dataclass(frozen=True)
class Preview:
    """What a person should see before signing, of one zone that stands for all that share its fingerprint.

    ``evidence``: what was seen of the zone at work, as the area archives it. ``covers``: how many zones an
    account stands for; 0 where it is a zone. ``changes``: since the proposal that was signed before, where
    the zone has drifted. ``body``: exactly what is signed; ``items``: the same for people, beside what the
    target has; ``proposal``: the archive's digest of the whole proposal. ``losses`` and ``compare``: what is
    lost, and what may be; ``carried_over``: what becomes something else. ``speaks_against``: whether the
    zone's own evidence failed: an approval of it is offered to nobody. ``own``: what the area shows beside.
    """

    zone: str
    plan: str
    step: Step
    digest: str
    fingerprint: str
    additions: tuple[str, ...]
    losses: tuple[str, ...]
    warnings: tuple[str, ...]
    evidence: BaseModel | None
    drifted: bool
    area: Area = DEFAULT_AREA
    covers: int = 0
    changes: tuple[str, ...] = ()
    body: Body = field(default_factory=dict)
    items: tuple[Item, ...] = ()
    proposal: str = ""
    carried_over: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    speaks_against: bool = False
    own: BaseModel | None = None


async def preview_of(archive: Archive, state: ZoneState, area: Area, roots: Roots | None = None) -> Preview:
    """What a zone in this state proposes, out of the archive. ``roots``: those that are known where somebody
    is about to sign it. Raises ArchiveError; NotAsSigned where the body there has not the digest and the
    fingerprint that the zone waits with; NotRecorded where no worker that counts by the roots has recorded
    what is shown.
    """
    proposal = await get_document(archive, Proposal, state.proposal) if state.proposal else Proposal(body={})
    check_body(proposal.body, state.zone, state.digest, state.fingerprint)
    seen = DOCUMENTS.of(area).evidence
    evidence = await get_document(archive, seen, state.evidence) if seen and state.evidence else None
    if roots is not None:
        # Imported late: it takes the libraries of signatures.
        from edgeshift.operations.by_workers import unrecorded

        if (why := await unrecorded(archive, state, area, evidence, roots)) is not None:
            raise NotRecorded(state.zone.name, why, roots.place)
    facts = await PROPOSALS.of(area).facts(archive, state, proposal.body, evidence)
    return Preview(
        zone=state.zone.name,
        plan=state.zone.plan.value,
        step=state.step or Step.COMMIT,
        digest=state.digest,
        fingerprint=state.fingerprint,
        additions=proposal.additions,
        losses=proposal.losses if facts.losses is None else facts.losses,
        warnings=proposal.warnings if facts.warnings is None else facts.warnings,
        evidence=evidence,
        drifted=bool(state.drifted_from),
        area=area,
        covers=state.zone.covers if state.zone.kind is ScopeKind.ACCOUNT else 0,
        changes=await _changes(archive, state, proposal.body, area),
        body=proposal.body,
        items=facts.items,
        proposal=state.proposal,
        carried_over=facts.carried_over,
        compare=facts.compare,
        speaks_against=facts.speaks_against,
        own=facts.own,
    )


def check_body(body: Body, zone: Zone, wanted: str, shared: str) -> None:
    """Compute the digest and the fingerprint of a body again, from the body that is shown. Raises NotAsSigned
    where either is not what the zone waits with: ``wanted``, ``shared``.
    """
    has = _digests(body, zone)
    for name, waits, found in zip(("digest", "fingerprint"), (wanted, shared), has, strict=True):
        if found != waits:
            raise NotAsSigned(
                f"the archive does not hold what zone {zone.name} waits with: the {name} {waits[:12]} waits,"
                f" and the archive's body has {found[:12] or 'none'}"
            )


def _digests(body: Body, zone: Zone) -> tuple[str, str]:
    """The digest and the fingerprint of a body; empty where it can have none."""
    try:
        return (digest(body), fingerprint(body, zone)) if body else ("", "")
    except NotCanonical:
        return "", ""


async def _changes(archive: Archive, state: ZoneState, body: Body, area: Area) -> tuple[str, ...]:
    if not state.drifted_proposal or state.drifted_proposal == state.proposal:
        return ()
    try:
        before = (await get_document(archive, Proposal, state.drifted_proposal)).body
    except ArchiveError as why:
        return (f"what was signed before cannot be read: {why}"[:200],)
    # A sign-off of another step was of another thing.
    return changes(before, body) if PROPOSALS.of(area).same_thing(before, body) else ()
