"""What is proposed for a zone: what the service returned, skip rules where a gap would open, adjustments."""

from __future__ import annotations

from typing import Any

import pytest

from edgeshift.areas.waf import (
    MANAGED_RULESET,
    OWASP_RULESET,
    Adjustment,
    Reading,
    adjust,
    covered,
    propose,
    skip_rule,
    with_assigned,
)
from edgeshift.model.digests import Body, digest

Json = dict[str, Any]


def execute(ruleset: str = MANAGED_RULESET, **overrides: Any) -> Json:
    parameters: Json = {"id": ruleset}
    if overrides:
        parameters["overrides"] = overrides
    return {"action": "execute", "expression": "true", "enabled": True, "action_parameters": parameters}


def body(*rules: Json) -> Body:
    return {"name": "default", "rules": list(rules)}


# --- the proposal


def page(pattern: str, *actions: Json, status: str = "active") -> Json:
    return {
        "id": "p",
        "status": status,
        "targets": [{"constraint": {"value": pattern}}],
        "actions": list(actions or [{"id": "waf", "value": "off"}]),
    }


def skipping(expression: str, **what: Any) -> Json:
    parameters = what or {"ruleset": "current"}
    return {"action": "skip", "expression": expression, "action_parameters": parameters}


def test_a_proposal_is_what_the_service_returned() -> None:
    """Without page rules and adjustments nothing is added, and the reading is not touched."""
    config = {"name": "", "rules": [execute()], "kind": "zone"}
    found = propose(Reading(check={}, config=config))
    assert found.body == body(execute()) and found.additions == ()
    found.body["rules"][0]["enabled"] = False
    assert config["rules"] == [execute()]
    with pytest.raises(ValueError, match="no configuration"):
        propose(Reading(check={}))


@pytest.mark.parametrize("actions", [[{"id": "waf", "value": "off"}], [{"id": "disable_security"}]])
def test_a_page_rule_that_would_open_a_gap_gets_a_skip_rule(actions: list[Json]) -> None:
    """People sign the rule that keeps the new WAF off where the old one was off; it comes first, and it is
    said.
    """
    found = propose(
        Reading(check={}, config=body(execute()), page_rules=[page("*shop.example/api/*", *actions)])
    )
    first = found.body["rules"][0]
    assert first["action"] == "skip" and first["enabled"] is True
    assert (first["id"], first["version"], first["ref"]) == ("", "", "")
    assert first["expression"] == (
        '(ends_with(lower(http.host), "shop.example")) and (starts_with(lower(http.request.uri), "/api/"))'
    )
    assert found.body["rules"][1:] == [execute()]
    assert len(found.additions) == 1 and "*shop.example/api/*" in found.additions[0]


@pytest.mark.parametrize(
    "rule",
    [
        page("*a.example/*", {"id": "waf", "value": "on"}),
        page("*a.example/*", {"id": "waf", "value": "off"}, status="disabled"),
        page("*a.example/*", {"id": "cache_level", "value": "off"}),
        {"id": "p", "status": "active", "actions": [{"id": "waf", "value": "off"}]},
    ],
)
def test_other_page_rules_add_nothing(rule: Json) -> None:
    """WAF on, disabled, about something else, or about no URL."""
    assert propose(Reading(check={}, config=body(execute()), page_rules=[rule])).additions == ()


def test_every_url_of_a_page_rule_is_kept_off_but_those_that_an_earlier_one_turns_on() -> None:
    """Each target has its skip rule; the first page rule that fits a URL is the one that counts."""
    off = {**page("*a.example/*"), "priority": 1}
    off["targets"] = [*off["targets"], {"constraint": {"value": "a.example/*"}}]
    on = {**page("a.example/pay*", {"id": "waf", "value": "on"}), "priority": 2}
    found = propose(Reading(check={}, config=body(execute()), page_rules=[off, on])).body["rules"]
    excepted = 'not ((lower(http.host) eq "a.example") and (starts_with(lower(http.request.uri), "/pay")))'
    assert [rule["expression"].endswith(f" and {excepted}") for rule in found[:2]] == [True, True]
    later = {**on, "priority": 0}
    found = propose(Reading(check={}, config=body(execute()), page_rules=[off, later])).body["rules"]
    assert not any("not (" in rule["expression"] for rule in found)
    everywhere = {**page("*", {"id": "waf", "value": "on"}), "priority": 2}
    assert propose(Reading(check={}, config=body(execute()), page_rules=[off, everywhere])).additions == ()


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"id": "a" * 32, "version": "3", "ref": "own"}, ("a" * 32, "3", "own")),
        ({}, ("", "", "")),
        ({"id": None, "version": 7, "ref": ["own"]}, ("", "", "")),
        ({"id": "no identifier", "version": "", "ref": ""}, ("", "", "")),
    ],
)
def test_what_the_service_assigns_is_sent_as_it_is_or_empty(given: Json, sent: tuple[str, ...]) -> None:
    """A commit may not leave it out, and the digest does: neither changes by an odd answer."""
    odd = body({**execute(), **given})
    found = with_assigned(odd)
    (rule,) = found["rules"]
    assert (rule["id"], rule["version"], rule["ref"]) == sent
    assert digest(found) == digest(odd) == digest(body(execute()))


COVERING = [
    ("*shop.example/api/*", 'http.request.full_uri wildcard "http*://*shop.example/api/*"'),
    ("shop.example/api/*", '(http.host eq "shop.example") and (http.request.uri wildcard "/api/*")'),
    ("shop.example/*", 'http.host eq "shop.example"'),
    ("shop.example", '(http.request.full_uri wildcard "http*://shop.example/")'),
    ("https://shop.example/*", 'http.request.full_uri wildcard "https://shop.example/*"'),
    ("a.example/*", 'http.host eq "b.example" or http.host eq "a.example"'),
    (
        "a.example/*",
        '(http.request.full_uri wildcard "http*://a.example/*") and not (http.host eq "b.example")',
    ),
    ("*anything*", "true"),
    ("*shop.example/api/*", 'http.request.full_uri contains "shop.example/api/"'),
    ("*shop.example/x", 'ends_with(lower(http.request.full_uri), "shop.example/x")'),
    ("https://shop.example/a*", 'starts_with(lower(http.request.full_uri), "https://shop.example/a")'),
    (
        "Shop.example/A*",
        '(starts_with(lower(http.request.full_uri), "http://shop.example/a")) or'
        ' (starts_with(lower(http.request.full_uri), "https://shop.example/a"))',
    ),
    ("shop.example/*", '(lower(http.host) == "shop.example" && !(http.request.uri contains "/pay"))'),
    ("shop.example/api/*", 'http.host eq "shop.example" and starts_with(http.request.uri.path, "/api/")'),
    ("http://shop.example/*", 'http.host eq "shop.example" and not ssl'),
    ("*/admin*", 'http.request.uri contains "/admin"'),
    ("shop.example*", 'http.request.full_uri wildcard "http*://shop.example*"'),
    (
        "shop.example/*.php",
        r'(lower(http.request.full_uri) matches "^http.*://shop\\.example/.*\\.php$")',
    ),
    ("https://*.example/a*b", r'lower(http.request.full_uri) ~ "^https://.*\\.example/a.*b$"'),
    ("shop.example/**.php", 'http.host eq "shop.example" and ends_with(http.request.uri, ".php")'),
]
EXCEPTED = ("b.example/*", "*/pay*")
NARROWER = [
    ("*shop.example/*", 'http.host eq "shop.example" and http.request.uri.path eq "/login"'),
    ("shop.example/*", 'http.request.full_uri wildcard "http*://shop.example/api/*"'),
    ("shop.example/*", 'http.host eq "shop.example" and ip.src eq 192.0.2.1'),
    ("shop.example/*", 'http.host eq "shop.example" and http.request.method eq "POST"'),
    ("shop.example/*", 'http.host eq "myshop.example"'),
    ("*shop.example/*", 'http.host eq "shop.example"'),
    ("shop.example/*", 'http.request.full_uri wildcard "http*://other.example/*"'),
    ("*", 'http.host eq "shop.example"'),
    ("*/admin*", 'starts_with(http.request.uri, "/admin")'),
    ("shop.example*", 'starts_with(http.host, "shop.example") and http.request.uri eq "/"'),
    ("*/*", "ip.src eq 192.0.2.1"),
    ("https://shop.example/*", 'http.request.full_uri wildcard "http://shop.example/*"'),
    ("shop.example/*", 'ip.src.country eq "XX"'),
    ("shop.example/*", ""),
    ("shop.example/a*", 'starts_with(http.request.full_uri, "http://shop.example/a")'),
    ("shop.example/A", 'http.host eq "shop.example" and http.request.uri eq "/a"'),
    ("shop.example/a*", 'http.host eq "shop.example" and http.request.uri eq "/a*"'),
    ("shop.example/a*b*", 'http.host eq "shop.example" and starts_with(http.request.uri, "/a*b")'),
    ("shop.example/a*", 'starts_with(http.user_agent, "shop.example/a")'),
    ("http://shop.example/a", '(http.host eq "shop.example") and (http.request.uri eq "/a") and (ssl)'),
    ("shop.example/admin*", 'http.host eq "shop.example" and starts_with(http.request.uri, "/admin/")'),
    ("shop.example/admin*", 'http.request.full_uri wildcard "http*://shop.example/admin/*"'),
    ("shop.example/admin*", 'starts_with(lower(http.request.full_uri), "http*://shop.example/admin/")'),
    ("shop.example/blog", 'http.host eq "shop.example" and http.request.uri eq "/blog/"'),
    ("shop.example/blog/", 'http.host eq "shop.example" and http.request.uri eq "/blog"'),
    ("shop.example//blog", 'http.host eq "shop.example" and http.request.uri eq "/blog"'),
    ("*shop.example/pay*", 'http.request.full_uri contains "shop.example/pay/"'),
    ("shop.example/*/feed", 'http.request.full_uri wildcard "http*://shop.example/*feed/"'),
    ("shop.example/*", 'starts_with(http.host, "shop.example") and http.request.uri eq "/"'),
    ("shop.example*", 'http.request.full_uri eq "https://shop.example*"'),
    ("shop.example", 'http.request.full_uri wildcard "http*://shop.example"'),
    ("shop.example/*", 'http.host eq "shop.example" and not ssl'),
    ("shop.example/*", 'http.host eq "shop.example" and not (ip.src eq 192.0.2.1)'),
    ("shop.example/*", 'http.host eq "shop.example" and http.host eq "shop.example"'),
    ("a.example/*", 'starts_with(http.host, "a.") and ends_with(http.host, "example")'),
    (
        "shop.example/api/*",
        'http.host eq "shop.example" and http.request.uri eq "/api/" and http.request.uri.path wildcard "*"',
    ),
    ("shop.example/*admin*", 'http.host eq "shop.example" and http.request.uri.path contains "admin"'),
    ("Shop.example/*", 'lower(http.host) eq "Shop.example"'),
    ("a*.example/*", r'lower(http.request.full_uri) matches "^http.*://a.*\\.example/b.*$"'),
    ("a*.example/*", r'lower(http.request.full_uri) matches "^http.*://a.*\\.example/"'),
    ("a*.example/*", r'lower(http.request.full_uri) matches "^http.*://a.*.example/.*$"'),
    ("a*.example/*", r'lower(http.request.full_uri) matches "^http.*://a.+\\.example/.*$"'),
    ("a*.example/d*", r'lower(http.request.full_uri) matches "^http.*://a.*\\.example/\\d.*$"'),
    ("a*.example/b*c", r'http.request.full_uri matches "^http.*://a.*\\.example/b\\*c$"'),
    ("shop.example/*", 'http.host eq "shop.example" or'),
    ("shop.example/*", '(http.host eq "shop.example"'),
    ("shop.example/*", f'{"(" * 40}http.host eq "shop.example"{")" * 40}'),
]


@pytest.mark.parametrize(("pattern", "expression"), COVERING)
def test_a_skip_rule_about_the_whole_pattern_covers_it(pattern: str, expression: str) -> None:
    """However it is worded; it may except page rules that come first, and nothing else."""
    theirs = skipping(expression)
    assert covered(pattern, [theirs, execute()], EXCEPTED)
    assert covered(pattern, [theirs, execute()]) is ("!" not in expression and "not (" not in expression)
    assert not covered(pattern, [{**theirs, "enabled": False}, execute()], EXCEPTED)
    assert not covered(pattern, [{**theirs, "action": "log"}, execute()], EXCEPTED)


BOTH = [execute(), execute(OWASP_RULESET)]


@pytest.mark.parametrize(
    ("rules", "covers"),
    [
        ([skipping("true"), *BOTH], True),
        ([skipping("true", phases=["http_request_firewall_managed"]), *BOTH], True),
        ([skipping("true", rulesets=[MANAGED_RULESET, OWASP_RULESET]), *BOTH], True),
        ([skipping("true", rulesets=[MANAGED_RULESET]), execute()], True),
        ([{**execute(), "enabled": False}, skipping("true"), execute(OWASP_RULESET)], True),
        ([*BOTH, skipping("true")], False),
        ([execute(), skipping("true"), execute(OWASP_RULESET)], False),
        ([skipping("true", rulesets=[MANAGED_RULESET]), *BOTH], False),
        ([skipping("true", rulesets=None), *BOTH], False),
        ([skipping("true", phases=["http_ratelimit"]), *BOTH], False),
        ([skipping("true", products=["waf"]), *BOTH], False),
        ([skipping("true", ruleset="current", rules={"x": ["y"]}), *BOTH], False),
        ([{"action": "skip", "expression": "true", "action_parameters": None}, *BOTH], False),
    ],
)
def test_a_skip_rule_covers_what_it_comes_before_and_skips_whole(rules: list[Json], covers: bool) -> None:
    """One that comes too late, or skips a part, leaves the new WAF on where the old one was off."""
    assert covered("a.example/*", rules) is covers
    found = propose(Reading(check={}, config=body(*rules), page_rules=[page("a.example/*")]))
    assert len(found.additions) == (0 if covers else 1)
    again = propose(Reading(check={}, config=found.body, page_rules=[page("a.example/*")]))
    assert again.additions == () and again.body == found.body


@pytest.mark.parametrize(("pattern", "expression"), NARROWER)
def test_a_skip_rule_about_less_does_not_cover_it(pattern: str, expression: str) -> None:
    """A part of the URLs, some clients, another host: the rest would be left with the new WAF on."""
    assert not covered(pattern, [skipping(expression), execute()])


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("shop.example/admin*", "shop.example/admin/*"),
        ("shop.example/blog", "shop.example/blog/"),
        ("*shop.example/pay*", "*shop.example/pay/*"),
        ("shop.example/*", "shop.example*"),
    ],
)
def test_page_rules_that_differ_by_a_slash_have_a_skip_rule_each(wider: str, narrower: str) -> None:
    """Also where the service returned one of them: what only the other is about would get the new WAF."""
    both = [page(wider), page(narrower)]
    for pages in (both, both[::-1]):
        found = propose(Reading(check={}, config=body(execute()), page_rules=pages))
        assert len(found.additions) == 2
        again = propose(Reading(check={}, config=found.body, page_rules=pages))
        assert again.additions == () and again.body == found.body
    theirs = body(skip_rule(narrower, "") | {"description": "theirs"}, execute())
    found = propose(Reading(check={}, config=theirs, page_rules=both))
    (addition,) = found.additions
    assert f" {wider}," in addition


@pytest.mark.parametrize(
    ("pattern", "expression"),
    [
        (
            "shop.example/api/*",
            '(lower(http.host) eq "shop.example") and (starts_with(lower(http.request.uri), "/api/"))',
        ),
        ("*shop.example/*", '(ends_with(lower(http.host), "shop.example"))'),
        ("*Shop*/*", '(lower(http.host) contains "shop")'),
        (
            "**shop.example",
            '(ends_with(lower(http.host), "shop.example")) and (lower(http.request.uri) eq "/")',
        ),
        ("shop.example", '(lower(http.host) eq "shop.example") and (lower(http.request.uri) eq "/")'),
        ("https://a.example/*", '(lower(http.host) eq "a.example") and (ssl)'),
        (
            "HTTP://a.example/x",
            '(lower(http.host) eq "a.example") and (lower(http.request.uri) eq "/x") and (not ssl)',
        ),
        ("*", "true"),
        ("*/*", "true"),
        ("*/", '(ends_with(lower(http.request.uri), "/"))'),
        ("a*", '(starts_with(lower(http.host), "a")) and (ends_with(lower(http.request.uri), "/"))'),
        (
            "shop.example/*.php",
            '(lower(http.host) eq "shop.example") and (ends_with(lower(http.request.uri), ".php"))',
        ),
        (
            "shop.example/**Admin*",
            '(lower(http.host) eq "shop.example") and (lower(http.request.uri) contains "admin")',
        ),
        ("*/*?", '(ends_with(lower(http.request.uri), "?"))'),
        ('a.example/"\\', '(lower(http.host) eq "a.example") and (lower(http.request.uri) eq "/\\"\\\\")'),
        (
            "a.example/?to=https://b.example/*",
            '(lower(http.host) eq "a.example") and'
            ' (starts_with(lower(http.request.uri), "/?to=https://b.example/"))',
        ),
    ],
)
def test_the_expression_of_a_skip_rule(pattern: str, expression: str) -> None:
    """Host and address apart; a pattern without a path is the root alone; quotes are escaped."""
    assert skip_rule(pattern, "")["expression"] == expression


# --- adjustments


def test_an_adjustment_of_a_rule_is_one_override() -> None:
    """Added where there is none, changed where there is one; the rest stays."""
    sent = body(execute(rules=[{"id": "a", "action": "block", "enabled": True}]), execute(OWASP_RULESET))
    assert adjust(sent, Adjustment(rule="a", action="log"))
    assert adjust(sent, Adjustment(rule="b", enabled=False))
    assert adjust(sent, Adjustment(ruleset=OWASP_RULESET, rule="s", score_threshold=60))
    assert sent == body(
        execute(rules=[{"id": "a", "action": "log", "enabled": True}, {"id": "b", "enabled": False}]),
        execute(OWASP_RULESET, rules=[{"id": "s", "score_threshold": 60}]),
    )


def test_an_adjustment_of_a_ruleset_overrides_it_as_a_whole() -> None:
    """And says whether there was one to adjust."""
    sent = body(execute())
    assert adjust(sent, Adjustment(action="managed_challenge"))
    assert sent == body(execute(action="managed_challenge"))
    assert not adjust(sent, Adjustment(ruleset="another", action="log"))
    found = propose(Reading(check={}, config=body(execute())), [Adjustment(ruleset="another", action="log")])
    assert found.additions == ()
    assert found.unused == ("not adjusted: another, which no rule of the configuration runs",)
