"""The equivalent configuration: what the migration carries over, and what it loses (docs/service.md §3.2)."""

from typing import Any

import pytest

from edgeshift.profiles import PUBLIC_2025_04, SPECIFICATION
from edgeshift.testbed.simulator.equivalent import (
    MANAGED_RULESET,
    OWASP_RULESET,
    OWASP_SCORE_RULE,
    eligible,
    equivalent_configuration,
    longest_expression_bytes,
    new_rule_id,
    phase_one_eligible,
    rules_to_migrate,
    url_expression,
)
from edgeshift.testbed.simulator.expressions import compile_expression
from edgeshift.testbed.simulator.previous_waf import signatures
from edgeshift.testbed.simulator.verdicts import _page_pattern
from tests.kit.zones import fleet_zone


def executes(configuration: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        rule["action_parameters"]["id"]: rule
        for rule in configuration["rules"]
        if rule["action"] == "execute"
    }


def skips(configuration: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for rule in configuration["rules"] if rule["action"] == "skip"]


def page(target: str, setting: str, value: str | None = None, **more: Any) -> dict[str, Any]:
    return {"targets": [target], "actions": [{"id": setting, "value": value}], **more}


def hits(expression: str, address: str) -> bool:
    return compile_expression(expression)({"http.request.full_uri": address})


def test_a_rule_of_the_configuration_has_every_field() -> None:
    """The shape of docs/service.md §2.4: id, version and ref are there and empty."""
    configuration = equivalent_configuration(fleet_zone())
    assert configuration["name"] == "default"
    for rule in configuration["rules"]:
        assert list(rule) == [
            "id",
            "version",
            "action",
            "expression",
            "description",
            "ref",
            "enabled",
            "action_parameters",
        ]
        assert (rule["id"], rule["version"], rule["ref"], rule["expression"]) == ("", "", "", "true")


@pytest.mark.parametrize(
    ("sensitivity", "threshold"), [("high", 40), ("medium", 25), ("low", 40), ("default", 40)]
)
def test_sensitivity_becomes_a_threshold_at_paranoia_level_two(sensitivity: str, threshold: int) -> None:
    """Whatever the sensitivity, levels 3 and 4 are off; the threshold follows the table."""
    owasp = executes(
        equivalent_configuration(fleet_zone(previous_waf={"owasp": {"sensitivity": sensitivity}}))
    )[OWASP_RULESET]
    overrides = owasp["action_parameters"]["overrides"]
    assert owasp["enabled"] is True
    assert overrides["categories"] == [
        {"category": "paranoia-level-3", "enabled": False},
        {"category": "paranoia-level-4", "enabled": False},
    ]
    assert [(rule["id"], rule["score_threshold"]) for rule in overrides["rules"]] == [
        (OWASP_SCORE_RULE, threshold)
    ]


@pytest.mark.parametrize(
    ("mode", "action"), [("simulate", "log"), ("block", "block"), ("challenge", "managed_challenge")]
)
def test_the_action_mode_becomes_the_score_rules_action(mode: str, action: str) -> None:
    """Simulate becomes log."""
    owasp = executes(equivalent_configuration(fleet_zone(previous_waf={"owasp": {"action_mode": mode}})))[
        OWASP_RULESET
    ]
    assert owasp["action_parameters"]["overrides"]["rules"][0]["action"] == action


def test_what_was_off_is_off() -> None:
    """A package that was off, and the whole WAF off, give disabled rules."""
    off = executes(equivalent_configuration(fleet_zone(previous_waf={"owasp": {"sensitivity": "off"}})))
    assert (off[MANAGED_RULESET]["enabled"], off[OWASP_RULESET]["enabled"]) == (True, False)
    off = executes(equivalent_configuration(fleet_zone(previous_waf={"managed": {"enabled": False}})))
    assert (off[MANAGED_RULESET]["enabled"], off[OWASP_RULESET]["enabled"]) == (False, True)
    off = executes(equivalent_configuration(fleet_zone(previous_waf={"enabled": False})))
    assert not any(rule["enabled"] for rule in off.values())


def test_rule_and_group_settings_of_the_core_rule_set_are_lost() -> None:
    """They change nothing in it; nor do those of the provider's rules where the zone says so."""
    core = {"owasp": {"rules": {"950921": "off"}, "groups": {"OWASP Bad Robots": "off"}}}
    assert equivalent_configuration(fleet_zone(previous_waf=core)) == equivalent_configuration(fleet_zone())
    tuned = {"managed": {"rules": {"100008": "disable"}, "groups": {"Managed Php": "off"}}}
    lost = fleet_zone(previous_waf=tuned, migration={"managed_settings": "lost"})
    assert equivalent_configuration(lost) == equivalent_configuration(fleet_zone())


def test_settings_of_the_provider_s_rules_are_carried_over() -> None:
    """A rule's mode as its action, a rule or group that is off as rules that are; others have no override."""
    tuned = {
        "managed": {
            "rules": {"100008": "simulate", "100045": "disable", "100018": "challenge"},
            "groups": {"Managed Php": "off"},
        }
    }
    one = fleet_zone(previous_waf=tuned)
    listed = executes(equivalent_configuration(one))[MANAGED_RULESET]["action_parameters"]["overrides"][
        "rules"
    ]
    by_rule = {item["id"]: item for item in listed}
    assert by_rule[new_rule_id("sqli-union")] == {
        "id": new_rule_id("sqli-union"),
        "action": "log",
        "enabled": True,
    }
    assert by_rule[new_rule_id("probe-git")]["enabled"] is False
    assert by_rule[new_rule_id("sqli-delay")]["action"] == "managed_challenge"
    php = {
        new_rule_id(rule.new) for rule in signatures("managed") if rule.group == "Managed Php" and rule.new
    }
    assert php and set(by_rule) == php | {
        new_rule_id(key) for key in ("sqli-union", "probe-git", "sqli-delay")
    }
    assert all(by_rule[rule] == {"id": rule, "enabled": False} for rule in php)
    plain = executes(equivalent_configuration(fleet_zone()))[MANAGED_RULESET]
    assert "overrides" not in plain["action_parameters"]


def test_bypassing_rules_become_skip_rules_in_their_order() -> None:
    """Bypass with waf among the products; nothing else is carried over; paused stays off."""
    rules = [
        {"expression": "ssl", "products": ["waf"], "description": "first"},
        {"expression": "ssl", "products": ["rateLimit"]},
        {"expression": "not ssl", "products": ["uaBlock", "waf"], "paused": True},
        {"expression": "ssl", "action": "block", "products": ["waf"]},
    ]
    found = skips(equivalent_configuration(fleet_zone(firewall_rules=rules)))
    assert [(rule["expression"], rule["enabled"]) for rule in found] == [("ssl", True), ("not ssl", False)]
    assert all(rule["action_parameters"] == {"ruleset": "current"} for rule in found)
    assert "first" in found[0]["description"]
    assert len(rules_to_migrate(fleet_zone(firewall_rules=rules))) == 2


@pytest.mark.parametrize("setting", [("waf", "off"), ("disable_security", None)])
def test_page_rules_that_turn_it_off_become_skip_rules(setting: tuple[str, str | None]) -> None:
    """The expression follows the URL pattern: any scheme, `*` for anything, host and path without case."""
    (rule,) = skips(
        equivalent_configuration(fleet_zone(page_rules=[page("*shop.example/api/*.json", *setting)]))
    )
    assert hits(rule["expression"], "https://www.shop.example/api/v1/a.json?x=1") is False
    assert hits(rule["expression"], "https://www.shop.example/api/v1/a.json")
    assert hits(rule["expression"], "http://SHOP.example/api/.json")
    assert not hits(rule["expression"], "https://shop.example/apis")


def test_a_page_rule_with_several_patterns_and_a_scheme() -> None:
    """Any of the patterns counts; a named scheme is kept; a quotation mark stays inside its string."""
    targets = ["https://shop.example/a*", 'shop.example/b"c']
    (rule,) = skips(
        equivalent_configuration(
            fleet_zone(page_rules=[{"targets": targets, "actions": [{"id": "waf", "value": "off"}]}])
        )
    )
    assert hits(rule["expression"], "https://shop.example/abc") and not hits(
        rule["expression"], "http://shop.example/abc"
    )
    assert hits(rule["expression"], 'http://shop.example/b"c')


@pytest.mark.parametrize("wildcard", [True, False])
@pytest.mark.parametrize(
    ("pattern", "address"),
    [
        ("shop.example/r?u=https://x*", "http://shop.example/r?u=https://x.example"),
        ("http*://shop.example/r?u=https://x", "https://shop.example/r?u=https://x"),
    ],
)
def test_a_url_in_the_query_of_a_pattern_is_no_scheme(pattern: str, address: str, wildcard: bool) -> None:
    """The pattern begins with its scheme; the previous WAF and the new configuration agree on that."""
    expression = url_expression([pattern], wildcard=wildcard)
    assert hits(expression, address) and _page_pattern(pattern).fullmatch(address)
    other = "https://x.example/"
    assert not hits(expression, other) and not _page_pattern(pattern).fullmatch(other)


@pytest.mark.parametrize("wildcard", [True, False])
@pytest.mark.parametrize("pattern", ["*", "**", "https://*", "http*://*"])
def test_a_star_alone_is_every_url(pattern: str, wildcard: bool) -> None:
    """And not the roots alone."""
    for whole in ("https://shop.example/blog", "https://shop.example/"):
        assert hits(url_expression([pattern], wildcard=wildcard), whole)
        assert _page_pattern(pattern).fullmatch(whole)
    assert hits(url_expression([pattern], wildcard=wildcard), "http://a/b") is ("https" not in pattern)


def test_disabled_and_other_page_rules_are_not_carried_over() -> None:
    """Only active ones with the settings in question."""
    rules = [page("a/*", "waf", "off", status="disabled"), page("a/*", "cache_level", "bypass")]
    assert skips(equivalent_configuration(fleet_zone(page_rules=rules))) == []


def test_the_page_rule_of_higher_priority_wins() -> None:
    """WAF: On above WAF: Off keeps the WAF running there."""
    rules = [
        page("shop.example/api/*", "waf", "off", priority=1),
        page("shop.example/api/login", "waf", "on", priority=2),
    ]
    (rule,) = skips(equivalent_configuration(fleet_zone(page_rules=rules)))
    assert hits(rule["expression"], "https://shop.example/api/orders")
    assert not hits(rule["expression"], "https://shop.example/api/login")


@pytest.mark.parametrize("wildcard", [True, False])
def test_a_page_rule_about_something_else_wins_as_well(wildcard: bool) -> None:
    """Where it fits first, one that turns the WAF off takes no effect; a disabled one fits nothing."""
    facts = PUBLIC_2025_04 if wildcard else SPECIFICATION
    rules = [
        page("shop.example/*", "waf", "off", priority=1),
        page("shop.example/api/*", "cache_level", "bypass", priority=2),
        page("shop.example/blog/*", "cache_level", "bypass", priority=3, status="disabled"),
    ]
    (rule,) = skips(equivalent_configuration(fleet_zone(page_rules=rules), facts))
    assert not hits(rule["expression"], "https://shop.example/api/orders")
    assert hits(rule["expression"], "https://shop.example/blog/new")
    assert hits(rule["expression"], "https://shop.example/")
    rules[0] = page("shop.example/*", "waf", "on", priority=1)
    zone = fleet_zone(previous_waf={"enabled": False}, page_rules=rules)
    for rule in executes(equivalent_configuration(zone, facts)).values():
        assert not hits(rule["expression"], "https://shop.example/api/orders")
        assert hits(rule["expression"], "https://shop.example/blog/new")


def test_a_page_rule_on_runs_the_new_waf_there_when_the_zone_has_it_off() -> None:
    """WAF off for the zone, On for some URLs: the rulesets run on those alone."""
    configuration = equivalent_configuration(
        fleet_zone(previous_waf={"enabled": False}, page_rules=[page("shop.example/login*", "waf", "on")])
    )
    for rule in executes(configuration).values():
        assert rule["enabled"] and hits(rule["expression"], "https://shop.example/login?x")
        assert not hits(rule["expression"], "https://shop.example/")


def test_expressions_are_measured_in_bytes() -> None:
    """UTF-8 bytes of the longest expression that migrates; others do not count."""
    rules = [
        {"expression": 'http.host eq "ü語"', "products": ["waf"]},
        {"expression": "x" * 9000, "products": ["rateLimit"]},
    ]
    assert longest_expression_bytes(fleet_zone(firewall_rules=rules)) == len('http.host eq ""') + 5
    assert longest_expression_bytes(fleet_zone()) == 0


PHASE_ONE = [
    ({"previous_waf": {"enabled": False}}, True),
    ({"previous_waf": {"owasp": {"sensitivity": "off"}}}, True),
    ({}, False),
    ({"previous_waf": {"owasp": {"sensitivity": "off"}, "managed": {"enabled": False}}}, False),
    (
        {"previous_waf": {"enabled": False}, "firewall_rules": [{"expression": "ssl", "products": ["waf"]}]},
        False,
    ),
    (
        {"previous_waf": {"enabled": False}, "firewall_rules": [{"expression": "ssl", "action": "block"}]},
        True,
    ),
    ({"previous_waf": {"enabled": False}, "page_rules": [page("a/*", "waf", "on")]}, False),
    ({"previous_waf": {"enabled": False}, "page_rules": [page("a/*", "disable_security")]}, False),
    ({"previous_waf": {"enabled": False}, "page_rules": [page("a/*", "ssl", "full")]}, True),
    ({"previous_waf": {"enabled": False}, "uri_overrides": [{"urls": ["a/*"]}]}, False),
]


@pytest.mark.parametrize(("settings", "answer"), PHASE_ONE)
def test_phase_one_asks_for_more(settings: dict[str, Any], answer: bool) -> None:
    """Each condition of phase 1; phase 2 asks only that there is no URI override."""
    assert phase_one_eligible(fleet_zone(**settings)) is answer
    assert eligible(fleet_zone(**settings)) is ("uri_overrides" not in settings)
