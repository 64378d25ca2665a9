"""What reading tells of a zone before its WAF migration (docs/service.md §2.4, §3.2, §7, §8). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.assessment import Verdict as Verdict
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Plan
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons, codes_of

MOST_RULES = 200
"""Firewall rules that one migration takes at most (docs/service.md §8)."""

LONGEST_EXPRESSION = 4096
"""Bytes of UTF-8 that the expression of a migrating rule has at most: 4 KB (docs/service.md §8)."""


MANAGED_RULESET = "efb7b8c949ac4650a09736fc376e9aee"
OWASP_RULESET = "4814384a9e5d4991b9815dcfc25d2f1f"
"""The new managed rulesets (docs/service.md §2.4, observed): the provider's own, the core ruleset."""


AS_DELIVERED = frozenset({"default", "on"})
"""Modes of rules of the previous WAF that nobody has changed (docs/service.md §4.3, observed)."""


class Reading(BaseModel):
    """Everything that was read of a zone, as the service answered it. It is what the snapshot holds.

    ``groups``: of the previous WAF's packages; ``rules``: of theirs, those with a mode of their own. Both
    name their package by ``package_id``. ``plan``: what the zone has now, where the campaign's list has it as
    an Enterprise zone.
    ``refused``: the support case that the service made of a reading itself, with its own words, short.
    """

    check: dict[str, Any]
    status: dict[str, Any] | None = None
    plan: str = ""
    firewall_rules: list[dict[str, Any]] = []
    overrides: list[dict[str, Any]] = []
    page_rules: list[dict[str, Any]] = []
    packages: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []
    waf_setting: dict[str, Any] | None = None
    entry_point: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    refused: tuple[ReasonCode, str] | None = None


class Assessment(BaseModel):
    """What reading tells of a zone, and what people should know before they agree to anything.

    ``causes``: what the verdict rests on; each support ticket has exactly one. ``why``: these, and what else
    stands in the way. ``rules``: identifiers of the rules that a support case is about, with their lengths in
    bytes. ``losses``, ``warnings``: one sentence each.
    """

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    causes: tuple[ReasonCode, ...] = ()
    why: Reasons = ()
    migrating_rules: int = 0
    longest_expression: int = 0
    rules: tuple[tuple[str, int], ...] = ()
    overrides: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
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

    def found(verdict: Verdict, *why: Reason, causes: tuple[ReasonCode, ...] = (), **more: Any) -> Assessment:
        return Assessment(verdict=verdict, causes=causes, why=why, **facts, **more)

    def blocked(code: ReasonCode, **known: Any) -> Assessment:
        return found(Verdict.BLOCKED, Reason(code=code, **known), causes=(code,))

    if is_migrated(reading.status):
        return found(Verdict.ALREADY_MIGRATED, Reason(code=ReasonCode.ALREADY_MIGRATED))
    facts |= {"losses": losses(reading), "warnings": warnings(reading)}
    overrides = _overrides(facts["overrides"])
    if over := _over_limits(lengths):
        # Before the overrides: nobody should agree to delete those of a zone that cannot move anyway.
        causes = codes_of(over)
        about = lengths if ReasonCode.TOO_MANY_RULES in causes else _too_long(lengths)
        return found(Verdict.NEEDS_SUPPORT, *over, *overrides, causes=causes, rules=tuple(about))
    if reading.plan not in ("", Plan.ENTERPRISE):
        return blocked(ReasonCode.OTHER_PLAN, plan=reading.plan)
    if overrides:
        return found(Verdict.BLOCKED, *overrides, causes=(ReasonCode.URI_OVERRIDES,))
    if reading.refused is not None:
        cause, said = reading.refused
        refused = Reason(code=ReasonCode.SUPPORT_REFUSAL, case=cause, said=said)
        return found(Verdict.NEEDS_SUPPORT, refused, causes=(cause,))
    if reading.config is not None and not reading.config.get("rules"):
        return blocked(ReasonCode.EMPTY_CONFIGURATION)
    if in_validation(reading.status):
        return found(Verdict.IN_VALIDATION, Reason(code=ReasonCode.ALREADY_IN_VALIDATION))
    if reading.check.get("compatible") is not True:
        return blocked(ReasonCode.NOT_COMPATIBLE)
    return found(Verdict.READY)


MOST_OVERRIDES_NAMED = 5
"""Overrides that a reason names."""


def _overrides(overrides: tuple[str, ...]) -> Reasons:
    """That URI-based overrides stand in the way, with the first of them; nothing where there are none."""
    if not overrides:
        return ()
    named = overrides[:MOST_OVERRIDES_NAMED]
    return (Reason(code=ReasonCode.URI_OVERRIDES, count=len(overrides), names=named),)


def _too_long(lengths: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(identifier, size) for identifier, size in lengths if size > LONGEST_EXPRESSION]


def _over_limits(lengths: list[tuple[str, int]]) -> list[Reason]:
    """The limits that a zone's migrating rules are over."""
    over = []
    if len(lengths) > MOST_RULES:
        over.append(Reason(code=ReasonCode.TOO_MANY_RULES, count=len(lengths), limit=MOST_RULES))
    if too_long := _too_long(lengths):
        over.append(
            Reason(
                code=ReasonCode.EXPRESSION_TOO_LONG,
                count=len(too_long),
                limit=LONGEST_EXPRESSION,
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
    """What the migration does not carry over (docs/service.md §3.2), as far as this zone has it: groups that
    are off and settings of rules of the core rule set; settings of other rules where the new configuration
    has none either.
    """
    found = []
    for package in reading.packages:
        core = package.get("detection_mode") == "anomaly"
        off, rules = _groups_off(reading, package), _rules_set(reading, package)
        if core and (settings := [said for said in (off, rules) if said]):
            found.append(f"{_package_name(package)}: {' and '.join(settings)}, which are lost")
        elif rules and reading.config is not None and not _managed_overrides(reading.config):
            found.append(
                f"{_package_name(package)}: {rules}, which are lost: the new configuration has none of them"
            )
        sensitivity = package.get("sensitivity")
        if core and sensitivity not in (None, "off"):
            found.append(
                f"core rule set 2.x at sensitivity {sensitivity!r} becomes core rule set 3.x"
                " at paranoia level 2"
            )
    return tuple(found)


def warnings(reading: Reading) -> tuple[str, ...]:
    """What stops working or works differently after the migration, as far as this zone may depend on it."""
    found = [
        "legacy Terraform resources for WAF packages, groups and rules stop working"
        " (the provider has them up to version 3.35 only): use cloudflare_ruleset instead",
    ]
    effects = [effect for rule in reading.page_rules for effect in page_rule_effects(rule)]
    if off := effects.count("waf off"):
        do = agreed(off, "does", "do")
        rules = counted(off, "page rule")
        found.append(f"{rules} with Web Application Firewall: Off {do} not disable the new WAF")
    if on := effects.count("waf on"):
        found.append(
            f"{counted(on, 'page rule')} with Web Application Firewall: On: see in the proposal that the"
            " managed rules run there"
        )
    if (reading.waf_setting or {}).get("value") == "off":
        found.append("the previous WAF is off for the whole zone; the new one has no global switch")
    if reading.config is not None:
        carried = _managed_overrides(reading.config)
        found += [said for package in reading.packages if (said := _to_compare(reading, package, carried))]
    return tuple(found)


def _to_compare(reading: Reading, package: Mapping[str, Any], carried: int) -> str:
    """What of a package other than the core's is to be compared with the new configuration: groups that are
    off, as delivered or by somebody; settings of rules, where it has some. Empty for nothing.
    """
    if package.get("detection_mode") == "anomaly":
        return ""
    rules = _rules_set(reading, package) if carried else ""
    settings = " and ".join(said for said in (_groups_off(reading, package), rules) if said)
    if not settings:
        return ""
    return (
        f"{_package_name(package)}: {settings}; the new configuration has"
        f" {counted(carried, 'override')} of managed rules: compare them"
    )


def _package_name(package: Mapping[str, Any]) -> str:
    return str(package.get("name") or f"package {package.get('id', '')}")[:LONGEST_NAME]


MOST_NAMED = 5
"""Groups that a sentence names; of more it says that there are more."""

LONGEST_NAME = 80
"""Characters of a name that a sentence has."""


def _groups_off(reading: Reading, package: Mapping[str, Any]) -> str:
    """The groups of a package that are off. Those that are so as delivered cannot be told from others."""
    off = [
        str(group.get("name") or group.get("id"))[:LONGEST_NAME]
        for group in reading.groups
        if group.get("package_id") == package.get("id") and group.get("mode") == "off"
    ]
    if not off:
        return ""
    named = ", ".join(off[:MOST_NAMED]) + (", …" if len(off) > MOST_NAMED else "")
    return f"{counted(len(off), 'rule group')} off ({named})"


def _rules_set(reading: Reading, package: Mapping[str, Any]) -> str:
    """How many rules of a package have settings of their own: those that were listed so, or, where that is
    more, those that its groups count.
    """
    own = package.get("id")
    listed = sum(1 for rule in reading.rules if rule.get("package_id") == own)
    groups = [group for group in reading.groups if group.get("package_id") == own]
    rules = max(listed, sum(_count(group.get("modified_rules_count")) for group in groups))
    return f"{counted(rules, 'rule')} with settings of their own" if rules else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _managed_overrides(config: Mapping[str, Any]) -> int:
    """The overrides that a configuration has for any ruleset but the core's: of rules, of categories, of a
    whole ruleset.
    """
    found = 0
    for rule in objects(config.get("rules")):
        parameters = rule.get("action_parameters")
        if not isinstance(parameters, Mapping) or parameters.get("id") == OWASP_RULESET:
            continue
        overrides = parameters.get("overrides")
        if rule.get("action") == "execute" and isinstance(overrides, Mapping):
            found += len(objects(overrides.get("rules"))) + len(objects(overrides.get("categories")))
            found += any(overrides.get(key) is not None for key in ("action", "enabled"))
    return found


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


def page_rule_patterns(rule: Mapping[str, Any]) -> tuple[str, ...]:
    """The URL patterns that a page rule is about, such as ``*shop.example/api/*``."""
    found = []
    for target in objects(rule.get("targets")):
        constraint = target.get("constraint")
        value = constraint.get("value") if isinstance(constraint, Mapping) else None
        if isinstance(value, str) and value:
            found.append(value)
    return tuple(found)


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; none of what is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
