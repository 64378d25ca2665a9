"""The rules of the WAF migration (docs/service.md §3.2, §4.3, §7, §8), pure: what was read goes in, what follows comes out."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.digests import Body, essence
from edgeshift.fleet import Plan, Zone

MOST_RULES = 200
"""Firewall rules that one migration takes at most (docs/service.md §8)."""

LONGEST_EXPRESSION = 4096
"""Bytes of UTF-8 that the expression of a migrating rule has at most: 4 KB (docs/service.md §8)."""

MIGRATED_STATES = frozenset({"complete", "default"})
"""``migration_state`` values, observed, of a zone that uses the new WAF (docs/service.md §2.4)."""

MANAGED_RULESET = "efb7b8c949ac4650a09736fc376e9aee"
OWASP_RULESET = "4814384a9e5d4991b9815dcfc25d2f1f"


class Mode(StrEnum):
    """The value of ``waf_migration`` (docs/service.md §3.2)."""

    PENDING = "pending"
    VALIDATION = "validation"


class Verdict(StrEnum):
    """What reading alone tells of a zone."""

    READY = "ready"
    BLOCKED = "blocked"
    NEEDS_SUPPORT = "needs_support"
    ALREADY_MIGRATED = "already_migrated"
    IN_VALIDATION = "in_validation"


class Cause(StrEnum):
    """Why a zone is not ready. Each support ticket has exactly one."""

    TOO_MANY_RULES = "too_many_rules"
    EXPRESSION_TOO_LONG = "expression_too_long"
    SUPPORT_REFUSAL = "support_refusal"
    URI_OVERRIDES = "uri_overrides"
    NOT_COMPATIBLE = "not_compatible"
    EMPTY_CONFIGURATION = "empty_configuration"
    LOG_ONLY = "log_only"


class Reading(BaseModel):
    """Everything that was read of a zone, as the service answered it. It is what the snapshot holds."""

    check: dict[str, Any]
    status: dict[str, Any] | None = None
    firewall_rules: list[dict[str, Any]] = []
    overrides: list[dict[str, Any]] = []
    page_rules: list[dict[str, Any]] = []
    packages: list[dict[str, Any]] = []
    changed_groups: int = 0
    changed_rules: int = 0
    waf_setting: dict[str, Any] | None = None
    entry_point: dict[str, Any] | None = None
    config: dict[str, Any] | None = None


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


class Adjustment(BaseModel):
    """A change that the campaign makes to every proposal, beside what the service returned.

    With ``rule``: that rule of the managed ruleset is overridden. Without: the whole managed ruleset.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ruleset: str = MANAGED_RULESET
    rule: str | None = None
    action: str | None = None
    enabled: bool | None = None
    score_threshold: int | None = None


class Proposal(BaseModel):
    """The exact body that would be sent, and what was added to what the service returned, one sentence each."""

    body: Body
    additions: tuple[str, ...] = ()


def migrates(rule: Mapping[str, Any]) -> bool:
    """Whether a firewall rule is one that migrates: Bypass > WAF Managed Rules (docs/service.md §3.2)."""
    return rule.get("action") == "bypass" and "waf" in (rule.get("products") or ())


def expression_bytes(rule: Mapping[str, Any]) -> int:
    """The length of a firewall rule's expression in UTF-8 bytes, which is what the 4 KB limit is about."""
    found = (rule.get("filter") or {}).get("expression")
    return len(found.encode("utf-8", "surrogatepass")) if isinstance(found, str) else 0


def assess(reading: Reading) -> Assessment:
    """What the reading tells of the zone. Limits are counted here, before anything is sent."""
    migrating = [rule for rule in reading.firewall_rules if migrates(rule)]
    lengths = [(str(rule.get("id", "")), expression_bytes(rule)) for rule in migrating]
    too_long = [(identifier, size) for identifier, size in lengths if size > LONGEST_EXPRESSION]
    state = migration_state(reading)
    facts: dict[str, Any] = {
        "migrating_rules": len(migrating),
        "longest_expression": max((size for _, size in lengths), default=0),
        "overrides": tuple(str(item.get("id", "")) for item in reading.overrides),
        "migration_state": state,
    }
    if is_migrated(reading.status):
        return Assessment(verdict=Verdict.ALREADY_MIGRATED, reasons=("the new WAF is on, the previous one off",), **facts)
    facts |= {"losses": losses(reading), "warnings": warnings(reading)}
    if reading.overrides:
        reason = (
            f"{len(reading.overrides)} URI-based WAF override(s) must be deleted before the zone is eligible"
            f" ({', '.join(facts['overrides'][:5])}{', …' if len(reading.overrides) > 5 else ''})"
        )
        return Assessment(verdict=Verdict.BLOCKED, causes=(Cause.URI_OVERRIDES,), reasons=(reason,), **facts)
    causes: list[Cause] = []
    reasons: list[str] = []
    if len(migrating) > MOST_RULES:
        causes.append(Cause.TOO_MANY_RULES)
        reasons.append(f"{len(migrating)} firewall rules to migrate; the service migrates at most {MOST_RULES}")
    if too_long:
        causes.append(Cause.EXPRESSION_TOO_LONG)
        longest = max(size for _, size in too_long)
        reasons.append(
            f"{len(too_long)} firewall rule expression(s) over {LONGEST_EXPRESSION:,} bytes, the longest {longest:,}"
        )
    if causes:
        about = lengths if Cause.TOO_MANY_RULES in causes else too_long
        return Assessment(
            verdict=Verdict.NEEDS_SUPPORT, causes=tuple(causes), reasons=tuple(reasons), rules=tuple(about), **facts
        )
    if in_validation(reading.status):
        return Assessment(
            verdict=Verdict.IN_VALIDATION, reasons=("the zone is already in validation mode",), **facts
        )
    if reading.check.get("compatible") is not True:
        return Assessment(
            verdict=Verdict.BLOCKED,
            causes=(Cause.NOT_COMPATIBLE,),
            reasons=("the service says that the zone is not compatible in its current configuration",),
            **facts,
        )
    return Assessment(verdict=Verdict.READY, **facts)


def migration_state(reading: Reading) -> str:
    """The state that the service names, from the status first and from the check where the status is silent."""
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
    """Whether a status record shows validation mode: both enabled (docs/service.md §3.2)."""
    return status is not None and status.get("migration_state") == "validation"


def losses(reading: Reading) -> tuple[str, ...]:
    """What the migration does not carry over (docs/service.md §3.2), as far as this zone has it."""
    found = []
    if reading.changed_groups:
        found.append(f"{reading.changed_groups} rule group(s) with changed settings: group-level settings are lost")
    if reading.changed_rules:
        found.append(f"{reading.changed_rules} rule(s) with changed settings: rule-level settings are lost")
    for package in reading.packages:
        sensitivity = package.get("sensitivity")
        if package.get("detection_mode") == "anomaly" and sensitivity not in (None, "off"):
            found.append(
                f"core rule set 2.x at sensitivity {sensitivity!r} becomes core rule set 3.x at paranoia level 2"
            )
    return tuple(found)


def warnings(reading: Reading) -> tuple[str, ...]:
    """What stops working or works differently after the migration, as far as this zone may depend on it."""
    found = [
        "legacy Terraform resources for WAF packages, groups and rules stop working: use cloudflare_ruleset instead",
    ]
    off = sum(1 for rule in reading.page_rules if "waf off" in page_rule_effects(rule))
    if off:
        found.append(f"{off} page rule(s) with Web Application Firewall: Off do not disable the new WAF")
    if (reading.waf_setting or {}).get("value") == "off":
        found.append("the previous WAF is off for the whole zone; the new one has no global switch")
    return tuple(found)


def page_rule_effects(rule: Mapping[str, Any]) -> tuple[str, ...]:
    """Which of the settings that matter here an active page rule makes: ``waf off``, ``waf on``, ``disable security``."""
    if rule.get("status") != "active":
        return ()
    found = []
    for action in rule.get("actions") or ():
        if action.get("id") == "disable_security":
            found.append("disable security")
        elif action.get("id") == "waf" and action.get("value") in ("on", "off"):
            found.append(f"waf {action['value']}")
    return tuple(found)


def propose(reading: Reading, adjustments: Sequence[Adjustment] = ()) -> Proposal:
    """The body to be signed: the returned configuration, the adjustments, and skip rules where a gap would open."""
    if reading.config is None:
        raise ValueError("no configuration was read")
    body: Body = copy.deepcopy({"name": reading.config.get("name") or "default", "rules": reading.config["rules"]})
    additions: list[str] = []
    for rule in reading.page_rules:
        pattern = page_rule_pattern(rule)
        turned_off = {"waf off", "disable security"} & set(page_rule_effects(rule))
        if pattern and turned_off and not covered(pattern, body["rules"]):
            body["rules"].insert(0, skip_rule(pattern, f"Page rule {rule.get('id', '')}: {', '.join(sorted(turned_off))}"))
            additions.append(f"skip rule for the page rule on {pattern}, which does not disable the new WAF")
    for adjustment in adjustments:
        if adjust(body, adjustment):
            subject = f"rule {adjustment.rule}" if adjustment.rule else f"ruleset {adjustment.ruleset}"
            additions.append(f"adjusted {subject}")
    return Proposal(body=body, additions=tuple(additions))


def page_rule_pattern(rule: Mapping[str, Any]) -> str | None:
    """The URL pattern that a page rule is about, such as ``*shop.example/api/*``."""
    for target in rule.get("targets") or ():
        value = (target.get("constraint") or {}).get("value")
        if isinstance(value, str) and value:
            return value
    return None


def covered(pattern: str, rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a skip rule among ``rules`` is about this URL pattern: it names every literal part of it.

    How the service words the expression is not documented, so its parts are looked for and not its form.
    """
    host, _, path = re.sub(r"^[a-z*]*://", "", pattern).partition("/")
    parts = [part.strip(".") for part in host.split("*") if part.strip(".")] + [p for p in path.split("*") if p.strip("/")]
    return any(
        rule.get("action") == "skip"
        and rule.get("enabled", True)
        and all(part in str(rule.get("expression", "")) for part in parts)
        for rule in rules
    )


def skip_rule(pattern: str, description: str) -> dict[str, Any]:
    """A rule that keeps the managed rules from running on a URL pattern with ``*`` as its wildcard."""
    scheme, _, rest = pattern.rpartition("://")
    host, slash, path = rest.partition("/")
    tests = [_wildcard("http.host", host)]
    if slash:
        tests.append(_wildcard("http.request.uri", "/" + path))
    if scheme in ("http", "https"):
        tests.append("ssl" if scheme == "https" else "not ssl")
    return {
        "action": "skip",
        "action_parameters": {"ruleset": "current"},
        "expression": " and ".join(f"({test})" for test in tests if test) or "true",
        "description": description,
        "enabled": True,
    }


def _wildcard(field: str, pattern: str) -> str:
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"')
    if set(pattern) <= {"*"}:
        return ""
    return f'{field} eq "{quoted}"' if "*" not in pattern else f'{field} wildcard "{quoted}"'


def adjust(body: Body, adjustment: Adjustment) -> bool:
    """Apply an adjustment to every execute rule of its managed ruleset; whether there was one."""
    change = adjustment.model_dump(include={"action", "enabled", "score_threshold"}, exclude_none=True)
    found = False
    for rule in body["rules"]:
        parameters = rule.get("action_parameters") or {}
        if rule.get("action") != "execute" or parameters.get("id") != adjustment.ruleset:
            continue
        found = True
        overrides = parameters.setdefault("overrides", {})
        if adjustment.rule is None:
            overrides.update(change)
            continue
        listed = overrides.setdefault("rules", [])
        known = next((item for item in listed if item.get("id") == adjustment.rule), None)
        if known is None:
            listed.append({"id": adjustment.rule, **change})
        else:
            known.update(change)
        rule["action_parameters"] = parameters
    return found


def shadow(body: Body) -> Body:
    """The body for a shadow validation: every managed rule only logs, so that the previous WAF still protects."""
    found = copy.deepcopy(body)
    for rule in found["rules"]:
        if rule.get("action") == "execute":
            overrides = rule.setdefault("action_parameters", {}).setdefault("overrides", {})
            overrides["action"] = "log"
            for key in ("rules", "categories"):
                for item in overrides.get(key) or ():
                    if "action" in item:
                        item["action"] = "log"
    return found


def is_log_only(body: Mapping[str, Any]) -> bool:
    """Whether no execute rule of the body can do more than log. Such a body is never committed."""
    executes = [rule for rule in body["rules"] if rule.get("action") == "execute" and rule.get("enabled", True)]
    return bool(executes) and all(_only_logs(rule) for rule in executes)


def _only_logs(rule: Mapping[str, Any]) -> bool:
    overrides = (rule.get("action_parameters") or {}).get("overrides") or {}
    if overrides.get("enabled") is False:
        return True
    items = [*(overrides.get("rules") or ()), *(overrides.get("categories") or ())]
    return overrides.get("action") == "log" and all(item.get("action", "log") == "log" for item in items)


def unsound(body: object) -> str | None:
    """Why an answer cannot be used as a configuration, or None. Anything odd fails closed."""
    if not isinstance(body, Mapping) or not isinstance(body.get("rules"), list):
        return "the configuration has no list of rules"
    if not body["rules"]:
        return "the configuration has no rules"
    for place, rule in enumerate(body["rules"]):
        if not isinstance(rule, Mapping):
            return f"rules[{place}] is not an object"
        if not isinstance(rule.get("action"), str) or not isinstance(rule.get("expression"), str):
            return f"rules[{place}] has no action or no expression"
    return None


def same_rules(stored: Mapping[str, Any] | None, signed: Body) -> bool:
    """Whether what the service stores equals the signed body but for what the service assigns."""
    return stored is not None and unsound(stored) is None and essence(stored)["rules"] == essence(signed)["rules"]


def may_send(mode: Mode, plan: Plan) -> str | None:
    """Why this mode must not be sent to a zone of this plan, or None (docs/service.md §3.2)."""
    if mode is Mode.VALIDATION and plan is not Plan.ENTERPRISE:
        return f"only Enterprise zones have a validation mode; this zone's plan is {plan.value}"
    return None


_ABOUT_EXPRESSION = re.compile(r"expression|filter|4\s?-?k(?:i?b)\b|4[,.]?0(?:96|00)|kilobyte", re.IGNORECASE)
_TOO_LONG = re.compile(r"long|length|size|large|big|exceed|limit|maximum|over\b|more than|greater|character|byte", re.IGNORECASE)
_ABOUT_COUNT = re.compile(r"\b200\b|two hundred|too many|number of|quota|count", re.IGNORECASE)
_RULES = re.compile(r"\brules?\b", re.IGNORECASE)
_SUPPORT = re.compile(r"contact\w*\s+(?:\w+\s+){0,3}support|support (?:team|ticket|request|case)|customer support", re.IGNORECASE)


def support_cause(messages: Iterable[str]) -> Cause | None:
    """Which support case the service's refusal is, in whatever words and with or without a code, or None.

    The words are not documented (docs/service.md §7), so the subject and the complaint are looked for separately.
    """
    text = " ".join(messages)
    if _ABOUT_EXPRESSION.search(text) and _TOO_LONG.search(text) and not re.search(r"\b200\b", text):
        return Cause.EXPRESSION_TOO_LONG
    if _ABOUT_COUNT.search(text) and _RULES.search(text):
        return Cause.TOO_MANY_RULES
    return Cause.SUPPORT_REFUSAL if _SUPPORT.search(text) else None


def ticket_text(zone: Zone, cause: Cause, assessment: Assessment, refusal: Sequence[str]) -> tuple[str, str]:
    """The title and the Markdown body of a support ticket: rule identifiers and byte lengths, never expressions."""
    titles = {
        Cause.TOO_MANY_RULES: f"WAF migration: more than {MOST_RULES} firewall rules to migrate on {zone.name}",
        Cause.EXPRESSION_TOO_LONG: f"WAF migration: firewall rule expression over 4 KB on {zone.name}",
    }
    title = titles.get(cause, f"WAF migration: the service asks to contact support for {zone.name}")
    lines = [
        f"Zone `{zone.name}` (`{zone.id}`), account `{zone.account}`, plan {zone.plan.value}, cannot be migrated"
        " to WAF Managed Rules without the provider's support.",
        "",
        *(f"- {reason}" for reason in assessment.reasons),
        *(f"- the service answered: {message[:200]}" for message in refusal),
    ]
    listed = [row for row in assessment.rules if cause is not Cause.EXPRESSION_TOO_LONG or row[1] > LONGEST_EXPRESSION]
    if listed:
        lines += ["", "| firewall rule | expression, bytes |", "| --- | ---: |"]
        lines += [f"| `{identifier}` | {size:,} |" for identifier, size in listed]
    lines += ["", "After it is mended, tell the campaign with `edgeshift support-resolved`."]
    return title, "\n".join(lines) + "\n"
