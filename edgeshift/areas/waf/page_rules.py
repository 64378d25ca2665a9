"""The skip rules that stand in for page rules which turn the previous WAF off (docs/service.md §2.4, §3.2).
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from edgeshift.areas.waf.answers import (
    PageRuleEffect,
    Reading,
    is_active,
    page_rule_effects,
    page_rule_patterns,
)
from edgeshift.areas.waf.url_patterns import (
    apart,
    host_and_path,
    is_about,
    one_star,
    schemes_of,
    without_case,
)


class Unwritable(ValueError):
    """A ``pattern`` of URLs that no expression says."""

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(f"{pattern} has {why}")
        self.pattern = pattern


class NeedsWildcard(Unwritable):
    """One that only the operator ``wildcard`` says, where the service does not know it."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern, "a star in its middle")


class TooLong(Unwritable):
    """One whose expression would be longer than the service takes."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern, "more than an expression holds")


MOST_HOST_STARS = 8
"""Stars in the host of an excepted pattern: its expression says where each may end."""


# --- writing them


def skip_rule(
    pattern: str, description: str, excepted: Iterable[str] = (), *, wildcard: bool = False
) -> dict[str, Any]:
    """A rule that keeps the managed rules from running on a URL pattern with ``*`` for anything, but for the
    patterns ``excepted``. ``wildcard``: whether the service knows the operator of that name. Raises
    Unwritable.

    It skips nothing that the page rule did not: of the pattern it may have less, and of an excepted one more.
    A pattern without a path is about the root alone, as it was in the page rule. What the service assigns is
    empty, as in the rules that it returns itself (docs/service.md §2.4).
    """
    tests = [url_test(pattern, wildcard=wildcard)]
    tests += [f"not ({url_test(other, wildcard=wildcard, whole=True)})" for other in excepted]
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


_OFF = frozenset({PageRuleEffect.WAF_OFF, PageRuleEffect.SECURITY_OFF})


def turns_off(rule: Mapping[str, Any]) -> list[PageRuleEffect]:
    """The settings of an active page rule that turn the previous WAF off, in the order of their words."""
    return sorted(_OFF.intersection(page_rule_effects(rule)))


def off_but_for(reading: Reading) -> Iterator[tuple[Mapping[str, Any], list[str]]]:
    """The active page rules that turn the WAF off, each with the patterns of those before it that do not: by
    falling priority, and as they are listed where that is the same. Only the first one that fits a URL takes
    effect, whatever it is about (docs/service.md §2.4): there the one that turns the WAF off does not.

    So what a later one of the same pattern is to except has all that an earlier one is to.
    """
    before: list[str] = []
    for rule in sorted(reading.page_rules, key=_priority, reverse=True):
        if turns_off(rule):
            yield rule, list(before)
        elif is_active(rule):
            before += page_rule_patterns(rule)


def _priority(rule: Mapping[str, Any]) -> float:
    found = rule.get("priority")
    return found if isinstance(found, int | float) and found == found else 0


def fits_all(pattern: str) -> bool:
    """Whether every URL fits a pattern."""
    return not names_port(pattern) and url_test(pattern, wildcard=True) == "true"


def names_port(pattern: str) -> bool:
    """Whether a pattern names a port, which ``http.host`` may not have: no expression says it."""
    return ":" in re.split("[/?]", apart(pattern)[1], maxsplit=1)[0]


def url_test(pattern: str, *, wildcard: bool = False, whole: bool = False) -> str:
    """The expression for a URL pattern of a page rule; ``true`` for one that every URL fits. Raises
    Unwritable.

    The page rule's pattern is about the whole URL, with its query string; here host and the rest are tested
    apart. A star that ends the host may stand for the beginning of the path, too, and any other one of the
    host ends at the first slash: fewer URLs, and none that does not fit. ``whole``: all that fit, and where
    the service does not know ``wildcard``, maybe more.
    """
    if names_port(pattern):
        raise Unwritable(pattern, "a port in its host")
    scheme, rest = apart(pattern)
    host, path = host_and_path(rest)
    try:
        found = [_parts_test(scheme, host, path, wildcard=wildcard)]
    except NeedsWildcard:
        raise NeedsWildcard(pattern) from None
    if whole and host.count("*") > MOST_HOST_STARS:
        raise TooLong(pattern)
    for star in re.finditer(r"\*(?!$)", host) if whole else ():
        # It stands for the end of the host, the first slash, and what the path has before the next text.
        begin, beyond = host[: star.end()], one_star(host[star.start() :] + path)
        found.append(_parts_test(scheme, begin, beyond, wildcard=wildcard, loosely=True))
    return " or ".join(f"({one})" for one in found) if len(found) > 1 else found[0]


def _parts_test(scheme: str, host: str, path: str, *, wildcard: bool, loosely: bool = False) -> str:
    """That scheme, host and path fit each a pattern; ``true`` where any do."""
    tests = [_test("http.host", host, wildcard=wildcard, loosely=loosely)]
    # Every URL has a path that begins with a slash.
    if path != "/*":
        tests.append(_test("http.request.uri", _shorter(path), wildcard=wildcard, loosely=loosely))
    if len(named := schemes_of(scheme)) == 1:
        tests.append("ssl" if "https" in named else "not ssl")
    return " and ".join(f"({test})" for test in tests if test) or "true"


def _shorter(path: str) -> str:
    """Without its slash where a star follows that alone makes it one in the middle: every path begins with a
    slash, and ``/*.php`` fits what ends with ``.php``. (Not ``/*/feed``: ``/feed`` does not fit it.)
    """
    return path[1:] if re.fullmatch(r"/\*+[^*/][^*]*\**", path) else path


def _test(field: str, pattern: str, *, wildcard: bool, loosely: bool) -> str:
    """That a field fits a pattern, without case, as page rules have it; empty where anything does.
    ``loosely``: without the operator, by its parts in whatever order.
    """
    parts = pattern.split("*")
    said = [part for part in parts if part]
    if not said:
        return ""
    if len(said) > 1:
        # The parts in their order, without overlapping: no other operators together say that.
        if wildcard:
            return f"{field} wildcard {_quoted(pattern)}"
        if not loosely:
            raise NeedsWildcard(pattern)
        last = len(parts) - 1
        alone = ["*" * (at > 0) + part + "*" * (at < last) for at, part in enumerate(parts) if part]
        return " and ".join(_test(field, one, wildcard=False, loosely=True) for one in alone)
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


def covered(pattern: str, rules: Iterable[Mapping[str, Any]], before: Sequence[str] = ()) -> bool:
    """Whether a skip rule among ``rules`` is about this URL pattern, and not about a part of it alone, comes
    before every managed ruleset that is run, and skips all of them. It may except the patterns ``before``, of
    page rules that come first. In doubt it is not covered, and one skip rule more is proposed.
    """
    return any(_holds(expression, pattern, before) for expression in skipped_whole(rules))


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


def _holds(expression: str, pattern: str, before: Sequence[str]) -> bool:
    return expression.strip("() ") == "true" or is_about(expression, pattern, before)
