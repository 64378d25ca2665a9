"""Rules of the new WAF that a zone has already, and that go with a change: the ``PUT`` of an entry point
replaces all that were there (docs/service.md §4.3). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.areas.waf.body import shadow, unsound
from edgeshift.areas.waf.losses import LONGEST_NAME
from edgeshift.areas.waf.plain import plain, without_given
from edgeshift.areas.waf.rule_items import items
from edgeshift.model.body_view import as_text
from edgeshift.model.digests import Body, canonical_bytes

_NO_VERSION = {"rules": [{"action": "execute"}]}
"""A body whose rule names no version of its managed ruleset."""


def replaced(stored: Mapping[str, Any] | None, *bodies: Body) -> tuple[str, ...]:
    """The rules of an entry point that are in none of these bodies, nor in the form of one that only logs, a
    few words each, without their expressions. ``stored``: as the service answers it, None where there is
    none. ``bodies``: what would be sent, and what edgeshift has sent before. The version of a managed ruleset
    counts where a body names one. A rule that cannot be read is in none.
    """
    rules = (stored or {}).get("rules") or []
    if not isinstance(rules, list):
        rules = [rules]
    if not rules:
        return ()
    forms = [form for body in bodies for form in (body, shadow(body))]
    known = {key for form in forms for rule in form["rules"] if (key := _key(rule)) is not None}
    return tuple(
        f"rule {place} of the new WAF as it is: {_does(rule)}"
        for place, rule in enumerate(rules, start=1)
        if known.isdisjoint({_key(rule), _key(rule, _NO_VERSION)})
    )


def _key(rule: Any, beside: Mapping[str, Any] | None = None) -> bytes | None:
    """What tells a rule from others; None of one that cannot be read. ``beside``: a body without versions,
    where the one of the rule is not to count.
    """
    alone: Mapping[str, Any] = {"rules": [rule]}
    if unsound(alone) is not None:
        return None
    try:
        return canonical_bytes(plain(without_given(alone, beside) if beside else alone)["rules"])
    except RecursionError:
        return None


def _does(rule: Any) -> str:
    if not isinstance(rule, Mapping):
        return as_text(rule)[:LONGEST_NAME]
    item = items({"rules": [rule]}, None)[0]
    does = item.title.partition(": ")[2][:LONGEST_NAME]
    description = str(rule.get("description") or "")[:LONGEST_NAME]
    return f"{does} ({description})" if description else does
