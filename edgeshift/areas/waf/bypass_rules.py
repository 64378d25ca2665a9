"""The skip rules that stand in for firewall rules with Bypass > WAF Managed Rules (docs/service.md §2.4,
§3.2). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from edgeshift.areas.waf.answers import names_waf
from edgeshift.areas.waf.page_rules import skipped_whole

MOST_COMPARED = 20_000
"""Characters of an expression that are looked at for its parts: far more than one that migrates has (§8)."""


def bypasses(rule: Mapping[str, Any]) -> bool:
    """Whether a firewall rule keeps the previous WAF off its requests now: neither it nor its filter is
    paused.
    """
    active = rule.get("paused") is not True and _filter(rule).get("paused") is not True
    return rule.get("action") == "bypass" and names_waf(rule) and active


def bypassed(rule: Mapping[str, Any]) -> str:
    """The expression of a firewall rule; empty where none was read that could be sent."""
    return _sendable(_filter(rule).get("expression")).strip()


def missing_skips(
    firewall_rules: Iterable[Mapping[str, Any]], rules: Iterable[Mapping[str, Any]]
) -> list[tuple[str, dict[str, Any]]]:
    """The skip rules that ``rules`` lack for these firewall rules, each with the identifier of its own.

    They are in an order that the list of firewall rules does not tell, nor change. Expressions are compared
    as texts, not by what they mean, alone or within an ``or``: in doubt one skip rule more is proposed, which
    skips nothing beyond what the firewall rule bypasses.
    """
    active = [rule for rule in firewall_rules if bypasses(rule) and bypassed(rule)]
    skipped, found = _skipped(rules) if active else set(), []
    for rule in sorted(active, key=lambda rule: (bypassed(rule), _sendable(rule.get("description")))):
        own = members(bypassed(rule))
        if not _are_in(own, skipped):
            skipped |= own
            found.append((str(rule.get("id", "")), bypass_skip(rule)))
    return found


def bypass_skip(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule that keeps the managed rules off what a firewall rule bypasses. Its description does not have
    the firewall rule's identifier: zones that bypass the same have the same rules, and one sign-off.
    """
    return {
        "id": "",
        "version": "",
        "action": "skip",
        "action_parameters": {"ruleset": "current"},
        "expression": bypassed(rule),
        "description": f"Bypass WAF Managed Rules: {_sendable(rule.get('description'))}".rstrip(": "),
        "ref": "",
        "enabled": True,
    }


def _skipped(rules: Iterable[Mapping[str, Any]]) -> set[str]:
    """What skip rules that come before every managed ruleset skip as a whole. A zone may have 200 rules of
    4 KB: each is read once.
    """
    return {member for one in skipped_whole(rules) for member in members(one)}


def _are_in(own: frozenset[str], skipped: set[str]) -> bool:
    return "true" in skipped or own <= skipped


# --- expressions

_TOKEN = re.compile(r'\s+|r(#*)".*?"\1|"(?:[^"\\]|\\.)*"|[(){}\[\],]|\|+|[^\s"(){}\[\],|]+', re.DOTALL)


def members(expression: str) -> frozenset[str]:
    """What an expression is an ``or`` of, each without outer brackets, and with white space that says
    nothing made alike. ``or`` binds least of all operators, so that each member matches by itself.
    """
    tokens = _tokens(expression) if len(expression) <= MOST_COMPARED else None
    closing = _closing(tokens) if tokens is not None else None
    if tokens is None or closing is None:
        return frozenset({expression.strip()})
    found = set()
    parts = [(0, len(tokens))]
    while parts:
        start, end = parts.pop()
        while start < end and closing.get(start) == end - 1:
            start, end = start + 1, end - 1
        cuts, place = [start - 1], start
        while place < end:
            if tokens[place] in ("or", "||"):
                cuts.append(place)
            place = closing.get(place, place) + 1
        if len(cuts) == 1:
            found.add(" ".join(tokens[start:end]))
        else:
            parts += [(cut + 1, until) for cut, until in zip(cuts, [*cuts[1:], end], strict=True)]
    return frozenset(found)


def _tokens(expression: str) -> list[str] | None:
    """Its texts, brackets and words; None where it is not made of these."""
    found, place = [], 0
    for token in _TOKEN.finditer(expression):
        if token.start() != place:
            return None
        place = token.end()
        if text := token[0].strip():
            found.append(text)
    return found if place == len(expression) else None


def _closing(tokens: list[str]) -> dict[int, int] | None:
    """The place of the closing bracket by that of the opening one; None where they do not fit."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token == "(":
            opened.append(place)
        elif token == ")":
            if not opened:
                return None
            found[opened.pop()] = place
    return found if not opened else None


def _filter(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    found = rule.get("filter")
    return found if isinstance(found, Mapping) else {}


def _sendable(value: object) -> str:
    """A text that has a canonical JSON; empty where it has none."""
    try:
        return value if isinstance(value, str) and value.encode() else ""
    except UnicodeEncodeError:
        return ""
