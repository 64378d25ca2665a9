"""The stand-ins for both firewalls: where they agree, and what tells them apart."""

from itertools import product
from typing import Any

import pytest

from edgeshift.testbed.simulator.catalogue_managed import MANAGED
from edgeshift.testbed.simulator.equivalent import (
    MANAGED_RULESET,
    OWASP_RULESET,
    OWASP_SCORE_RULE,
    equivalent_configuration,
    new_rule_id,
)
from edgeshift.testbed.simulator.events import request_fields
from edgeshift.testbed.simulator.fleet_file import FleetZone
from edgeshift.testbed.simulator.managed_rulesets import managed_ruleset
from edgeshift.testbed.simulator.signatures import Shape
from edgeshift.testbed.simulator.traffic import Client
from edgeshift.testbed.simulator.traffic_shapes import (
    ATTACKS,
    BENIGN,
    FALSE_POSITIVES,
    GAPS,
    false_positive,
    gap,
)
from edgeshift.testbed.simulator.verdicts import NewWaf, PreviousWaf, Verdict, _managed_verdicts, _Overrides
from tests.kit.zones import fleet_zone

CLIENT = Client("203.0.113.7", "DE", 64500)


def both(one: FleetZone, shape: Shape) -> tuple[list[Verdict], list[Verdict]]:
    """(what the previous WAF says, what the new one says under the equivalent configuration)."""
    values = request_fields(one, shape, CLIENT)
    return PreviousWaf(one)(shape, values), NewWaf(equivalent_configuration(one))(shape, values)


def stops(verdicts: list[Verdict]) -> bool:
    return bool(verdicts) and verdicts[-1].terminates


CARRIED = [
    {
        "owasp": {"sensitivity": sensitivity, "action_mode": action},
        "managed": {"enabled": managed},
        "enabled": enabled,
    }
    for sensitivity, action, managed, enabled in product(
        ("high", "medium", "low", "default", "off"),
        ("block", "challenge", "simulate"),
        (True, False),
        (True, False),
    )
]


@pytest.mark.parametrize("settings", CARRIED)
def test_settings_that_are_carried_over_judge_plain_traffic_alike(settings: dict[str, Any]) -> None:
    """Every benign request passes both; every attack is stopped by both or by none."""
    one = fleet_zone(previous_waf=settings)
    for shape in BENIGN:
        assert both(one, shape) == ([], []), shape.key
    for shape in ATTACKS:
        previous, new = both(one, shape)
        assert stops(previous) == stops(new), shape.key


def test_every_attack_is_stopped_at_the_defaults() -> None:
    """And each signature of an attack is really tripped."""
    for shape in ATTACKS:
        previous, new = both(fleet_zone(), shape)
        assert stops(previous) and stops(new), shape.key


@pytest.mark.parametrize("kind", FALSE_POSITIVES)
@pytest.mark.parametrize("sensitivity", ["high", "medium", "low"])
def test_a_planted_false_positive_is_stopped_by_the_new_waf_alone(kind: Any, sensitivity: str) -> None:
    """By the anomaly score at paranoia level 2; at level 1 it would pass."""
    one = fleet_zone(previous_waf={"owasp": {"sensitivity": sensitivity}})
    shape = false_positive(kind, "/editor")
    previous, new = both(one, shape)
    assert previous == [] and [verdict.rule_id for verdict in new] == [OWASP_SCORE_RULE]
    entry_point = equivalent_configuration(one)
    entry_point["rules"][-1]["action_parameters"]["overrides"]["categories"].append(
        {"category": "paranoia-level-2", "enabled": False}
    )
    assert NewWaf(entry_point)(shape, request_fields(one, shape, CLIENT)) == []


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize("sensitivity", ["high", "medium", "low"])
def test_a_planted_gap_is_stopped_by_the_previous_waf_alone(kind: Any, sensitivity: str) -> None:
    """Its rules were not carried over."""
    previous, new = both(fleet_zone(previous_waf={"owasp": {"sensitivity": sensitivity}}), gap(kind, None))
    assert stops(previous) and new == []


def attack(key: str) -> Shape:
    return next(shape for shape in ATTACKS if shape.key == key)


LOST = {"managed_settings": "lost"}


def test_a_lost_rule_setting_shows() -> None:
    """A rule that the zone had disabled is on again after the migration, unless that carries it over."""
    settings = {"managed": {"rules": {"100045": "disable"}}}
    assert both(fleet_zone(previous_waf=settings), attack("repository")) == ([], [])
    previous, new = both(fleet_zone(previous_waf=settings, migration=LOST), attack("repository"))
    assert previous == [] and [verdict.rule_id for verdict in new] == [new_rule_id("probe-git")]


def test_a_lost_group_setting_shows() -> None:
    """So is a group."""
    settings = {"managed": {"groups": {"Managed Specials": "off"}}, "owasp": {"sensitivity": "off"}}
    previous, new = both(fleet_zone(previous_waf=settings, migration=LOST), attack("sqli"))
    assert previous == [] and stops(new)


def test_modes_of_the_previous_rules_hold() -> None:
    """Simulate lets the request go on to the anomaly score; challenge stops it."""
    settings = {"managed": {"rules": {"100000": "simulate"}}, "owasp": {"action_mode": "block"}}
    previous, _ = both(fleet_zone(previous_waf=settings), attack("shell"))
    assert [(verdict.rule_id, verdict.action) for verdict in previous] == [
        ("100000", "simulate"),
        ("981176", "block"),
    ]
    previous, _ = both(fleet_zone(), attack("backup"))
    assert [verdict.action for verdict in previous] == ["challenge"]


def test_the_previous_sensitivity_decides_what_score_is_enough() -> None:
    """The core rule set alone: the higher the sensitivity, the lower the score it takes."""
    weak = Shape("weak", "attack", "GET", "/", "a=1%3D1+union+all+select+sleep(1)--+&b=concat(1)+%27+or+1")
    blocked = {
        level: stops(
            both(
                fleet_zone(previous_waf={"owasp": {"sensitivity": level}, "managed": {"enabled": False}}),
                weak,
            )[0]
        )
        for level in ("high", "medium", "low")
    }
    assert blocked == {"high": True, "medium": False, "low": False}


def test_bypassing_rules_and_page_rules_hold_before_and_after() -> None:
    """The previous WAF honours them, and so does the equivalent configuration."""
    for settings in (
        {"firewall_rules": [{"expression": "ip.src in {203.0.113.0/24}", "products": ["waf"]}]},
        {"page_rules": [{"targets": ["*shop.example/shop/*"], "actions": [{"id": "waf", "value": "off"}]}]},
        {"page_rules": [{"targets": ["shop.example/shop/*"], "actions": [{"id": "disable_security"}]}]},
    ):
        assert both(fleet_zone(**settings), attack("sqli")) == ([], [])
    paused = {"firewall_rules": [{"expression": "true", "products": ["waf"], "paused": True}]}
    assert all(stops(verdicts) for verdicts in both(fleet_zone(**paused), attack("sqli")))


def test_a_page_rule_turns_the_waf_on_where_the_zone_has_it_off() -> None:
    """Before and after."""
    settings = {
        "previous_waf": {"enabled": False},
        "page_rules": [{"targets": ["shop.example/shop/*"], "actions": [{"id": "waf", "value": "on"}]}],
    }
    assert all(stops(verdicts) for verdicts in both(fleet_zone(**settings), attack("sqli")))
    assert both(fleet_zone(**settings), attack("traversal")) == ([], [])


def new(entry_point: dict[str, Any], shape: Shape) -> list[tuple[str, str]]:
    one = fleet_zone()
    return [
        (found.rule_id, found.action)
        for found in NewWaf(entry_point)(shape, request_fields(one, shape, CLIENT))
    ]


def managed(**overrides: Any) -> dict[str, Any]:
    return {
        "rules": [
            {
                "action": "execute",
                "expression": "true",
                "action_parameters": {"id": MANAGED_RULESET, "overrides": overrides},
            }
        ]
    }


def test_overrides_of_a_rule_beat_its_category_and_that_beats_the_ruleset() -> None:
    """For the action and for enabled, at each level."""
    rule = new_rule_id("probe-git")
    shape = attack("repository")
    assert new(managed(), shape) == [(rule, "block")]
    assert new(managed(action="log"), shape) == [(rule, "log")]
    category = {"category": "specials", "action": "managed_challenge"}
    assert new(managed(action="log", categories=[category]), shape) == [(rule, "managed_challenge")]
    own = {"id": rule, "action": "log"}
    assert new(managed(categories=[category], rules=[own]), shape) == [(rule, "log")]
    assert new(managed(enabled=False), shape) == []
    assert new(managed(enabled=False, rules=[{"id": rule, "enabled": True}]), shape) == [(rule, "block")]
    assert new(managed(categories=[{"category": "specials", "enabled": False}]), shape) == []


def test_the_managed_ruleset_lists_what_its_rules_do_by_default() -> None:
    """Each rule's action, and whether it is on: those of the verdict without an override."""
    plain = _Overrides({}, frozenset())
    listed = {rule["id"]: rule for rule in managed_ruleset(MANAGED_RULESET)["rules"]}
    rules = [one for one in MANAGED if one.new]
    assert {new_rule_id(one.new) for one in rules} == set(listed)
    for one in rules:
        rule = listed[new_rule_id(one.new)]
        said = [verdict.action for verdict in _managed_verdicts(((one, 1),), plain)]
        assert said == [rule["action"]] * rule["enabled"], one.description
    assert {"block", "managed_challenge", "log"} == {rule["action"] for rule in listed.values()}


def test_skip_rules_of_every_form() -> None:
    """The current ruleset or its phase, whole managed rulesets, or single rules of one, which several skip
    rules name together; where the expression matches.
    """
    execute = managed()["rules"][0]
    rule = new_rule_id("probe-git")

    def skipping(parameters: dict[str, Any], expression: str = "true") -> dict[str, Any]:
        skip = {"action": "skip", "expression": expression, "action_parameters": parameters}
        return {"rules": [skip, execute]}

    shape = attack("repository")
    assert new(skipping({"ruleset": "current"}), shape) == []
    assert new(skipping({"ruleset": "current"}, 'http.host eq "other.example"'), shape) == [(rule, "block")]
    assert new(skipping({"rulesets": [MANAGED_RULESET]}), shape) == []
    assert new(skipping({"rulesets": [OWASP_RULESET]}), shape) == [(rule, "block")]
    assert new(skipping({"rules": {MANAGED_RULESET: [rule]}}), shape) == []
    (first, _), (second, _) = (
        skipping({"rules": {MANAGED_RULESET: names}})["rules"] for names in ([rule], ["another"])
    )
    assert new({"rules": [first, second, execute]}, shape) == []
    assert new(skipping({"phases": ["http_request_firewall_managed"]}), shape) == []
    assert new(skipping({"phases": ["http_request_firewall_custom"]}), shape) == [(rule, "block")]
    assert new({"rules": [{**execute, "enabled": False}]}, shape) == []
    assert new(skipping({"ruleset": "current"}, "no such expression"), shape) == [(rule, "block")]
