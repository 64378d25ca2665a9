"""URL patterns of page rules as expressions: those of edgeshift, and those of the simulated service, with the
operator wildcard and without it.
"""

from __future__ import annotations

from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from edgeshift.areas.waf import NeedsWildcard, Reading, covered, propose, skip_rule
from edgeshift.messages import ChangeStatus
from edgeshift.profiles import PUBLIC_2025_04
from edgeshift.testbed.simulator.equivalent import url_expression
from edgeshift.testbed.simulator.expressions import compile_expression, wildcard_pattern
from edgeshift.testbed.simulator.verdicts import PreviousWaf
from edgeshift.testbed.simulator.verdicts import _page_pattern as fitting
from tests.kit.zones import fleet_zone
from tests.service.gate_kit import gate
from tests.service.simulated import in_process

ENTRY = "pro:/rulesets/phases/http_request_firewall_managed/entrypoint?waf_migration=pending&phase_two=1"

parts = st.sampled_from(["*", "*", "shop", ".", "example", "A", "a"])
hosts = st.lists(parts, min_size=1, max_size=4).map("".join)
paths = st.lists(st.sampled_from(["*", "/", "api", "API", "?x=1", "https://a", '"', "\\"]), max_size=4).map(
    "".join
)
schemes = st.sampled_from(["", "", "http://", "https://"])
rests = st.one_of(st.just(""), paths.map(lambda path: f"/{path}"))
patterns = st.builds(lambda scheme, host, rest: f"{scheme}{host}{rest}", schemes, hosts, rests)
names = st.lists(st.sampled_from(["shop", ".", "example", "a", "A"]), min_size=1, max_size=4).map("".join)
requests = st.builds(
    lambda ssl, host, path: {
        "http.host": host,
        "http.request.uri": f"/{path.replace('*', 'z')}",
        "http.request.full_uri": f"{'https' if ssl else 'http'}://{host}/{path.replace('*', 'z')}",
        "ssl": ssl,
    },
    st.booleans(),
    names,
    paths,
)


@settings(deadline=None)
@given(patterns, requests)
def test_the_service_says_the_same_with_the_operator_and_without(pattern: str, request: Any) -> None:
    """Whatever the page rule fits, and nothing else."""
    whole = request["http.request.full_uri"]
    expected = fitting(pattern).fullmatch(whole) is not None
    for wildcard in (True, False):
        expression = url_expression([pattern], wildcard=wildcard)
        assert compile_expression(expression)(request) is expected, expression
        assert wildcard or "wildcard" not in expression


@settings(deadline=None)
@given(patterns, requests)
def test_a_skip_rule_fits_what_the_page_rule_fits(pattern: str, request: Any) -> None:
    """Never more: the WAF would be off where it was on. Never less, where no star of the host stands for a
    slash, but for the one at its end.
    """
    expected = fitting(pattern).fullmatch(request["http.request.full_uri"]) is not None
    with_operator = skip_rule(pattern, "", wildcard=True)["expression"]
    found = compile_expression(with_operator)(request)
    assert expected or not found, with_operator
    host = pattern.removeprefix("http://").removeprefix("https://").partition("/")[0]
    if "*" not in host.rstrip("*") and not has_url(request):
        assert found is expected, with_operator
    try:
        without = skip_rule(pattern, "")["expression"]
    except NeedsWildcard:
        assert "wildcard" in with_operator
    else:
        assert without == with_operator and "wildcard" not in without


def has_url(request: Any) -> bool:
    """Whether its path has a URL: the simulator takes the scheme of that for the one that is left out."""
    return "://" in request["http.request.uri"]


def page_rule(pattern: str, value: str, priority: int) -> dict[str, Any]:
    """One that turns the WAF off or on, or that is about the cache, as a fleet has it."""
    actions = [{"id": "cache_level" if value == "bypass" else "waf", "value": value}]
    return {"targets": [pattern], "actions": actions, "status": "active", "priority": priority}


def as_read(rule: dict[str, Any]) -> dict[str, Any]:
    """The same as the service lists it."""
    return {**rule, "id": "p", "targets": [{"constraint": {"value": one}} for one in rule["targets"]]}


def address(whole: str) -> dict[str, Any]:
    """A request's fields by its URL."""
    scheme, _, rest = whole.partition("://")
    host, _, path = rest.partition("/")
    fields = {"http.host": host, "http.request.uri": f"/{path}", "http.request.full_uri": whole}
    return {**fields, "ssl": scheme == "https"}


@settings(deadline=None)
@given(
    patterns,
    st.lists(patterns, min_size=1, max_size=2),
    requests,
    st.booleans(),
    st.sampled_from(["on", "bypass"]),
)
@example("shop*", ["shop/x/*"], address("https://shop/x/"), False, "on")
@example("a/*", ["shop*"], address("https://shopa/x/"), False, "on")
@example("*", ["*shop/x*"], address("https://a/shop/x"), False, "bypass")
@example("*", ["*a*/x"], address("https://shop/a/x"), False, "on")
@example("*", ["a*shop/x"], address("https://a/b/shop/x"), True, "bypass")
def test_a_skip_rule_skips_nothing_where_the_previous_waf_runs(
    off: str, on: list[str], request: Any, wildcard: bool, first: str
) -> None:
    """Page rules that turn the WAF on, or are about something else, come first, and what they fit is excepted
    whole. With the operator, nothing else is.
    """
    assume(not has_url(request))
    pages = [*(page_rule(pattern, first, 2) for pattern in on), page_rule(off, "off", 1)]
    runs = PreviousWaf(fleet_zone(page_rules=pages))._runs(request)
    try:
        expression = skip_rule(off, "", on, wildcard=wildcard)["expression"]
    except NeedsWildcard:
        assert not wildcard
        return
    found = compile_expression(expression)(request)
    assert not (runs and found), expression
    if wildcard and compile_expression(skip_rule(off, "", wildcard=True)["expression"])(request):
        assert found is not runs, expression


STARS: list[tuple[list[dict[str, Any]], str]] = [
    (
        [page_rule("shop.example*", "on", 2), page_rule("shop.example/blog/*", "off", 1)],
        "https://shop.example/blog/x/",
    ),
    ([page_rule("*shop.example*", "off", 1)], "https://shop.example/blog/"),
    ([page_rule("shop.example*", "off", 1)], "https://shop.example/blog"),
    ([page_rule("shop.example*/x", "off", 1)], "https://shop.example/blog/x"),
    ([page_rule("*/admin*", "off", 1)], "https://shop.example/blog/admin/"),
    ([page_rule("*/", "off", 1)], "https://shop.example/blog/"),
    ([page_rule("*", "off", 1)], "https://shop.example/blog"),
    (
        [page_rule("*", "on", 2), page_rule("shop.example/*", "off", 1)],
        "https://shop.example/blog",
    ),
    (
        [page_rule("*shop.example/blog/*", "on", 2), page_rule("*", "off", 1)],
        "https://www.example/shop.example/blog/",
    ),
    ([page_rule("https*://shop.example/*", "off", 1)], "http://shop.example/"),
    (
        [page_rule("shop.example/api/*", "bypass", 2), page_rule("shop.example/*", "off", 1)],
        "https://shop.example/api/x",
    ),
    (
        [page_rule("shop.example/api/*", "bypass", 1), page_rule("shop.example/*", "off", 2)],
        "https://shop.example/api/x",
    ),
    (
        [
            page_rule("shop.example/*", "off", 1),
            page_rule("shop.example/api/*", "bypass", 2),
            page_rule("shop.example/*", "off", 3),
        ],
        "https://shop.example/api/x",
    ),
    ([page_rule("*", "bypass", 2), page_rule("shop.example/*", "off", 1)], "https://shop.example/"),
    (
        [{**page_rule("*", "bypass", 2), "status": "disabled"}, page_rule("shop.example/*", "off", 1)],
        "https://shop.example/",
    ),
]


@pytest.mark.parametrize(("pages", "whole"), STARS)
def test_the_new_waf_runs_where_the_previous_one_did(pages: list[dict[str, Any]], whole: str) -> None:
    """Where the configuration that the service returns has nothing of page rules: also for a star that ends
    the host, which may stand for the beginning of the path, too.
    """
    request = address(whole)
    rules = [{"action": "execute", "expression": "true", "action_parameters": {"id": "new"}}]
    read = [as_read(page) for page in pages]
    config = {"name": "default", "rules": rules}
    found = propose(Reading(check={}, config=config, page_rules=read), (), PUBLIC_2025_04)
    assert not found.unwritable
    skips = [rule["expression"] for rule in found.body["rules"] if rule["action"] == "skip"]
    runs = not any(compile_expression(text)(request) for text in skips)
    assert runs is PreviousWaf(fleet_zone(page_rules=pages))._runs(request), skips


# Patterns that differ by little, and requests that tell them apart.
close_hosts = st.sampled_from(["a", "ab", "*a", "a*", "*a*", "a*b", "*"])
close_paths = st.sampled_from(
    ["", "*", "/", "/*", "/x", "/x/", "/x*", "/x/*", "/*x", "/*x*", "/*/x", "//x", "/x*y", "/?x=https://a/*"]
)
close_patterns = st.builds(lambda *parts: "".join(parts), schemes, close_hosts, close_paths)
close_pairs = st.builds(
    lambda scheme, host, path, another: (f"{scheme}{host}{path}", f"{scheme}{host}{another}"),
    schemes,
    close_hosts,
    close_paths,
    close_paths,
)
close_requests = [
    {
        "http.host": host,
        "http.request.uri": f"/{path}",
        "http.request.uri.path": f"/{path}".partition("?")[0],
        "http.request.full_uri": f"{scheme}://{host}/{path}",
        "ssl": scheme == "https",
    }
    for scheme in ("http", "https")
    for host in ("a", "b", "ab", "aa", "ba", "aab")
    for path in map(
        "".join, chain(*(product(("x", "y", "/", "?", "x=https://a/"), repeat=n) for n in range(4)))
    )
]
said_whole = st.builds(
    lambda *parts: "".join(parts), schemes, close_hosts.filter(lambda host: "*" not in host[:-1]), close_paths
)
some_pages = st.lists(said_whole, min_size=1, max_size=3).flatmap(
    lambda some: st.lists(
        st.builds(
            page_rule,
            st.sampled_from(some),
            st.sampled_from(["off", "off", "on", "bypass"]),
            st.integers(1, 3),
        ),
        max_size=5,
    )
)


@settings(deadline=None)
@given(some_pages)
def test_page_rules_turn_the_new_waf_off_where_they_turned_off_the_previous_one(
    pages: list[dict[str, Any]],
) -> None:
    """In whatever order they are listed, with whatever priorities: all of it, and nothing else."""
    config = {"name": "default", "rules": skipping("true")[1:]}
    read = Reading(check={}, config=config, page_rules=[as_read(page) for page in pages])
    found = propose(read, (), PUBLIC_2025_04)
    assert not found.unwritable
    skips = [compile_expression(rule["expression"]) for rule in found.body["rules"][:-1]]
    previous = PreviousWaf(fleet_zone(page_rules=pages))
    asked = [request for request in close_requests if not has_url(request)]
    skipped = [request for request in asked if any(test(request) for test in skips)]
    assert skipped == [request for request in asked if not previous._runs(request)], found.body


tests = st.one_of(
    st.sampled_from(["ssl", "not ssl", "true"]),
    st.builds(
        lambda field, test, text: test.format(field, text),
        st.sampled_from(
            ["http.host", "http.request.uri", "http.request.uri.path", "lower(http.request.full_uri)"]
        ),
        st.sampled_from(
            [
                '{} eq "{}"',
                '{} contains "{}"',
                'starts_with({}, "{}")',
                'ends_with({}, "{}")',
                '{} wildcard "{}*"',
                '{} matches "^{}.*$"',
                '{} matches "{}$"',
                '{} wildcard "http*://a{}*"',
            ]
        ),
        st.sampled_from(["a", "/", "/x", "/x/", "x", "https://a/", "a/", "a/x", "?x", ""]),
    ),
)
joined = st.recursive(
    tests,
    lambda inner: st.builds(
        lambda how, one, other: how.format(one, other),
        st.sampled_from(["({}) and ({})", "({}) or ({})", "{} and {}", "{} or {}"]),
        inner,
        inner,
    ),
    max_leaves=4,
)


def wordings(pattern: str) -> list[str]:
    """Of edgeshift and of the service, by either profile."""
    theirs = [url_expression([pattern], wildcard=wildcard) for wildcard in (True, False)]
    return [skip_rule(pattern, "", wildcard=True)["expression"], *theirs]


def skipping(expression: str) -> list[dict[str, Any]]:
    skip = {"action": "skip", "expression": expression, "action_parameters": {"ruleset": "current"}}
    return [skip, {"action": "execute", "expression": "true", "action_parameters": {"id": "new"}}]


def fits(pattern: str, request: Any) -> bool:
    """Whether a request is one of a page rule's, where a star of its host ends at the first slash, but for
    the one at its end.
    """
    scheme, _, rest = pattern.partition("://") if pattern.startswith("http") else ("", "", pattern)
    host, slash, path = rest.partition("/")
    if scheme and (scheme == "https") is not request["ssl"]:
        return False
    everything = not slash and not host.strip("*")
    return everything or all(
        wildcard_pattern(part).fullmatch(request[field]) is not None
        for part, field in ((host, "http.host"), (f"{'*' * host.endswith('*')}/{path}", "http.request.uri"))
    )


@settings(deadline=None)
@given(st.one_of(close_pairs, st.tuples(close_patterns, close_patterns)), joined)
def test_a_skip_rule_that_covers_a_page_rule_fits_all_that_it_fits(
    pair: tuple[str, str], expression: str
) -> None:
    """Whatever the skip rule was made for, and whatever it says: no URL is left with the new WAF on."""
    pattern, another = pair
    for said in (*wordings(another), expression):
        if covered(pattern, skipping(said)):
            test = compile_expression(said)
            left = [request for request in close_requests if fits(pattern, request) and not test(request)]
            assert left == [], said


def test_a_scheme_of_many_stars_is_read_at_once() -> None:
    """Each of them would be tried with every length, and the worker would stand still."""
    pattern = f"{'*' * 1_000}x://shop.example/a"
    assert "ssl" not in skip_rule(pattern, "many stars", wildcard=True)["expression"]


@settings(deadline=None)
@given(close_patterns)
def test_the_service_s_own_skip_rule_covers_its_page_rule(pattern: str) -> None:
    """And so does that of edgeshift."""
    for said in wordings(pattern):
        assert covered(pattern, skipping(said)), said


@pytest.mark.parametrize(
    ("profile", "expression", "status"),
    [
        ("specification", 'http.host wildcard "*shop.example"', 400),
        ("specification", 'http.host eq "wildcard"', 200),
        ("public-2025-04", 'http.host wildcard "*shop.example"', 200),
    ],
)
async def test_the_service_of_the_specification_refuses_the_operator(
    tmp_path: Path, profile: str, expression: str, status: int
) -> None:
    """In a migration and in any other PUT; a text that has the word is none."""
    skip = {"action": "skip", "expression": expression, "action_parameters": {"ruleset": "current"}}
    async with in_process(tmp_path, profile=profile) as call:
        body = await call.result("GET", "pro:/waf_migration/config?phase_two=1")
        custom = "pro:/rulesets/phases/http_request_firewall_custom/entrypoint"
        for path, rules in ((custom, [{**skip, "action": "log"}]), (ENTRY, [skip, *body["rules"]])):
            answer = await call("PUT", path, {"name": "default", "rules": rules})
            assert answer.status_code == status, answer.text
            assert status == 200 or "unknown operator 'wildcard'" in answer.text


async def test_a_page_rule_that_cannot_be_written_is_noticed_before_a_commit(tmp_path: Path) -> None:
    """It came after the sign-off, and makes no other body of it: nothing is sent."""
    rules = [{"targets": ["bank.example/a*b"], "actions": [{"id": "waf", "value": "off"}]}]
    async with gate(tmp_path, settings={"migration": {"page_rules": "left_out"}}) as play:
        await play.control.send("PATCH", f"zones/{play.zone.id}", {"add_page_rules": rules})
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.DRIFTED and "page rules have changed" in result.reason
        assert await play.sent() == []
