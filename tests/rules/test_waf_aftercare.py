"""What is left to do by hand after a zone has moved is found and written in a form that can be used."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET, skip_rule
from edgeshift.areas.waf.aftercare import aftercare, terraform
from edgeshift.areas.waf.evidence import EvidencePolicy, judge
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Plan, Zone

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
BODY: Body = {
    "name": "default",
    "rules": [
        skip_rule("*shop.example/api/*", "skip"),
        {
            "action": "execute",
            "expression": "true",
            "enabled": True,
            "action_parameters": {
                "id": OWASP_RULESET,
                "overrides": {
                    "categories": [{"category": "paranoia-level-3", "enabled": False}],
                    "rules": [{"id": "s", "score_threshold": 40}, {"id": "t", "action": "log"}],
                },
            },
        },
    ],
}


def event(ray: str, source: str, action: str, path: str) -> dict[str, Any]:
    return {
        "rayName": ray,
        "source": source,
        "action": action,
        "ruleId": "rule",
        "rulesetId": MANAGED_RULESET,
        "clientRequestPath": path,
    }


def test_terraform_has_every_rule_and_an_import() -> None:
    """The zone's entry point as one resource, its nested objects as blocks."""
    text = aftercare(ZONE, BODY, (), None).terraform
    assert "to = cloudflare_ruleset.shop_example_waf_managed" in text
    assert 'resource "cloudflare_ruleset" "shop_example_waf_managed"' in text
    assert text.count("  rules {\n") == 2 + 2
    assert 'phase   = "http_request_firewall_managed"' in text
    assert (
        '        categories {\n          category = "paranoia-level-3"\n          enabled = false\n        }'
        in text
    )
    assert text.count("{") == text.count("}")


@given(st.text(max_size=30))
def test_terraform_never_sees_a_template_in_a_text(text: str) -> None:
    """``${`` and ``%{`` are escaped, quotes and line ends too: a description is one string."""
    written = terraform(
        ZONE, "x", {"name": "n", "rules": [{"action": "skip", "description": f"${{{text}%{{"}]}, "r"
    )
    line = next(line for line in written.split("\n") if "description" in line)
    inside = line.partition("= ")[2]
    assert inside.startswith('"$${') and inside.endswith('%%{"')
    assert not re.search(r'(?<!\\)(?:\\\\)*"', inside[1:-1])


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("shop.example", "shop_example"),
        ("a-b.example", "a-b_example"),
        ("1shop.example", "zone_1shop_example"),
    ],
)
def test_a_resource_has_a_name_that_terraform_takes(name: str, label: str) -> None:
    """It begins with a letter, and two zones have two names."""
    zone = ZONE.model_copy(update={"name": name})
    assert f'"{label}_waf_managed"' in aftercare(zone, BODY, (), None).terraform


def test_the_import_names_the_ruleset_that_is_in_force() -> None:
    """As it was read back; a place to fill in where nobody knows it."""
    assert f'id = "zone/{ZONE.id}/abc"' in aftercare(ZONE, BODY, (), None, ruleset="abc").terraform
    assert f'id = "zone/{ZONE.id}/<RULESET_ID>"' in aftercare(ZONE, BODY, (), None).terraform


def test_the_legacy_resources_leave_the_state_before_the_import() -> None:
    """A refresh of them would fail at an API that is gone."""
    steps = aftercare(ZONE, BODY, (), None).state_rm
    assert "import" in steps[-1]
    assert [step for step in steps if step.startswith("terraform state rm")] == list(steps[1:-1])


def test_what_was_lost_and_what_stops_wrongly_is_to_be_reviewed() -> None:
    """Losses always; with evidence its false positives, without it the events that came after."""
    events = [event("a", "firewallManaged", "log", "/cart"), event("b", "waf", "block", "/old")]
    evidence = judge(events, frozenset({MANAGED_RULESET}), "shadow", EvidencePolicy())
    with_evidence = aftercare(ZONE, BODY, ("3 rules",), evidence)
    assert with_evidence.review == (
        "re-create by hand: 3 rules",
        "rule rule stopped 1 request on /cart that the previous WAF let through",
    )
    assert "security events" in aftercare(ZONE, BODY, (), None).review[0]
    assert aftercare(ZONE, BODY, (), None).custom_rules == ()


@pytest.mark.parametrize(
    ("path", "expression"),
    [
        ("/old", '(http.request.uri.path eq "/old")'),
        ('/a"b\\c', '(http.request.uri.path eq "/a\\"b\\\\c")'),
        ("/é", '(http.request.uri.path eq "/é")'),
        ("/" + "x" * 400, '(starts_with(http.request.uri.path, "/' + "x" * 199 + '"))'),
    ],
)
def test_a_gap_becomes_a_custom_rule_that_is_off(path: str, expression: str) -> None:
    """A person turns it on: it is a proposal for what only the previous WAF stopped."""
    evidence = judge([event("b", "waf", "block", path)], frozenset(), "shadow", EvidencePolicy())
    (rule,) = aftercare(ZONE, BODY, (), evidence).custom_rules
    assert rule["expression"] == expression
    assert rule["enabled"] is False
