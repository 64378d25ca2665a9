"""What the service answers of a zone before its WAF migration, and how its parts are read (docs/service.md
§2.4, §4.3). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from edgeshift.model.reasons import ReasonCode

MANAGED_RULESET = "efb7b8c949ac4650a09736fc376e9aee"
OWASP_RULESET = "4814384a9e5d4991b9815dcfc25d2f1f"
"""The new managed rulesets (docs/service.md §2.4, observed): the provider's own, the core ruleset."""


AS_DELIVERED = frozenset({"default", "on"})
"""Modes of rules of the previous WAF that nobody has changed (docs/service.md §4.3, observed)."""


class Reading(BaseModel):
    """Everything that was read of a zone, as the service answered it. It is what the snapshot holds.

    ``groups``: of the previous WAF's packages; ``rules``: of theirs, those with a mode of their own. Both
    name their package by ``package_id``. ``plan``: what the zone has now, where the campaign's list has it as
    an Enterprise zone, or as ``listed``: ``other``, where the list does not tell.
    ``refused``: the support case that the service made of a reading itself, with its own words, short.
    ``stopped``: whether the service says that the calls of the previous WAF have stopped (docs/service.md
    §3.2), so that nothing of it was read.
    """

    check: dict[str, Any]
    status: dict[str, Any] | None = None
    plan: str = ""
    listed: str = ""
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
    stopped: bool = False


class PageRuleEffect(StrEnum):
    """A setting of a page rule that matters here. Its value stands in the descriptions of skip rules."""

    WAF_ON = "waf on"
    WAF_OFF = "waf off"
    SECURITY_OFF = "disable security"


def is_active(rule: Mapping[str, Any]) -> bool:
    """Whether a page rule is not disabled. One that does not say so acts: were it overlooked, the new WAF
    would stop what it excepts.
    """
    return str(rule.get("status")).lower() != "disabled"


def names_waf(rule: Mapping[str, Any]) -> bool:
    """Whether the WAF is among the products of a firewall rule."""
    products = rule.get("products")
    return any(str(one).lower() == "waf" for one in (products if isinstance(products, list | tuple) else ()))


def page_rule_effects(rule: Mapping[str, Any]) -> tuple[PageRuleEffect, ...]:
    """Which of the settings that matter here an active page rule makes."""
    if not is_active(rule):
        return ()
    found = []
    for action in objects(rule.get("actions")):
        match action.get("id"), action.get("value"):
            case "disable_security", _:
                found.append(PageRuleEffect.SECURITY_OFF)
            case "waf", "on":
                found.append(PageRuleEffect.WAF_ON)
            case "waf", "off":
                found.append(PageRuleEffect.WAF_OFF)
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
