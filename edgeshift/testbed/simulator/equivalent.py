"""The equivalent new configuration of a zone, computed from its previous settings (docs/service.md §3.2,
§2.4).

Carried over: the global settings of the previous core rule set, firewall rules that bypass the WAF, page
rules with "Disable Security" and with "Web Application Firewall: Off" or "On". Lost: every setting of a rule
or a group of the core rule set. Those of the provider's rules, of which the contract does not speak, are
carried over, or lost where the zone says so. Paranoia level and threshold of the new core ruleset follow from
the previous sensitivity, as the profile has it.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

from edgeshift.profiles import SPECIFICATION, ServiceProfile
from edgeshift.testbed.simulator.expressions import quoted
from edgeshift.testbed.simulator.fleet_models import FirewallRule, FleetZone, PageRule, derived_id
from edgeshift.testbed.simulator.previous_waf import group_id, group_mode, is_modified, rule_mode, signatures

Configuration = dict[str, Any]

MANAGED_RULESET = "efb7b8c949ac4650a09736fc376e9aee"
OWASP_RULESET = "4814384a9e5d4991b9815dcfc25d2f1f"
OWASP_SCORE_RULE = "6179ae15870a4bb7b2d480d4843b323c"

HIGHEST_PARANOIA_LEVEL = 4

ACTION_MODE = {"simulate": "log", "block": "block", "challenge": "managed_challenge"}
"""Previous action mode to the action of the new score rule."""


def eligible(zone: FleetZone) -> bool:
    """Whether a zone can migrate in phase 2: it has no URI-based WAF override (docs/service.md §3.2)."""
    return not zone.uri_overrides


def phase_one_eligible(zone: FleetZone) -> bool:
    """Whether a zone could migrate by the conditions of phase 1 (docs/service.md §3.2)."""
    waf = zone.previous_waf
    only_managed = waf.managed.enabled and waf.owasp.sensitivity == "off"
    touched = any(waf_effect(rule) is not None for rule in zone.page_rules)
    return (not waf.enabled or only_managed) and not rules_to_migrate(zone) and not touched and eligible(zone)


def rules_to_migrate(zone: FleetZone) -> list[FirewallRule]:
    """The firewall rules that migrate: those that bypass the WAF, alone or among other products."""
    return [rule for rule in zone.firewall_rules if rule.action == "bypass" and "waf" in rule.products]


def longest_expression_bytes(zone: FleetZone) -> int:
    """UTF-8 bytes of the longest expression that migrates; 0 without any (docs/service.md §8)."""
    return longest_of(rules_to_migrate(zone))


def longest_of(rules: Iterable[FirewallRule]) -> int:
    """UTF-8 bytes of the longest expression of these rules; 0 without any."""
    return max((len(rule.expression.encode()) for rule in rules), default=0)


def waf_effect(rule: PageRule) -> Literal["on", "off"] | None:
    """What a page rule does to the WAF on its URLs, where it is the first that fits them; None for a disabled
    one or one about other things.
    """
    if rule.status != "active":
        return None
    if any(action.id == "disable_security" for action in rule.actions):
        return "off"
    values = [action.value for action in rule.actions if action.id == "waf"]
    return "on" if "on" in values else "off" if "off" in values else None


def by_priority(rules: Iterable[PageRule]) -> list[PageRule]:
    """The active page rules, in the order in which they are looked at: of those that fit a URL, only the
    first takes effect, whatever it is about.
    """
    return sorted((rule for rule in rules if rule.status == "active"), key=lambda rule: -rule.priority)


def url_expression(patterns: list[str], *, wildcard: bool = False) -> str:
    """The expression for URL patterns of a page rule: any scheme unless one is named, `*` for anything, case
    does not count. `wildcard`: whether the operator of that name is known.
    """
    tests = []
    for pattern in patterns:
        if wildcard:
            tests.append(f"http.request.full_uri wildcard {quoted(whole_url(pattern))}")
        else:
            tests += _without_wildcard(*_scheme_and_rest(pattern))
    return " or ".join(f"({test})" for test in tests)


def whole_url(pattern: str) -> str:
    """The pattern of a page rule as one for the whole URL: with a scheme and a path."""
    scheme, rest = _scheme_and_rest(pattern)
    return f"{scheme or 'http*'}://{rest}"


def _scheme_and_rest(pattern: str) -> tuple[str, str]:
    """A scheme stands at the beginning, where a pattern names one; a query may have a URL of its own. A star
    alone is anything, and whatever else has no path is about the root.
    """
    found = re.match(r"([A-Za-z*]*)://", pattern)
    scheme, rest = (found[1], pattern[found.end() :]) if found else ("", pattern)
    if rest and not rest.strip("*"):
        return scheme, "*/*"
    return scheme, rest if "/" in rest else f"{rest}/"


def _without_wildcard(scheme: str, rest: str) -> list[str]:
    """The same by what the language had before: a star in the middle takes a regular expression."""
    field = "lower(http.request.full_uri)"
    parts = re.split(r"\*+", rest.lower())
    said = [part for part in parts if part]
    opened, ended = parts[0] == "", parts[-1] == ""
    if len(said) > 1 or "*" in scheme or (scheme and opened):
        begin = "http.*" if not scheme else ".*".join(map(re.escape, scheme.lower().split("*")))
        return [f"{field} matches {quoted(f'^{begin}://' + '.*'.join(map(re.escape, parts)) + '$')}"]
    (text,) = said
    if opened:
        return [f"{field} contains {quoted(text)}" if ended else f"ends_with({field}, {quoted(text)})"]
    whole = [quoted(f"{one}://{text}") for one in ([scheme.lower()] if scheme else ["http", "https"])]
    return [f"starts_with({field}, {one})" if ended else f"{field} eq {one}" for one in whole]


def equivalent_configuration(zone: FleetZone, facts: ServiceProfile = SPECIFICATION) -> Configuration:
    """The configuration that the service proposes: `{"name": "default", "rules": [...]}`.

    Skip rules come first: bypassing firewall rules in their order, then page rules by falling priority. Then
    the managed ruleset and the core ruleset are run, disabled where their predecessor was, or where the zone
    says so.
    """
    bypassing = rules_to_migrate(zone) if zone.migration.firewall_rules == "carried" else []
    rules = [
        _skip(rule.expression, f"Bypass WAF Managed Rules: {rule.description}".rstrip(": "), zone.acts(rule))
        for rule in bypassing
    ]
    turned_on: list[str] = []
    not_off: list[str] = []
    others: list[str] = []
    carried = zone.page_rules if zone.migration.page_rules == "carried" else []
    for page_rule in by_priority(carried):
        effect = waf_effect(page_rule)
        expression = url_expression(page_rule.targets, wildcard=facts.wildcard)
        if effect == "off":
            is_waf = all(action.id != "disable_security" for action in page_rule.actions)
            name = "Web Application Firewall: Off" if is_waf else "Disable Security"
            rules.append(_skip(_but_for(expression, not_off), f"Page rule: {name}", True))
            continue
        not_off.append(expression)
        if effect == "on":
            turned_on.append(_but_for(expression, others))
        else:
            others.append(expression)
    waf = zone.previous_waf
    everywhere = waf.enabled or not turned_on
    where = "true" if everywhere else " or ".join(turned_on)
    runs = (waf.enabled or bool(turned_on)) and zone.migration.configuration != "disabled"
    rules.append(
        _execute(
            MANAGED_RULESET, "Managed ruleset", where, runs and waf.managed.enabled, managed_overrides(zone)
        )
    )
    sensitivity = waf.owasp.sensitivity
    setting = facts.score_setting(sensitivity)
    overrides = {
        "categories": [
            {"category": f"paranoia-level-{level}", "enabled": False}
            for level in range(setting.paranoia_level + 1, HIGHEST_PARANOIA_LEVEL + 1)
        ],
        "rules": [
            {
                "id": OWASP_SCORE_RULE,
                "action": ACTION_MODE[waf.owasp.action_mode],
                "enabled": True,
                "score_threshold": setting.score_threshold,
            }
        ],
    }
    rules.append(
        _execute(OWASP_RULESET, "OWASP core ruleset", where, runs and sensitivity != "off", overrides)
    )
    return {"name": "default", "rules": rules}


def _but_for(expression: str, earlier: list[str]) -> str:
    return f"({expression}) and not ({' or '.join(earlier)})" if earlier else expression


@cache
def new_rule_id(key: str) -> str:
    """The id of a rule of the new rulesets, 32 hex digits."""
    return derived_id("new rule", key)


NEW_ACTIONS = {"block": "block", "challenge": "managed_challenge", "simulate": "log"}
"""Mode of a previous rule of the provider to the action of its successor."""


def managed_overrides(zone: FleetZone) -> dict[str, Any] | None:
    """What the new configuration has of the settings of the provider's groups and rules; None without any.
    A rule that has no successor has no override.
    """
    if zone.migration.managed_settings == "lost":
        return None
    waf = zone.previous_waf.managed
    named = {*waf.groups}
    rules = []
    for one in signatures("managed"):
        if not one.new:
            continue
        off_by_group = bool(named & {one.group, group_id(one.group)}) and (
            group_mode(zone, "managed", one.group) == "off"
        )
        mode = rule_mode(zone, "managed", one.previous)
        if off_by_group or mode == "disable":
            rules.append({"id": new_rule_id(one.new), "enabled": False})
        elif is_modified(zone, "managed", one.previous):
            rules.append({"id": new_rule_id(one.new), "action": NEW_ACTIONS[mode], "enabled": True})
    return {"rules": rules} if rules else None


def with_refs(configuration: Configuration, zone: FleetZone) -> Configuration:
    """The configuration with a `ref` for each rule, by its place."""
    rules = [
        {**rule, "ref": derived_id(zone.id, "ref", str(place))}
        for place, rule in enumerate(configuration["rules"])
    ]
    return {**configuration, "rules": rules}


def _skip(expression: str, description: str, enabled: bool) -> dict[str, Any]:
    return _rule("skip", expression, description, enabled, {"ruleset": "current"})


def _execute(
    ruleset: str, name: str, expression: str, enabled: bool, overrides: dict[str, Any] | None
) -> dict[str, Any]:
    parameters: dict[str, Any] = {"id": ruleset}
    if overrides is not None:
        parameters["overrides"] = overrides
    return _rule("execute", expression, f"Execute the {name}", enabled, parameters)


def _rule(
    action: str, expression: str, description: str, enabled: bool, parameters: dict[str, Any]
) -> dict[str, Any]:
    """A rule of docs/service.md §2.4; `id`, `version` and `ref` are the service's to give and still empty,
    unless an option has a ref given (`with_refs`)."""
    return {
        "id": "",
        "version": "",
        "action": action,
        "expression": expression,
        "description": description,
        "ref": "",
        "enabled": enabled,
        "action_parameters": parameters,
    }
