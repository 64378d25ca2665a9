"""The skip rules that stand in for page rules which turn the previous WAF off (docs/service.md §2.4, §3.2).
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from edgeshift.areas.waf.answers import PageRuleEffect, Reading, page_rule_effects, page_rule_patterns
from edgeshift.areas.waf.url_patterns import apart, is_about, without_case


class NeedsWildcard(ValueError):
    """A ``pattern`` of URLs that only the operator ``wildcard`` says, where the service does not know it."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"{pattern} has a star in its middle")
        self.pattern = pattern


# --- writing them


def skip_rule(
    pattern: str, description: str, excepted: Iterable[str] = (), *, wildcard: bool = False
) -> dict[str, Any]:
    """A rule that keeps the managed rules from running on a URL pattern with ``*`` for anything, but for the
    patterns ``excepted``. ``wildcard``: whether the service knows the operator of that name. Raises
    NeedsWildcard.

    A pattern without a path is about the root alone, as it was in the page rule. What the service assigns is
    empty, as in the rules that it returns itself (docs/service.md §2.4).
    """
    tests = [url_test(pattern, wildcard=wildcard)]
    tests += [f"not ({url_test(other, wildcard=wildcard)})" for other in excepted]
    return {
        "id": "",
        "version": "",
        "action": "skip",
        "action_parameters": {"ruleset": "current"},
        "expression": " and ".join(test for test in tests if test != "true") or "true",
        "description": description,
        "ref": "",
        "enabled": True,
    }


def turned_on_before(rule: Mapping[str, Any], reading: Reading) -> list[str]:
    """The patterns of page rules that turn the WAF on and come before ``rule``: by their higher priority, or
    earlier in the list.
    """
    ordered = sorted(reading.page_rules, key=_priority, reverse=True)
    before = ordered[: next(place for place, other in enumerate(ordered) if other is rule)]
    return [
        pattern
        for other in before
        if PageRuleEffect.WAF_ON in page_rule_effects(other)
        for pattern in page_rule_patterns(other)
    ]


def _priority(rule: Mapping[str, Any]) -> float:
    found = rule.get("priority")
    return found if isinstance(found, int | float) and found == found else 0


def fits_all(pattern: str) -> bool:
    """Whether every URL fits a pattern."""
    return url_test(pattern, wildcard=True) == "true"


def url_test(pattern: str, *, wildcard: bool = False) -> str:
    """The expression for a URL pattern of a page rule; ``true`` for one that every URL fits. Raises
    NeedsWildcard.

    The page rule's pattern is about the whole URL, with its query string; here host and the rest are tested
    apart, so that a star in the host ends at the first slash, and nothing is left out that the page rule did
    not leave out.
    """
    scheme, rest = apart(pattern)
    host, slash, path = rest.partition("/")
    try:
        tests = [_test("http.host", host, wildcard=wildcard)]
        # Every URL has a path that begins with a slash.
        if (slash or host.strip("*")) and set(path) != {"*"}:
            tests.append(_test("http.request.uri", _shorter("/" + path), wildcard=wildcard))
    except NeedsWildcard:
        raise NeedsWildcard(pattern) from None
    if scheme in ("http", "https"):
        tests.append("ssl" if scheme == "https" else "not ssl")
    return " and ".join(f"({test})" for test in tests if test) or "true"


def _shorter(path: str) -> str:
    """Without its slash where a star follows that alone makes it one in the middle: every path begins with a
    slash, and ``/*.php`` fits what ends with ``.php``. (Not ``/*/feed``: ``/feed`` does not fit it.)
    """
    return path[1:] if re.fullmatch(r"/\*+[^*/][^*]*\**", path) else path


def _test(field: str, pattern: str, *, wildcard: bool) -> str:
    """That a field fits a pattern, without case, as page rules have it; empty where anything does."""
    parts = re.split(r"\*+", pattern)
    said = [part for part in parts if part]
    if not said:
        return ""
    if len(said) > 1:
        # The parts in their order, without overlapping: no other operators together say that.
        if not wildcard:
            raise NeedsWildcard(pattern)
        return f"{field} wildcard {_quoted(pattern)}"
    lowered, text = f"lower({field})", _quoted(without_case(said[0]))
    match (parts[0] == "", parts[-1] == ""):
        case (True, True):
            return f"{lowered} contains {text}"
        case (True, False):
            return f"ends_with({lowered}, {text})"
        case (False, True):
            return f"starts_with({lowered}, {text})"
        case _:
            return f"{lowered} eq {text}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# --- recognising those of the service


def covered(pattern: str, rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a skip rule among ``rules`` is about this URL pattern, and not about a part of it alone, comes
    before every managed ruleset that is run, and skips all of them. In doubt it is not covered, and one skip
    rule more is proposed.
    """
    return any(_holds(expression, pattern) for expression in skipped_whole(rules))


def skipped_whole(rules: Iterable[Mapping[str, Any]]) -> list[str]:
    """The expressions of the skip rules that come before every managed ruleset that is run, and skip all of
    them.
    """
    listed = list(rules)
    executed = [_parameters(rule).get("id") for rule in listed if _runs(rule)]
    return [
        str(rule.get("expression", ""))
        for rule in takewhile(lambda rule: not _runs(rule), listed)
        if rule.get("action") == "skip"
        and rule.get("enabled", True)
        and _skips_all(_parameters(rule), executed)
    ]


def skips_the_rest(parameters: Mapping[str, Any]) -> bool:
    """Whether a skip rule with these parameters skips whatever comes after it in the entry point."""
    phases = parameters.get("phases")
    whole = isinstance(phases, list) and "http_request_firewall_managed" in phases
    return parameters.get("ruleset") == "current" or whole


def _skips_all(parameters: Mapping[str, Any], executed: Iterable[object]) -> bool:
    if parameters.get("rules"):
        return False
    named = parameters.get("rulesets")
    return skips_the_rest(parameters) or (isinstance(named, list) and all(one in named for one in executed))


def _runs(rule: Mapping[str, Any]) -> bool:
    return rule.get("action") == "execute" and rule.get("enabled", True) is not False


def _parameters(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    found = rule.get("action_parameters")
    return found if isinstance(found, Mapping) else {}


def _holds(expression: str, pattern: str) -> bool:
    return expression.strip("() ") == "true" or is_about(expression, pattern)
