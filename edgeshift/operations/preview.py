"""What a person should see before signing, out of the archive, in each area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.messages import Step, ZoneState
from edgeshift.model.body_changes import changes
from edgeshift.model.digests import Body
from edgeshift.model.fleet import DEFAULT_AREA, Area, ScopeKind
from edgeshift.operations.parts import PROPOSALS
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import DOCUMENTS, Proposal, get_document

DELETION = "delete_overrides"
"""The name of a body whose overrides are deleted."""


@dataclass(frozen=True)
class Preview:
    """What a person should see before signing, of one zone that stands for all that share its fingerprint.

    ``evidence``, ``rules``, ``overrides``: of the area waf. ``probe``: of esc. ``fields``, ``jobs`` (the log
    fields that log jobs have to list) and ``new_job``: of log-fields. ``earlier``: the shadow window's, where
    another came after it. ``only_log``: what the proposal itself lets only log. ``covers``: how many zones an
    account stands for; 0 where it is a zone. ``changes``: since the proposal that was signed before, where
    the zone has drifted.
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
    fields: FieldSet | None = None
    jobs: tuple[str, ...] = ()
    new_job: str = ""
    earlier: Evidence | None = None
    only_log: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


async def preview_of(archive: Archive, state: ZoneState, area: Area) -> Preview:
    """What a zone in this state proposes, out of the archive. Raises ArchiveError."""
    proposal = await get_document(archive, Proposal, state.proposal) if state.proposal else Proposal(body={})
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
    }
    found |= await PROPOSALS.of(area).facts(archive, state, proposal.body, evidence)
    return Preview(**found)


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
