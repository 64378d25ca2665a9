"""A snapshot is shown whole: whatever was read of a zone before its migration stands in a line."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import MANAGED_RULESET, Reading
from edgeshift.model.fleet import Area
from edgeshift.views.areas.waf_snapshot import snapshot_lines
from edgeshift.views.parts import VIEWS

Json = dict[str, Any]
READ: Json = {
    "check": {"compatible": True},
    "status": {"migration_state": "start"},
    "waf_setting": {"id": "waf", "value": "on"},
    "packages": [{"id": "core", "name": "Core", "detection_mode": "anomaly", "sensitivity": "low"}],
    "groups": [
        {"id": "g1", "name": "Bad Robots", "package_id": "core", "mode": "off"},
        {"id": "g2", "name": "SQL", "package_id": "core", "mode": "on"},
    ],
    "rules": [
        {
            "id": "981138",
            "description": "A robot",
            "group": {"name": "Bad Robots"},
            "package_id": "core",
            "mode": "off",
        }
    ],
    "overrides": [{"id": "o1", "urls": ["shop.example/admin/*"], "rules": {"100008": "simulate"}}],
    "firewall_rules": [
        {
            "id": "f1",
            "action": "bypass",
            "products": ["waf"],
            "paused": True,
            "description": "Office",
            "filter": {"expression": "ip.src eq 192.0.2.1"},
        },
        {"id": "f2", "action": "block", "filter": {"expression": 'http.host eq "x"'}},
    ],
    "page_rules": [
        {
            "id": "p1",
            "status": "active",
            "priority": 2,
            "actions": [{"id": "waf", "value": "off"}],
            "targets": [{"constraint": {"value": "*shop.example/api/*"}}],
        }
    ],
    "entry_point": {"rules": [{"action": "log", "expression": "true", "enabled": False}]},
    "config": {
        "rules": [
            {
                "action": "execute",
                "expression": "true",
                "description": "Runs it",
                "action_parameters": {"id": MANAGED_RULESET, "overrides": {"action": "log"}},
            }
        ]
    },
}


def test_everything_that_was_read_is_there() -> None:
    """The previous WAF, what went past it, and both rulesets; settings by identifier and description."""
    lines = snapshot_lines(Reading(**READ))
    text = "\n".join(lines)
    for part in (
        "previous WAF: on",
        "migration: start",
        "package Core: detection mode anomaly, sensitivity low",
        "2 groups, 1 off",
        "off: Bad Robots (g1)",
        "1 rule with a mode of its own",
        "981138: off  A robot [Bad Robots]",
        "o1: shop.example/admin/*: rules 100008=simulate",
        "f1 (paused): bypass waf: Office: ip.src eq 192.0.2.1",
        'f2: block: http.host eq "x"',
        "p1 (active, priority 2): *shop.example/api/*: waf=off",
        "entry point then: 1 rule",
        "1. log (disabled): true",
        "1. execute: true  Runs it",
        MANAGED_RULESET,
    ):
        assert part in text, part
    nothing = snapshot_lines(Reading(check={}))
    assert "packages: none" in nothing and "entry point then: none" in nothing


def test_what_stands_in_a_rule_reaches_no_terminal_as_it_is() -> None:
    """Control characters are left out, in descriptions as in expressions."""
    rule = {
        "id": "f\x1b[2J",
        "action": "bypass",
        "products": ["waf"],
        "filter": {"expression": "a\x1b[31m\n"},
    }
    assert "\x1b" not in "".join(snapshot_lines(Reading(check={}, firewall_rules=[rule])))


def test_a_migrated_zone_is_not_as_it_was_before() -> None:
    """Its snapshot has no previous WAF any more."""
    part = VIEWS.of(Area.WAF)
    migrated = {"new_waf_status": "enabled", "old_waf_status": "disabled", "migration_state": "complete"}
    assert part.is_before(READ) and not part.is_before({"status": migrated})
    assert part.snapshot_lines(READ) == snapshot_lines(Reading(**READ))


KEYS = st.sampled_from(["id", "urls", "rules", "actions", "targets", "filter", "group", "value"])
odd = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(KEYS, odd, max_size=5), max_size=4))
def test_odd_answers_are_shown_as_they_are(items: list[Json]) -> None:
    """Nothing that the service may say is an error here, and each item has its line."""
    found = Reading(check={}, overrides=items, firewall_rules=items, page_rules=items, packages=items)
    assert len(snapshot_lines(found)) > 3 * len(items)
