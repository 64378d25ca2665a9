"""A zone's snapshot of the area waf, line by line: the previous WAF whole, and what was beside it. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from edgeshift.areas import waf
from edgeshift.areas.waf.answers import objects
from edgeshift.model.counts import agreed, counted
from edgeshift.views.words import one_line

LONGEST = 20_000
"""Characters of one line: an expression is shown whole."""

Json = Mapping[str, Any]


def snapshot_lines(reading: waf.Reading) -> list[str]:
    """Everything that was read, part by part; what there is none of is said."""
    migrating = [rule for rule in reading.firewall_rules if waf.migrates(rule)]
    others = [rule for rule in reading.firewall_rules if not waf.migrates(rule)]
    return [
        f"previous WAF: {_said((reading.waf_setting or {}).get('value')) or 'not read'}",
        f"migration: {waf.migration_state(reading) or 'no state named'}",
        *_packages(reading),
        *_part("URI-based override", reading.overrides, _override),
        *_part("firewall rule past the WAF", migrating, _firewall, "firewall rules past the WAF"),
        *_part("other firewall rule", others, _firewall),
        *_part("page rule", reading.page_rules, _page_rule),
        *_ruleset("entry point then", reading.entry_point),
        *_ruleset("new configuration as the service returned it", reading.config),
    ]


def _said(value: object) -> str:
    return "" if value is None else one_line(str(value), LONGEST)


def _part(noun: str, items: Sequence[Json], line: Callable[[Json], str], nouns: str = "") -> list[str]:
    nouns = nouns or f"{noun}s"
    if not items:
        return [f"{nouns}: none"]
    return [f"{counted(len(items), noun, nouns)}:", *(f"  {line(item)}" for item in items)]


def _packages(reading: waf.Reading) -> list[str]:
    lines = []
    for package in reading.packages:
        facts = [
            f"{key.replace('_', ' ')} {_said(package[key])}"
            for key in ("detection_mode", "status", "sensitivity", "action_mode")
            if package.get(key) is not None
        ]
        name = _said(package.get("name")) or _said(package.get("id"))
        lines.append(f"package {name}: {', '.join(facts)}")
        own = package.get("id")
        groups = [group for group in reading.groups if group.get("package_id") == own]
        off = [group for group in groups if group.get("mode") == "off"]
        lines.append(f"  {counted(len(groups), 'group')}, {len(off)} off")
        lines += [f"    off: {_said(group.get('name'))} ({_said(group.get('id'))})" for group in off]
        rules = [rule for rule in reading.rules if rule.get("package_id") == own]
        their = agreed(len(rules), "its", "their")
        lines.append(f"  {counted(len(rules), 'rule')} with a mode of {their} own")
        lines += [f"    {_rule(rule)}" for rule in rules]
    return lines or ["packages: none"]


def _rule(rule: Json) -> str:
    group = rule.get("group")
    within = f" [{_said(group.get('name'))}]" if isinstance(group, Mapping) else ""
    return f"{_said(rule.get('id'))}: {_said(rule.get('mode'))}  {_said(rule.get('description'))}{within}"


def _override(override: Json) -> str:
    sets = [
        f"{key} {', '.join(f'{_said(name)}={_said(mode)}' for name, mode in value.items())}"
        for key in ("groups", "rules", "rewrite_action")
        if isinstance(value := override.get(key), Mapping) and value
    ]
    urls = override.get("urls")
    where = ", ".join(map(_said, urls)) if isinstance(urls, list) else ""
    paused = " (paused)" if override.get("paused") is True else ""
    return f"{_said(override.get('id'))}{paused}: {where}: {'; '.join(sets) or 'sets nothing'}"


def _firewall(rule: Json) -> str:
    condition = rule.get("filter")
    expression = condition.get("expression") if isinstance(condition, Mapping) else ""
    products = rule.get("products")
    of = f" {', '.join(map(_said, products))}" if isinstance(products, list) and products else ""
    paused = " (paused)" if rule.get("paused") is True else ""
    described = f"{_said(rule.get('description'))}: " if rule.get("description") else ""
    return f"{_said(rule.get('id'))}{paused}: {_said(rule.get('action'))}{of}: {described}{_said(expression)}"


def _page_rule(rule: Json) -> str:
    actions = [
        f"{_said(action.get('id'))}{'=' + _said(action['value']) if action.get('value') is not None else ''}"
        for action in objects(rule.get("actions"))
    ]
    where = ", ".join(map(_said, waf.page_rule_patterns(rule))) or "no URL"
    state = f"{_said(rule.get('status'))}, priority {_said(rule.get('priority'))}"
    return f"{_said(rule.get('id'))} ({state}): {where}: {', '.join(actions) or 'sets nothing'}"


def _ruleset(title: str, body: Json | None) -> list[str]:
    if body is None:
        return [f"{title}: none"]
    rules = objects(body.get("rules"))
    lines = [f"{title}: {counted(len(rules), 'rule')}"]
    for number, rule in enumerate(rules, 1):
        parameters = rule.get("action_parameters")
        off = "" if rule.get("enabled", True) is not False else " (disabled)"
        what = f"{_said(rule.get('action'))}{off}: {_said(rule.get('expression'))}"
        lines.append(f"  {number}. {what}  {_said(rule.get('description'))}".rstrip())
        if isinstance(parameters, Mapping):
            lines.append(f"     {one_line(json.dumps(parameters, ensure_ascii=False), LONGEST)}")
    return lines
