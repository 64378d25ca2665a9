"""What is left to do by hand after a zone has moved is found and written in a form that can be used."""

from __future__ import annotations

from typing import Any

import pytest

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET, skip_rule
from edgeshift.areas.waf.aftercare import aftercare
from edgeshift.areas.waf.evidence import EvidencePolicy, judge
from edgeshift.areas.waf.losses import Loss, SettingKind
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.areas.waf.plain import plain
from edgeshift.areas.waf.terraform import DEFAULT_RANGE, EntryPoint
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Plan, Zone
from edgeshift.profiles import PROFILES, PUBLIC_2025_04, SPECIFICATION
from edgeshift.testbed.simulator.ruleset_checks import unknown_operator
from tests.rules.hcl_kit import resources, versions_in

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


def event(ray: str, source: str, action: str, path: str, **more: Any) -> dict[str, Any]:
    return {
        "rayName": ray,
        "source": source,
        "action": action,
        "ruleId": "rule",
        "rulesetId": MANAGED_RULESET,
        "clientRequestPath": path,
        **more,
    }


def test_terraform_is_written_for_a_range_that_it_names() -> None:
    """The zone's entry point with its import, as the usual range of the provider reads it."""
    found = aftercare(ZONE, BODY, (), None, entry=EntryPoint(id="c" * 32, name="default"))
    assert found.provider == DEFAULT_RANGE.name and DEFAULT_RANGE.constraint in found.terraform
    for version in versions_in(DEFAULT_RANGE.constraint):
        (resource,) = resources(found.terraform, version)
        assert plain({"name": "default", "rules": resource.rules}) == plain(BODY)
        assert resource.label == "shop_example_waf_managed"
    assert f'id = "zone/{ZONE.id}/{"c" * 32}"' in found.terraform
    assert "import {" not in aftercare(ZONE, BODY, (), None).terraform


def test_a_zone_is_migrated_also_where_terraform_cannot_be_written() -> None:
    """The place is named in a comment; the rest of the aftercare is as ever."""
    odd: Body = {"name": "default", "rules": [{**BODY["rules"][0], "position": {"before": "x"}}]}
    lost = Loss(kind=SettingKind.RULE, package="Core", id="981138", name="Robots", mode="off")
    found = aftercare(ZONE, odd, (lost,), None)
    assert found.terraform.startswith("# Nothing is written: rules[0].position cannot be written")
    assert found.losses == (lost,) and found.review and found.state_rm


def test_the_legacy_resources_leave_the_state_before_the_import() -> None:
    """A refresh of them would fail at an API that is gone; the verbs that do all of it are named."""
    steps = aftercare(ZONE, BODY, (), None, campaign="waf-1").state_rm
    removed = [place for place, step in enumerate(steps) if step.startswith("terraform state rm")]
    (applied,) = [place for place, step in enumerate(steps) if step.startswith("terraform apply")]
    assert len(removed) == 4 and max(removed) < applied
    assert "edgeshift check shop.example" in steps[applied + 1]
    assert steps[-1].endswith("edgeshift export terraform waf-1 --zone shop.example")


def test_what_was_lost_and_what_stops_wrongly_is_to_be_reviewed() -> None:
    """Losses always; with evidence its false positives, without it the events that came after."""
    events = [event("a", "firewallManaged", "log", "/cart"), event("b", "waf", "block", "/old")]
    evidence = judge(events, frozenset({MANAGED_RULESET}), "shadow", EvidencePolicy())
    lost = Loss(kind=SettingKind.RULE, package="Core", id="981138", name="Robots", mode="off")
    with_evidence = aftercare(ZONE, BODY, (lost,), evidence)
    assert with_evidence.losses == (lost,)
    first, second = with_evidence.review
    assert first.startswith("nothing comes near to 1 lost setting of the previous rules")
    assert second.startswith("rule rule stopped 1 request on /cart that the previous WAF let through")
    assert "security events" in aftercare(ZONE, BODY, (), None).review[0]
    assert aftercare(ZONE, BODY, (), None).custom_rules == ()


@pytest.mark.parametrize(("mode", "action"), [("shadow", "log"), ("enforce", "block")])
def test_the_score_rule_is_not_to_be_set_to_log(mode: str, action: str) -> None:
    """It acts for the whole core ruleset: people are told of the rules that add to the score, of the
    threshold and of the path instead. Any other rule is overridden with action log.
    """
    score = {"ruleId": OWASP_SCORE_RULE, "rulesetId": OWASP_RULESET}
    name = "949110: Inbound Anomaly Score Exceeded"
    events = [
        event("a", "firewallManaged", action, "/save", description=name, **score),
        event("b", "firewallManaged", action, "/cart"),
    ]
    evidence = judge(events, frozenset({MANAGED_RULESET, OWASP_RULESET}), mode, EvidencePolicy())
    review = aftercare(ZONE, BODY, (), evidence).review
    (of_score,) = [line for line in review if "/save" in line]
    (of_other,) = [line for line in review if "/cart" in line]
    assert of_score.startswith(
        f"the OWASP score rule ({OWASP_SCORE_RULE}; in events '{name}') stopped 1 request"
    )
    assert "override it" not in of_score and "score_threshold" in of_score
    assert of_score.endswith("with action log, the core ruleset would stop nothing")
    assert of_other.startswith("rule rule stopped") and of_other.endswith("override it with action log")


def test_without_evidence_the_score_rule_is_told_apart_where_it_runs() -> None:
    """A zone without a window is reviewed by its events, which name the score rule as any other."""
    apart = [line for line in aftercare(ZONE, BODY, (), None).review if OWASP_SCORE_RULE in line]
    assert len(apart) == 1 and "score_threshold" in apart[0]
    parameters = {"id": MANAGED_RULESET}
    managed = {"action": "execute", "expression": "true", "action_parameters": parameters}
    alone: Body = {"name": "default", "rules": [managed]}
    assert not [line for line in aftercare(ZONE, alone, (), None).review if OWASP_SCORE_RULE in line]


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
    for profile in PROFILES.values():
        (rule,) = aftercare(ZONE, BODY, (), evidence, profile=profile).custom_rules
        assert rule["expression"] == expression
        assert rule["enabled"] is False


@pytest.mark.parametrize(
    ("path", "with_operator", "without"),
    [
        (
            "/user/ann@shop.example/edit",
            '(http.request.uri.path wildcard "/user/*/edit")',
            '(starts_with(http.request.uri.path, "/user/"))',
        ),
        (
            '/u"r/123456789/x/987654321',
            '(http.request.uri.path wildcard "/u\\"r/*/x/*")',
            '(starts_with(http.request.uri.path, "/u\\"r/"))',
        ),
        ("/a/123456789/edit", '(http.request.uri.path wildcard "/a/*/edit")', ""),
        ("/a/123456789", "", ""),
    ],
)
def test_a_path_with_a_part_hidden_takes_operators_that_the_service_knows(
    path: str, with_operator: str, without: str
) -> None:
    """Where too little is left of it without the operator wildcard, people look at it themselves."""
    evidence = judge([event("b", "waf", "block", path)], frozenset(), "shadow", EvidencePolicy())
    for profile, expression in ((PUBLIC_2025_04, with_operator), (SPECIFICATION, without)):
        found = aftercare(ZONE, BODY, (), evidence, profile=profile)
        assert [rule["expression"] for rule in found.custom_rules] == ([expression] if expression else [])
        assert any("too little is known of the path" in line for line in found.review) is not bool(expression)
        assert not any(unknown_operator(rule["expression"], profile) for rule in found.custom_rules)
