"""What reading tells of a zone before its WAF migration (docs/service.md §2.4, §3.2, §7, §8). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.assessment import Verdict as Verdict

MOST_RULES = 200
"""Firewall rules that one migration takes at most (docs/service.md §8)."""

LONGEST_EXPRESSION = 4096
"""Bytes of UTF-8 that the expression of a migrating rule has at most: 4 KB (docs/service.md §8)."""


class Cause(StrEnum):
    """Why a zone is not ready. Each support ticket has exactly one."""

    TOO_MANY_RULES = "too_many_rules"
    EXPRESSION_TOO_LONG = "expression_too_long"
    SUPPORT_REFUSAL = "support_refusal"
    URI_OVERRIDES = "uri_overrides"
    NOT_COMPATIBLE = "not_compatible"
    EMPTY_CONFIGURATION = "empty_configuration"
    LOG_ONLY = "log_only"


AS_DELIVERED = frozenset({"default", "on"})
"""Modes of rules of the previous WAF that nobody has changed (docs/service.md §4.3, observed)."""


class Reading(BaseModel):
    """Everything that was read of a zone, as the service answered it. It is what the snapshot holds.

    ``groups``: of the previous WAF's packages; ``rules``: of theirs, those with a mode of their own.
    ``refused``: the support case that the service made of a reading itself, with its own words, short.
    """

    check: dict[str, Any]
    status: dict[str, Any] | None = None
    firewall_rules: list[dict[str, Any]] = []
    overrides: list[dict[str, Any]] = []
    page_rules: list[dict[str, Any]] = []
    packages: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []
    changed_groups: int = 0
    changed_rules: int = 0
    waf_setting: dict[str, Any] | None = None
    entry_point: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    refused: tuple[Cause, str] | None = None


class Assessment(BaseModel):
    """What reading tells of a zone, and what people should know before they agree to anything.

    ``rules``: identifiers of the rules that a support case is about, with their lengths in bytes.
    ``losses``, ``warnings``: one sentence each.
    """

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    causes: tuple[Cause, ...] = ()
    reasons: tuple[str, ...] = ()
    migrating_rules: int = 0
    longest_expression: int = 0
    rules: tuple[tuple[str, int], ...] = ()
    overrides: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    migration_state: str = ""


OTHER_ACTIONS = frozenset({"allow", "block", "challenge", "js_challenge", "log", "managed_challenge"})
"""Actions of firewall rules that bypass nothing."""


def migrates(rule: Mapping[str, Any]) -> bool:
    """Whether a firewall rule is one that migrates: Bypass > WAF Managed Rules (docs/service.md §3.2). One
    whose action nobody knows, and that names the WAF among its products, is counted too: a zone over a limit
    is not to be taken for one below it.
    """
    return rule.get("action") not in OTHER_ACTIONS and "waf" in (rule.get("products") or ())


def expression_bytes(rule: Mapping[str, Any]) -> int:
    """The length of a firewall rule's expression in UTF-8 bytes, which is what the 4 KB limit is about."""
    condition = rule.get("filter")
    found = condition.get("expression") if isinstance(condition, Mapping) else None
    return len(found.encode("utf-8", "surrogatepass")) if isinstance(found, str) else 0


def assess(reading: Reading) -> Assessment:
    """What the reading tells of the zone. Limits are counted here, before anything is sent."""
    lengths = [
        (str(rule.get("id", "")), expression_bytes(rule)) for rule in reading.firewall_rules if migrates(rule)
    ]
    facts: dict[str, Any] = {
        "migrating_rules": len(lengths),
        "longest_expression": max((size for _, size in lengths), default=0),
        "overrides": tuple(str(item.get("id", "")) for item in reading.overrides),
        "migration_state": migration_state(reading),
    }

    def found(verdict: Verdict, *reasons: str, causes: tuple[Cause, ...] = (), **more: Any) -> Assessment:
        return Assessment(verdict=verdict, causes=causes, reasons=reasons, **facts, **more)

    if is_migrated(reading.status):
        return found(Verdict.ALREADY_MIGRATED, "the new WAF is on, the previous one off")
    facts |= {"losses": losses(reading), "warnings": warnings(reading)}
    if reading.overrides:
        named = ", ".join(facts["overrides"][:5]) + (", …" if len(reading.overrides) > 5 else "")
        reason = (
            f"{len(reading.overrides)} URI-based WAF override(s) must be deleted before the zone is eligible"
            f" ({named})"
        )
        return found(Verdict.BLOCKED, reason, causes=(Cause.URI_OVERRIDES,))
    if over := _over_limits(lengths):
        about = lengths if Cause.TOO_MANY_RULES in over else _too_long(lengths)
        return found(Verdict.NEEDS_SUPPORT, *over.values(), causes=tuple(over), rules=tuple(about))
    if reading.refused is not None:
        cause, said = reading.refused
        return found(Verdict.NEEDS_SUPPORT, f"the service refuses: {said}", causes=(cause,))
    if in_validation(reading.status):
        return found(Verdict.IN_VALIDATION, "the zone is already in validation mode")
    if reading.check.get("compatible") is not True:
        reason = "the service says that the zone is not compatible in its current configuration"
        return found(Verdict.BLOCKED, reason, causes=(Cause.NOT_COMPATIBLE,))
    return found(Verdict.READY)


def _too_long(lengths: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(identifier, size) for identifier, size in lengths if size > LONGEST_EXPRESSION]


def _over_limits(lengths: list[tuple[str, int]]) -> dict[Cause, str]:
    """The limits that a zone's migrating rules are over, with a sentence each."""
    over = {}
    if len(lengths) > MOST_RULES:
        over[Cause.TOO_MANY_RULES] = (
            f"{len(lengths)} firewall rules to migrate; the service migrates at most {MOST_RULES}"
        )
    if too_long := _too_long(lengths):
        longest = max(size for _, size in too_long)
        over[Cause.EXPRESSION_TOO_LONG] = (
            f"{len(too_long)} firewall rule expression(s) over {LONGEST_EXPRESSION:,} bytes,"
            f" the longest {longest:,}"
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
    """Whether a status record shows a zone whose migration has ended: new on, old off, and not in between.

    An unknown ``migration_state`` does not matter when both switches say it; ``validation`` and ``start`` do.
    """
    return (
        status is not None
        and status.get("new_waf_status") == "enabled"
        and status.get("old_waf_status") == "disabled"
        and status.get("migration_state") not in ("validation", "start")
    )


def in_validation(status: Mapping[str, Any] | None) -> bool:
    """Whether a status record shows validation mode, in which both WAFs run (docs/service.md §3.2)."""
    return status is not None and status.get("migration_state") == "validation"


def losses(reading: Reading) -> tuple[str, ...]:
    """What the migration does not carry over (docs/service.md §3.2), as far as this zone has it."""
    found = []
    if reading.changed_groups:
        found.append(
            f"{reading.changed_groups} rule group(s) with changed settings: group-level settings are lost"
        )
    if reading.changed_rules:
        found.append(f"{reading.changed_rules} rule(s) with changed settings: rule-level settings are lost")
    for package in reading.packages:
        sensitivity = package.get("sensitivity")
        if package.get("detection_mode") == "anomaly" and sensitivity not in (None, "off"):
            found.append(
                f"core rule set 2.x at sensitivity {sensitivity!r} becomes core rule set 3.x"
                " at paranoia level 2"
            )
    return tuple(found)


def warnings(reading: Reading) -> tuple[str, ...]:
    """What stops working or works differently after the migration, as far as this zone may depend on it."""
    found = [
        "legacy Terraform resources for WAF packages, groups and rules stop working:"
        " use cloudflare_ruleset instead",
    ]
    off = sum(1 for rule in reading.page_rules if "waf off" in page_rule_effects(rule))
    if off:
        found.append(f"{off} page rule(s) with Web Application Firewall: Off do not disable the new WAF")
    if (reading.waf_setting or {}).get("value") == "off":
        found.append("the previous WAF is off for the whole zone; the new one has no global switch")
    return tuple(found)


def page_rule_effects(rule: Mapping[str, Any]) -> tuple[str, ...]:
    """Which of the settings that matter here an active page rule makes: ``waf off``, ``waf on``,
    ``disable security``.
    """
    if rule.get("status") != "active":
        return ()
    found = []
    for action in objects(rule.get("actions")):
        if action.get("id") == "disable_security":
            found.append("disable security")
        elif action.get("id") == "waf" and action.get("value") in ("on", "off"):
            found.append(f"waf {action['value']}")
    return tuple(found)


def page_rule_pattern(rule: Mapping[str, Any]) -> str | None:
    """The URL pattern that a page rule is about, such as ``*shop.example/api/*``."""
    for target in objects(rule.get("targets")):
        constraint = target.get("constraint")
        value = constraint.get("value") if isinstance(constraint, Mapping) else None
        if isinstance(value, str) and value:
            return value
    return None


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; none of what is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
