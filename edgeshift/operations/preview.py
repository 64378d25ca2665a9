"""What a person should see before signing, out of the archive, in each area."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.losses import Loss
from edgeshift.areas.waf.rule_items import DELETION
from edgeshift.messages import Step, ZoneState
from edgeshift.model.body_changes import changes
from edgeshift.model.body_view import Item
from edgeshift.model.digests import Body, NotCanonical, digest, fingerprint
from edgeshift.model.fleet import DEFAULT_AREA, Area, ScopeKind, Zone
from edgeshift.operations.errors import NotAsSigned
from edgeshift.operations.parts import PROPOSALS
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import DOCUMENTS, Proposal, get_document


@dataclass(frozen=True)
class Preview:
    """What a person should see before signing, of one zone that stands for all that share its fingerprint.

    ``evidence``, ``rules``, ``overrides``: of the area waf. ``probe``: of esc. ``earlier``: the shadow
    window's, where another came after it. ``only_log``: what the proposal itself lets only log. ``covers``:
    how many zones an account stands for; 0 where it is a zone. ``changes``: since the proposal that was
    signed before, where the zone has drifted. ``body``: exactly what is signed; ``items``: the same for
    people, beside what the target has; ``proposal``: the archive's digest of the whole proposal; ``names``:
    what rules are called, by their identifiers, as far as something was read that says it. ``losses`` and
    ``compare`` in waf: settings of the previous WAF that are lost, or that the new configuration may have;
    ``lost``: both as facts.
    """

    zone: str
    plan: str
    step: Step
    digest: str
    fingerprint: str
    rules: int
    additions: tuple[str, ...]
    losses: tuple[str, ...]
    warnings: tuple[str, ...]
    evidence: Evidence | None
    drifted: bool
    overrides: tuple[str, ...] = ()
    area: Area = DEFAULT_AREA
    covers: int = 0
    probe: ProbeReport | None = None
    earlier: Evidence | None = None
    only_log: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    body: Body = field(default_factory=dict)
    items: tuple[Item, ...] = ()
    proposal: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    compare: tuple[str, ...] = ()
    lost: tuple[Loss, ...] = ()

    @property
    def speaks_against(self) -> bool:
        """Whether the zone's own evidence failed: an approval of it is offered to nobody."""
        return self.evidence is not None and self.evidence.verdict is EvidenceVerdict.FAIL


async def preview_of(archive: Archive, state: ZoneState, area: Area) -> Preview:
    """What a zone in this state proposes, out of the archive. Raises ArchiveError; NotAsSigned where the body
    there has not the digest and the fingerprint that the zone waits with.
    """
    proposal = await get_document(archive, Proposal, state.proposal) if state.proposal else Proposal(body={})
    check_body(proposal.body, state.zone, state.digest, state.fingerprint)
    seen = DOCUMENTS.of(area).evidence or BaseModel
    evidence = await get_document(archive, seen, state.evidence) if state.evidence else None
    found: dict[str, Any] = {
        "zone": state.zone.name,
        "plan": state.zone.plan.value,
        "step": state.step or Step.COMMIT,
        "digest": state.digest,
        "fingerprint": state.fingerprint,
        "rules": len(proposal.body.get("rules") or ()),
        "additions": proposal.additions,
        "losses": proposal.losses,
        "warnings": proposal.warnings,
        "evidence": None,
        "drifted": bool(state.drifted_from),
        "area": area,
        "changes": await _changes(archive, state, proposal.body),
        "covers": state.zone.covers if state.zone.kind is ScopeKind.ACCOUNT else 0,
        "body": proposal.body,
        "proposal": state.proposal,
    }
    found |= await PROPOSALS.of(area).facts(archive, state, proposal.body, evidence)
    return Preview(**found)


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


async def _changes(archive: Archive, state: ZoneState, body: Body) -> tuple[str, ...]:
    if not state.drifted_proposal or state.drifted_proposal == state.proposal:
        return ()
    try:
        before = (await get_document(archive, Proposal, state.drifted_proposal)).body
    except ArchiveError as why:
        return (f"what was signed before cannot be read: {why}"[:200],)
    # A sign-off of another step, as of deleting overrides, was of another thing.
    deletes = [one.get("name") == DELETION for one in (before, body)]
    return changes(before, body) if deletes[0] == deletes[1] else ()
