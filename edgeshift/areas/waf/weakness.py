"""Where a body only logs, part by part: what people see before they sign, and after a commit. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.areas.waf.body import Effect, effect
from edgeshift.areas.waf.names import NAMES


def only_logging(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The parts of a body that run and only log, in words: rules, whole rulesets, single rules of one."""
    found: list[str] = []
    for rule in body.get("rules") or ():
        if effect(rule) is Effect.NOTHING:
            continue
        if rule.get("action") != "execute":
            if effect(rule) is Effect.LOGS:
                found.append(f"the rule on {str(rule.get('expression'))[:80]}")
            continue
        parameters = rule.get("action_parameters") or {}
        name = name_of(parameters)
        overrides = parameters.get("overrides") or {}
        if overrides.get("action") == "log" and overrides.get("enabled") is not False:
            found.append(name if effect(rule) is Effect.LOGS else f"{name}, but for what it names")
        for item in [*(overrides.get("rules") or ()), *(overrides.get("categories") or ())]:
            if item.get("action") == "log" and item.get("enabled") is not False:
                what = f"rule {item['id']}" if item.get("id") else f"category {item.get('category')}"
                found.append(f"{what} of {name}")
    return tuple(found)


def name_of(parameters: Mapping[str, Any]) -> str:
    """What the ruleset is called that an execute rule with these parameters runs."""
    return NAMES.get(str(parameters.get("id")), f"ruleset {parameters.get('id')}")


def weakened(body: Mapping[str, Any], signed: Mapping[str, Any]) -> tuple[str, ...]:
    """The parts that only log in ``body`` and do not in what was signed."""
    agreed = set(only_logging(signed))
    return tuple(part for part in only_logging(body) if part not in agreed)
