"""What people do after a zone has moved (docs/service.md §3.2): Terraform, custom rules for gaps, the
review. Pure.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from edgeshift.areas.waf.evidence_terms import Evidence, Finding, Kind
from edgeshift.areas.waf.loss_texts import to_do
from edgeshift.areas.waf.losses import Loss
from edgeshift.areas.waf.names import NAMES, OWASP_SCORE_RULE, named
from edgeshift.areas.waf.protection import runs_core
from edgeshift.areas.waf.terraform import (
    DEFAULT_RANGE,
    EntryPoint,
    TerraformVersion,
    Unwritable,
    by_hand,
    label_of,
    zone_file,
)
from edgeshift.areas.waf.terraform.ranges import IMPORT_BLOCKS
from edgeshift.model.counts import counted
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Zone, campaign_name
from edgeshift.model.redacted_path import HIDDEN, LONGEST_PATH
from edgeshift.profiles import SPECIFICATION, ServiceProfile

LEAST_OF_A_PATH = 3
"""Characters of a path that must be left when its secret parts are."""

AT_THE_SCORE = (
    "look in the events for the rules of the OWASP core ruleset that added to the score: turn off those that"
    " are wrong there, raise score_threshold, or skip the ruleset on that path; the score rule acts on their"
    " sum: with action log, the core ruleset would stop nothing"
)
"""What to do where the score rule stops wanted requests (docs/service.md §2.4)."""


class Aftercare(BaseModel):
    """Findings for aftercare of one zone. ``terraform``: HCL for the usual range of the provider, or a
    comment that says why there is none. ``provider``: this range, empty in records that were
    archived before they named it. ``state_rm``: commands, in their order. ``losses``: settings of the
    previous WAF, one by one; of records from before these, ``review`` has them counted.
    """

    terraform: str
    state_rm: tuple[str, ...]
    provider: str = ""
    custom_rules: tuple[dict[str, Any], ...] = ()
    review: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()

    @model_serializer(mode="wrap")
    def _as_ever(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A record that was archived before records named the range keeps its digest."""
        held: dict[str, Any] = dump(self)
        return {key: value for key, value in held.items() if key != "provider" or value}


def aftercare(
    zone: Zone,
    body: Body,
    losses: tuple[Loss, ...],
    evidence: Evidence | None,
    *,
    entry: EntryPoint | None = None,
    campaign: str = "CAMPAIGN",
    profile: ServiceProfile = SPECIFICATION,
) -> Aftercare:
    """What is left to do by hand for a zone whose signed ``body`` is now in force, as the entry point
    ``entry``: as it was read back. ``profile``: what the service is like that takes custom rules.
    """
    wildcard = profile.wildcard
    review = list(to_do(losses))
    if evidence is None:
        review += [
            "look at the security events of the new WAF: where a rule stops requests that it should not,"
            " override it with action log",
            *_of_the_score(body),
            "look for attacks that reach the origin now, and add custom rules for them",
        ]
    else:
        review += [
            f"{_rule(item, evidence)} stopped {counted(item.requests, 'request')} on {item.path}"
            f" that the previous WAF let through: where they are wanted, {_instead(item)}"
            for item in evidence.findings
            if item.kind is Kind.FALSE_POSITIVE
        ]
        review += [
            f"{_rule(item, evidence)} stopped {counted(item.requests, 'request')} on {item.path};"
            f" whether the previous WAF would have was not seen: where they are wanted, {_instead(item)}"
            for item in evidence.findings
            if item.kind is Kind.UNSEEN
        ]
        review += [
            f"only the previous WAF stopped {counted(item.requests, 'request')} on {item.path}"
            f" (rule {item.rule}): look at them in the events of the validation window; too little is known"
            " of the path to propose a custom rule"
            for item in evidence.findings
            if item.kind is Kind.GAP and not _on_path(item.path, wildcard=wildcard)
        ]
    gaps = [item for item in evidence.findings if item.kind is Kind.GAP] if evidence else []
    return Aftercare(
        terraform=_terraform(zone, body, entry or EntryPoint(id="")),
        provider=DEFAULT_RANGE.name,
        state_rm=by_hand(campaign_name(campaign), zone.name),
        custom_rules=tuple(
            {
                "action": "managed_challenge",
                "expression": _on_path(item.path, wildcard=wildcard),
                "description": f"Only the previous WAF stopped this (rule {item.rule},"
                f" {counted(item.requests, 'request')})",
                "enabled": False,
            }
            for item in gaps
            if _on_path(item.path, wildcard=wildcard)
        ),
        review=tuple(review),
        losses=losses,
    )


def _rule(found: Finding, evidence: Evidence) -> str:
    """What decided a finding; the score rule with what events call it, by which people look for it."""
    if found.rule != OWASP_SCORE_RULE:
        return f"rule {found.rule}"
    called = evidence.names.get(found.rule)
    return f"{NAMES[found.rule]} ({found.rule}; in events '{called}')" if called else named(found.rule, NAMES)


def _instead(found: Finding) -> str:
    """What to do about a rule that stops wanted requests."""
    return AT_THE_SCORE if found.rule == OWASP_SCORE_RULE else "override it with action log"


def _of_the_score(body: Body) -> tuple[str, ...]:
    """The same of the score rule, where no evidence says whether it stops such requests."""
    if not runs_core(body):
        return ()
    rule = named(OWASP_SCORE_RULE, NAMES)
    return (f"where {rule} stops requests that it should not, {AT_THE_SCORE}",)


def _terraform(zone: Zone, body: Body, entry: EntryPoint) -> str:
    """The configuration for the usual range. A zone is migrated also where it cannot be written."""
    version = TerraformVersion(major=IMPORT_BLOCKS[0], minor=IMPORT_BLOCKS[1])
    try:
        return zone_file(zone, label_of(zone), body, entry, DEFAULT_RANGE, version).text
    except Unwritable as why:
        return f"# Nothing is written: {why}.\n"


def _on_path(path: str, *, wildcard: bool) -> str:
    """An expression for a finding's path, which is cut when it is long and may lack parts; empty where so
    little is left of it that the expression would be about nearly everything. ``wildcard``: whether the
    service knows the operator of that name; without it, what follows the first part that lacks is left out.
    """
    shown = path if wildcard else path.partition(HIDDEN)[0]
    quoted = shown.replace("\\", "\\\\").replace('"', '\\"')
    if HIDDEN in path:
        if len(shown.replace(HIDDEN, "").strip("/")) < LEAST_OF_A_PATH:
            return ""
        if wildcard:
            return f'(http.request.uri.path wildcard "{quoted.replace(HIDDEN, "*")}")'
    elif len(path) < LONGEST_PATH:
        return f'(http.request.uri.path eq "{quoted}")'
    return f'(starts_with(http.request.uri.path, "{quoted}"))'
