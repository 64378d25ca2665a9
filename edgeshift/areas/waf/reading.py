"""What reading tells of a zone before its WAF migration (docs/service.md §2.4, §3.2, §7, §8). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.assessment import Verdict as Verdict
from edgeshift.areas.waf.answers import PageRuleEffect, Reading, names_waf, page_rule_effects
from edgeshift.areas.waf.bypass_rules import bypassed, bypasses
from edgeshift.areas.waf.losses import Loss, losses
from edgeshift.areas.waf.protection import runs_nothing
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Plan
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons, codes_of
from edgeshift.profiles import ServiceProfile


class Assessment(BaseModel):
    """What reading tells of a zone, and what people should know before they agree to anything.

    ``causes``: what the verdict rests on; each support ticket has exactly one. ``why``: these, and what else
    stands in the way. ``rules``: identifiers of the rules that a support case is about, with their lengths in
    bytes. ``losses``: settings that are lost, become something else or are to be compared; ``warnings``: one
    sentence each.
    """

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    causes: tuple[ReasonCode, ...] = ()
    why: Reasons = ()
    migrating_rules: int = 0
    longest_expression: int = 0
    rules: tuple[tuple[str, int], ...] = ()
    overrides: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()
    warnings: tuple[str, ...] = ()
    migration_state: str = ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons, one sentence each."""
        return tuple(map(text_of, self.why))


OTHER_ACTIONS = frozenset({"allow", "block", "challenge", "js_challenge", "log", "managed_challenge"})
"""Actions of firewall rules that bypass nothing."""


def migrates(rule: Mapping[str, Any]) -> bool:
    """Whether a firewall rule is one that migrates: Bypass > WAF Managed Rules (docs/service.md §3.2). One
    whose action nobody knows, and that names the WAF among its products, is counted too: a zone over a limit
    is not to be taken for one below it.
    """
    return rule.get("action") not in OTHER_ACTIONS and names_waf(rule)


def expression_bytes(rule: Mapping[str, Any]) -> int:
    """The length of a firewall rule's expression in UTF-8 bytes, which is what its limit is about (§8)."""
    condition = rule.get("filter")
    found = condition.get("expression") if isinstance(condition, Mapping) else None
    return len(found.encode("utf-8", "surrogatepass")) if isinstance(found, str) else 0


def assess(reading: Reading, profile: ServiceProfile) -> Assessment:
    """What the reading tells of the zone. The profile's limits are counted here, before anything is sent."""
    lengths = [
        (str(rule.get("id", "")), expression_bytes(rule)) for rule in reading.firewall_rules if migrates(rule)
    ]
    facts: dict[str, Any] = {
        "migrating_rules": len(lengths),
        "longest_expression": max((size for _, size in lengths), default=0),
        "overrides": tuple(str(item.get("id", "")) for item in reading.overrides),
        "migration_state": migration_state(reading),
    }

    def found(verdict: Verdict, *why: Reason, causes: tuple[ReasonCode, ...] = (), **more: Any) -> Assessment:
        return Assessment(verdict=verdict, causes=causes, why=why, **facts, **more)

    def blocked(code: ReasonCode, **known: Any) -> Assessment:
        return found(Verdict.BLOCKED, Reason(code=code, **known), causes=(code,))

    if is_past(reading):
        new = (reading.status or {}).get("new_waf_status")
        new = new[:30] if isinstance(new, str) and new else "not told"
        state = "" if new == "enabled" else new
        return found(Verdict.ALREADY_MIGRATED, Reason(code=ReasonCode.ALREADY_MIGRATED, state=state))
    facts |= {"losses": losses(reading), "warnings": warnings(reading)}
    overrides = _overrides(facts["overrides"])
    if over := _over_limits(lengths, profile):
        # Before the overrides: nobody should agree to delete those of a zone that cannot move anyway.
        causes = codes_of(over)
        about = lengths if ReasonCode.TOO_MANY_RULES in causes else _too_long(lengths, profile)
        return found(Verdict.NEEDS_SUPPORT, *over, *overrides, causes=causes, rules=tuple(about))
    if reading.listed:
        if reading.plan not in WITHOUT_WINDOW:
            return blocked(ReasonCode.PLAN_UNKNOWN, plan=reading.plan)
    elif reading.plan not in ("", Plan.ENTERPRISE):
        return blocked(ReasonCode.OTHER_PLAN, plan=reading.plan)
    if overrides:
        return found(Verdict.BLOCKED, *overrides, causes=(ReasonCode.URI_OVERRIDES,))
    if reading.refused is not None:
        cause, said = reading.refused
        refused = Reason(code=ReasonCode.SUPPORT_REFUSAL, case=cause, said=said)
        # The limit is counted over what migrates; the service may count any rule (docs/service.md §8).
        every = [(str(rule.get("id", "")), expression_bytes(rule)) for rule in reading.firewall_rules]
        about = _too_long(every, profile) if cause is ReasonCode.EXPRESSION_TOO_LONG else []
        return found(Verdict.NEEDS_SUPPORT, refused, causes=(cause,), rules=tuple(about))
    if reading.config is not None and not reading.config.get("rules"):
        return blocked(ReasonCode.EMPTY_CONFIGURATION)
    if in_validation(reading.status):
        return found(Verdict.IN_VALIDATION, Reason(code=ReasonCode.ALREADY_IN_VALIDATION))
    if reading.check.get("compatible") is not True:
        return blocked(ReasonCode.NOT_COMPATIBLE)
    return found(Verdict.READY)


WITHOUT_WINDOW = frozenset({Plan.FREE, Plan.PRO, Plan.BUSINESS})
"""Plans of zones that go straight to migrated (docs/service.md §3.2)."""

MOST_OVERRIDES_NAMED = 5
"""Overrides that a reason names."""


def _overrides(overrides: tuple[str, ...]) -> Reasons:
    """That URI-based overrides stand in the way, with the first of them; nothing where there are none."""
    if not overrides:
        return ()
    named = overrides[:MOST_OVERRIDES_NAMED]
    return (Reason(code=ReasonCode.URI_OVERRIDES, count=len(overrides), names=named),)


def _too_long(lengths: list[tuple[str, int]], profile: ServiceProfile) -> list[tuple[str, int]]:
    return [(identifier, size) for identifier, size in lengths if size > profile.longest_expression]


def _over_limits(lengths: list[tuple[str, int]], profile: ServiceProfile) -> list[Reason]:
    """The limits that a zone's migrating rules are over."""
    over = []
    most = profile.most_firewall_rules
    if len(lengths) > most:
        over.append(Reason(code=ReasonCode.TOO_MANY_RULES, count=len(lengths), limit=most))
    if too_long := _too_long(lengths, profile):
        over.append(
            Reason(
                code=ReasonCode.EXPRESSION_TOO_LONG,
                count=len(too_long),
                limit=profile.longest_expression,
                size=max(size for _, size in too_long),
            )
        )
    return over


def migration_state(reading: Reading) -> str:
    """The state that the service names, from the status first and from the check where the status is
    silent.
    """
    for answer in (reading.status, reading.check):
        if answer and isinstance(found := answer.get("migration_state"), str) and found:
            return found
    return ""


def is_migrated(status: Mapping[str, Any] | None) -> bool:
    """Whether a status record shows a zone whose migration has ended: old off, not in between, and new on.

    An unknown ``migration_state`` does not matter when both switches say it; ``validation`` and ``start`` do.
    Whether the service calls the new WAF enabled where it runs no rule is not known (docs/service.md §3.2):
    it may be off where the state is ``complete``. In any other state the zone may be one that never had a
    WAF on; and a switch that says neither may be on its way.
    """
    if status is None or not may_be_migrated(status):
        return False
    new = status.get("new_waf_status")
    return new == "enabled" or (new == "disabled" and status.get("migration_state") == "complete")


def is_migrated_to(status: Mapping[str, Any] | None, body: Mapping[str, Any]) -> bool:
    """Whether a status record shows a zone whose migration to this body has ended. Of one that runs managed
    rules the new WAF is on: while it is off, nothing is known to protect the zone.
    """
    if status is None or not is_migrated(status):
        return False
    return status.get("new_waf_status") == "enabled" or runs_nothing(body)


def may_be_migrated(status: Mapping[str, Any]) -> bool:
    """Whether a status record does not speak against it that the migration has ended: the previous WAF is
    off, and the state is none before the end. A zone whose previous WAF was never on may be so as well.
    """
    between = status.get("migration_state") in ("validation", "start")
    return status.get("old_waf_status") == "disabled" and not between


def is_past(reading: Reading) -> bool:
    """Whether a zone is migrated by all that was read of it: its status shows it, or does not speak against
    it where the calls of the previous WAF have stopped.
    """
    return is_migrated(reading.status) or (reading.stopped and may_be_migrated(reading.status or {}))


def in_validation(status: Mapping[str, Any] | None) -> bool:
    """Whether a status record shows validation mode, in which both WAFs run (docs/service.md §3.2)."""
    return status is not None and status.get("migration_state") == "validation"


def warnings(reading: Reading) -> tuple[str, ...]:
    """What stops working or works differently after the migration, as far as this zone may depend on it."""
    found = [
        "legacy Terraform resources for WAF packages, groups and rules stop working"
        " (the provider has them up to version 3.35 only): use cloudflare_ruleset instead",
    ]
    effects = [effect for rule in reading.page_rules for effect in page_rule_effects(rule)]
    if off := effects.count(PageRuleEffect.WAF_OFF):
        do = agreed(off, "does", "do")
        rules = counted(off, "page rule")
        found.append(f"{rules} with Web Application Firewall: Off {do} not disable the new WAF")
    if on := effects.count(PageRuleEffect.WAF_ON):
        found.append(
            f"{counted(on, 'page rule')} with Web Application Firewall: On: see in the proposal that the"
            " managed rules run there"
        )
    if unread := [rule for rule in reading.firewall_rules if bypasses(rule) and not bypassed(rule)]:
        rules, bypass = counted(len(unread), "firewall rule"), agreed(len(unread), "bypasses", "bypass")
        found.append(
            f"{rules} {bypass} the previous WAF by an expression that was not read: see in the proposal that"
            " the new one is skipped there"
        )
    if (reading.waf_setting or {}).get("value") == "off":
        found.append("the previous WAF is off for the whole zone; the new one has no global switch")
    return tuple(found)
