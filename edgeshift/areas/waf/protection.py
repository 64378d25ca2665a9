"""Whether a WAF protects: the previous one of a zone, and the new one by the body that would be sent
(docs/service.md §2.4, §3.2). Pure.

The service may call a zone's new WAF enabled as soon as the zone is migrated, also where the entry point runs
no managed rule on any request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.areas.waf.answers import (
    MANAGED_RULESET,
    OWASP_RULESET,
    PageRuleEffect,
    Reading,
    objects,
    page_rule_effects,
)
from edgeshift.areas.waf.body import Effect, effect
from edgeshift.areas.waf.names import NAMES, OWASP_SCORE_RULE, named
from edgeshift.areas.waf.page_rules import skips_the_rest

PARANOIA_LEVELS = tuple(f"paranoia-level-{level}" for level in range(1, 5))
"""The categories that every scoring rule of the core ruleset is in, one each."""


# --- the previous WAF


def was_off(reading: Reading) -> bool:
    """Whether the previous WAF ran nowhere: its setting is off, and no page rule turns it on."""
    turned_on = any(PageRuleEffect.WAF_ON in page_rule_effects(rule) for rule in reading.page_rules)
    return (reading.waf_setting or {}).get("value") == "off" and not turned_on


def package_on(package: Mapping[str, Any]) -> bool:
    """Whether a package of the previous WAF is on, the core by its sensitivity, others by their status. What
    the service does not say counts as on.
    """
    if package.get("detection_mode") == "anomaly":
        return package.get("sensitivity") != "off"
    return package.get("status") != "disabled"


def package_runs(reading: Reading, package: Mapping[str, Any]) -> bool:
    """Whether a package of the previous WAF is on, and one of its groups too."""
    groups = [group for group in reading.groups if group.get("package_id") == package.get("id")]
    all_off = bool(groups) and all(group.get("mode") == "off" for group in groups)
    return package_on(package) and not all_off


def protected(reading: Reading) -> bool:
    """Whether the previous WAF protects the zone: it is on, and at least one of its packages is."""
    return not was_off(reading) and any(package_runs(reading, package) for package in reading.packages)


# --- the new one


def runs_nothing(body: Mapping[str, Any]) -> bool:
    """Whether a body runs no managed rule on any request: each of its execute rules is disabled, has all of
    its rules turned off, or comes after a skip of everything.
    """
    return not _running(body)


def _running(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The managed rulesets that a body runs, somewhere at least."""
    found: list[str] = []
    skipped: set[str] = set()
    for rule in objects(body.get("rules")):
        parameters = _mapping(rule.get("action_parameters"))
        if rule.get("enabled", True) is False:
            continue
        if rule.get("action") == "skip" and _says(rule, "true"):
            if skips_the_rest(parameters):
                break
            named = parameters.get("rulesets")
            skipped |= {str(one) for one in named} if isinstance(named, list) else set()
        ruleset = str(parameters.get("id", ""))
        if rule.get("action") == "execute" and ruleset not in skipped and _does_something(rule, ruleset):
            found.append(ruleset)
    return tuple(dict.fromkeys(found))


def _does_something(rule: Mapping[str, Any], ruleset: str) -> bool:
    if effect(rule) is Effect.NOTHING or _says(rule, "false"):
        return False
    if ruleset != OWASP_RULESET:
        return True
    return _scores_and_acts(_mapping(_mapping(rule.get("action_parameters")).get("overrides")))


def _scores_and_acts(overrides: Mapping[str, Any]) -> bool:
    """Whether the core ruleset does something: a rule of it adds to the score, and the score rule looks at
    that.
    """
    whole = overrides.get("enabled") is not False
    set_to = {
        str(item.get("id") or item.get("category")): item.get("enabled")
        for item in [*objects(overrides.get("rules")), *objects(overrides.get("categories"))]
        if item.get("enabled") is not None
    }
    acts = set_to.pop(OWASP_SCORE_RULE, whole) is not False
    levels = any(set_to.get(level, whole) is not False for level in PARANOIA_LEVELS)
    return acts and (levels or any(on is True for on in set_to.values()))


def runs_core(body: Mapping[str, Any]) -> bool:
    """Whether a body runs the core ruleset, on some requests at least."""
    return OWASP_RULESET in _running(body)


def _core_only_logs(body: Mapping[str, Any]) -> bool:
    """Whether the core ruleset, which a body runs, stops nothing: its score rule, which alone acts, only
    logs. The rule's own action counts before that of the ruleset.
    """
    actions = set()
    for rule in objects(body.get("rules")):
        parameters = _mapping(rule.get("action_parameters"))
        if rule.get("action") != "execute" or parameters.get("id") != OWASP_RULESET:
            continue
        if _does_something(rule, OWASP_RULESET):
            overrides = _mapping(parameters.get("overrides"))
            own = [item for item in objects(overrides.get("rules")) if item.get("id") == OWASP_SCORE_RULE]
            actions.add(next((item["action"] for item in own if item.get("action")), overrides.get("action")))
    return actions == {"log"}


def _says(rule: Mapping[str, Any], expression: str) -> bool:
    return str(rule.get("expression", "")).strip("() ") == expression


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# --- one beside the other


def unprotected(reading: Reading, body: Mapping[str, Any]) -> bool:
    """Whether the commit of this body would take away what protects the zone: the previous WAF does, and the
    new one would run nothing.
    """
    return runs_nothing(body) and protected(reading)


def protection_warnings(reading: Reading, body: Mapping[str, Any]) -> tuple[str, ...]:
    """What people should know of a body that does not run what the previous WAF ran, a sentence each."""
    running = _running(body)
    if not running:
        before = "on" if protected(reading) else "off as well" if was_off(reading) else "without a package on"
        return (
            "the new configuration runs no managed rule on any request, though the service may call its WAF"
            f" enabled; the previous WAF is {before}",
        )
    if was_off(reading):
        return ()
    found = []
    for package in reading.packages:
        core = package.get("detection_mode") == "anomaly"
        ruleset = OWASP_RULESET if core else MANAGED_RULESET
        if not package_runs(reading, package):
            continue
        name = str(package.get("name") or package.get("id"))[:80]
        if ruleset not in running:
            found.append(f"the new configuration does not run {NAMES[ruleset]}, and {name} is on now")
        elif core and package.get("action_mode") != "simulate" and _core_only_logs(body):
            found.append(
                f"{named(OWASP_SCORE_RULE, NAMES)} only logs in the new configuration: it acts for all of"
                f" {NAMES[ruleset]}, which then stops nothing, and {name} is on now"
            )
    return tuple(found)
