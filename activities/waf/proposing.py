"""What is proposed to a zone by what was read of it, archived with the snapshot (docs/service.md §3.2)."""

from __future__ import annotations

from typing import Any

from activities.connections import Connections
from activities.snapshots import archive_snapshot
from activities.waf.replacing import rules_replaced
from edgeshift.areas import waf
from edgeshift.areas.waf.rule_items import DELETION
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Prepared, Step
from edgeshift.model.digests import Body, digest, fingerprint
from edgeshift.model.fleet import Zone
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.stores.documents import Proposal, put_proposal
from edgeshift.stores.documents.areas.waf import WafProposal

MOST_PATTERNS_NAMED = 5
"""Patterns of page rules that a reason names."""

MOST_RULES_NAMED = 3
"""Rules that would be replaced that a reason names."""

NOTHING: Body = {"name": "default", "rules": []}
"""The body of a zone whose configuration is not there yet."""


async def prepared_from(
    connections: Connections,
    spec: CampaignSpec,
    zone: Zone,
    reading: waf.Reading,
    *,
    replaced: tuple[str, ...] | None = None,
) -> Prepared:
    """Archive a reading as the zone's snapshot, and what follows from it as the proposal. ``replaced``: the
    rules that this would replace, as ``rules_replaced`` says, where they are known already. Raises
    ArchiveError.
    """
    assessment = waf.assess(reading, spec.service.facts)
    prepared = Prepared(
        verdict=assessment.verdict,
        causes=assessment.causes,
        reasons=assessment.reasons,
        why=assessment.why,
        snapshot=await archive_snapshot(connections, zone, spec.area, reading, spec.service.profile),
    )
    if assessment.verdict in (waf.Verdict.READY, waf.Verdict.IN_VALIDATION):
        return await _proposed(connections, prepared, zone, spec, reading, assessment, replaced)
    if ReasonCode.URI_OVERRIDES in assessment.causes and spec.consents.delete_uri_overrides:
        rules = await rules_replaced(connections, zone, reading.entry_point, NOTHING)
        if rules and not spec.consents.replaces_rules(zone):
            # Nobody should agree to delete those of a zone that could not move afterwards.
            return prepared.blocked_by(*prepared.why, _replaced(rules))
        return await _deletion(connections, prepared, zone, reading)
    return prepared


def _replaced(rules: tuple[str, ...]) -> Reason:
    return Reason(code=ReasonCode.RULES_REPLACED, count=len(rules), names=rules[:MOST_RULES_NAMED])


def in_the_way(spec: CampaignSpec, zone: Zone, reading: waf.Reading) -> tuple[Reason | None, tuple[str, ...]]:
    """What keeps the body that follows from a reading from being committed, or may do so: why it never is,
    whoever signs it, or None; and the rules of the new WAF that it would replace, by whomever, a few words
    each.
    """
    if reading.config is None or not reading.config.get("rules"):
        return None, ()
    proposal = waf.propose(reading, spec.own_list(waf.Adjustment), spec.service.facts)
    return _never_committed(spec, zone, reading, proposal), waf.replaced(reading.entry_point, proposal.body)


def _never_committed(
    spec: CampaignSpec, zone: Zone, reading: waf.Reading, proposal: waf.Proposal
) -> Reason | None:
    body = proposal.body
    if not (reading.config or {}).get("rules"):
        return None
    if proposal.unwritable:
        return _unwritable(proposal)
    if waf.is_log_only(body):
        return Reason(code=ReasonCode.LOG_ONLY)
    if waf.unprotected(reading, body) and not spec.consents.leaves_unprotected(zone):
        return Reason(code=ReasonCode.UNPROTECTED)
    return None


def _unwritable(proposal: waf.Proposal) -> Reason:
    patterns, long = proposal.unwritable, len(proposal.too_long)
    ports = sum(map(waf.names_port, patterns))
    said = ["a port in the host, which no rule of the new WAF tests"] if ports else []
    if long:
        said.append("more stars or exceptions than an expression of the new WAF holds")
    if 0 < ports + long < len(patterns):
        said.append("a star in the middle, which by its profile the service knows no operator for")
    return Reason(
        code=ReasonCode.PAGE_RULE_PATTERN,
        count=len(patterns),
        names=patterns[:MOST_PATTERNS_NAMED],
        said=", or ".join(said),
    )


async def _proposed(
    connections: Connections,
    prepared: Prepared,
    zone: Zone,
    spec: CampaignSpec,
    reading: waf.Reading,
    assessment: waf.Assessment,
    rules: tuple[str, ...] | None,
) -> Prepared:
    proposal = waf.propose(reading, spec.own_list(waf.Adjustment), spec.service.facts)
    if (why := _never_committed(spec, zone, reading, proposal)) is not None:
        return prepared.blocked_by(why)
    notices: tuple[Reason, ...] = ()
    if waf.unprotected(reading, proposal.body):
        notices = (Reason(code=ReasonCode.UNPROTECTED),)
    if rules is None:
        rules = await rules_replaced(connections, zone, reading.entry_point, proposal.body)
    if rules:
        why = _replaced(rules)
        # One that is in validation is adopted, without a request, and signed by itself.
        if assessment.verdict is waf.Verdict.READY and not spec.consents.replaces_rules(zone):
            return prepared.blocked_by(why)
        notices = (*notices, why)
    stored = await put_proposal(
        connections.archive,
        WafProposal(
            body=proposal.body,
            additions=proposal.additions,
            losses=(*map(waf.text_of_loss, assessment.losses), *rules),
            warnings=(
                *assessment.warnings,
                *waf.protection_warnings(reading, proposal.body),
                *proposal.unused,
            ),
            notices=notices,
            lost=assessment.losses,
            replaced=rules or None,
        ),
    )
    runs = waf.same_rules(reading.entry_point, proposal.body)
    shadowed = waf.same_rules(reading.entry_point, waf.shadow(proposal.body))
    return prepared.model_copy(
        update={
            "digest": digest(proposal.body),
            "fingerprint": fingerprint(proposal.body, zone),
            "proposal": stored,
            "config": configuration_digest(reading.config),
            "matches_entry_point": runs,
            "comparable": runs or shadowed,
        }
    )


async def _deletion(
    connections: Connections, prepared: Prepared, zone: Zone, reading: waf.Reading
) -> Prepared:
    body = deletion_body(reading.overrides)
    stored = await put_proposal(connections.archive, Proposal(body=body))
    return prepared.model_copy(
        update={
            "step": Step.DELETE_OVERRIDES,
            "digest": digest(body),
            "fingerprint": fingerprint(body, zone),
            "proposal": stored,
        }
    )


def configuration_digest(config: dict[str, Any] | None) -> str:
    """The digest of a returned configuration alone, before adjustments and additions."""
    return digest(config) if config is not None else ""


def deletion_body(overrides: list[dict[str, Any]]) -> dict[str, Any]:
    """What is signed when overrides are to be deleted: each of them, as it was read."""
    ordered = sorted(overrides, key=lambda item: str(item.get("id")))
    return {
        "name": DELETION,
        "rules": [{"action": "delete_override", "override": item} for item in ordered],
    }
