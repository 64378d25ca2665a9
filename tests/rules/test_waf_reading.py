"""What reading tells of a zone: limits are counted before anything is sent (docs/service.md §3.2, §7, §8)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas import waf
from edgeshift.areas.waf import (
    Assessment,
    Reading,
    Verdict,
    expression_bytes,
    in_validation,
    is_migrated,
    is_migrated_to,
    is_past,
    migrates,
    page_rule_effects,
    page_rule_patterns,
)
from edgeshift.areas.waf.answers import PageRuleEffect
from edgeshift.areas.waf.bypass_rules import bypasses
from edgeshift.model.fleet import Plan
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import SPECIFICATION

assess = partial(waf.assess, profile=SPECIFICATION)

Json = dict[str, Any]

START = {"migration_state": "start", "old_waf_status": "enabled", "new_waf_status": "disabled"}
VALIDATION = {"migration_state": "validation", "old_waf_status": "enabled", "new_waf_status": "enabled"}
COMPLETE = {"migration_state": "complete", "old_waf_status": "disabled", "new_waf_status": "enabled"}


def bypass(number: int = 0, expression: str = "ip.src eq 192.0.2.1", **more: Any) -> Json:
    """A firewall rule that migrates."""
    return {
        "id": f"{number:032x}",
        "action": "bypass",
        "products": ["waf"],
        "filter": {"id": "f", "expression": expression},
        **more,
    }


def page(*actions: Json, pattern: str = "*shop.example/*", status: str = "active") -> Json:
    target = {"target": "url", "constraint": {"operator": "matches", "value": pattern}}
    return {"id": "p1", "targets": [target], "actions": list(actions), "status": status}


def reading(**more: Any) -> Reading:
    """A zone that has not begun and may, unless told otherwise."""
    return Reading(**{"check": {"compatible": True, "migration_state": "start"}, "status": START, **more})


def verdict(**more: Any) -> tuple[Verdict, tuple[ReasonCode, ...]]:
    found = assess(reading(**more))
    return found.verdict, found.causes


def test_a_zone_within_every_limit_is_ready() -> None:
    """Compatible, no overrides, not begun."""
    found = assess(reading(firewall_rules=[bypass()]))
    assert (found.verdict, found.migrating_rules, found.longest_expression) == (Verdict.READY, 1, 19)
    assert found.migration_state == "start"


@pytest.mark.parametrize(
    ("rules", "expected"), [(0, Verdict.READY), (200, Verdict.READY), (201, Verdict.NEEDS_SUPPORT)]
)
def test_at_most_200_rules_migrate(rules: int, expected: Verdict) -> None:
    """200 may, 201 need the provider's support, and all of them are named."""
    found = assess(reading(firewall_rules=[bypass(number) for number in range(rules)]))
    assert (found.verdict, found.migrating_rules) == (expected, rules)
    if expected is Verdict.NEEDS_SUPPORT:
        assert found.causes == (ReasonCode.TOO_MANY_RULES,)
        assert len(found.rules) == rules
        assert "201" in found.reasons[0] and "200" in found.reasons[0]


@pytest.mark.parametrize("letter", ["x", "é", "語", "🦊"])
@pytest.mark.parametrize(("over", "expected"), [(0, Verdict.READY), (1, Verdict.NEEDS_SUPPORT)])
def test_an_expression_has_at_most_4096_bytes(letter: str, over: int, expected: Verdict) -> None:
    """Bytes of UTF-8, not characters: 4,096 may migrate, 4,097 need support, and only the long one is
    named.
    """
    wide = len(letter.encode())
    text = letter * (4096 // wide) + "y" * (4096 % wide + over)
    assert len(text.encode()) == 4096 + over and (wide == 1 or len(text) < 4096)
    found = assess(reading(firewall_rules=[bypass(1), bypass(2, text)]))
    assert (found.verdict, found.longest_expression) == (expected, 4096 + over)
    if expected is Verdict.NEEDS_SUPPORT:
        assert found.causes == (ReasonCode.EXPRESSION_TOO_LONG,)
        assert found.rules == ((f"{2:032x}", 4097),)


def test_both_limits_make_two_causes() -> None:
    """Each has a ticket of its own."""
    rules = [bypass(number) for number in range(200)] + [bypass(200, "x" * 5000)]
    assert verdict(firewall_rules=rules) == (
        Verdict.NEEDS_SUPPORT,
        (ReasonCode.TOO_MANY_RULES, ReasonCode.EXPRESSION_TOO_LONG),
    )


@pytest.mark.parametrize(
    "other",
    [
        {"products": ["zoneLockdown", "uaBlock"]},
        {"products": []},
        {"products": None},
        {"action": "allow", "products": ["waf"]},
        {"action": "block", "products": []},
    ],
)
def test_only_bypass_of_the_waf_counts(other: Json) -> None:
    """Firewall rules that do something else stay where they are, however many and however long."""
    rule = bypass(1, "x" * 9000, **other)
    assert not migrates(rule)
    assert assess(reading(firewall_rules=[rule] * 500)).verdict is Verdict.READY


def test_a_bypass_of_the_waf_among_other_products_counts_also_when_paused() -> None:
    """It migrates with them, on or off."""
    assert migrates(bypass(products=["rateLimit", "waf"], paused=True))


@pytest.mark.parametrize("word", ["WAF", "Waf"])
def test_how_the_waf_is_written_among_the_products_does_not_matter(word: str) -> None:
    """The case of a word is no reason to overlook what migrates, or what the new WAF would stop."""
    rule = bypass(products=["rateLimit", word])
    assert migrates(rule) and bypasses(rule)
    assert not migrates(bypass(products=["wafer"])) and not migrates(bypass(products="waf"))


@pytest.mark.parametrize("status", ["Active", None, "", "enabled"])
def test_a_page_rule_that_is_not_said_to_be_disabled_acts(status: str | None) -> None:
    """Were it overlooked, the new WAF would stop what it excepts."""
    rule = {"targets": [], "actions": [{"id": "waf", "value": "off"}], "status": status}
    for one in (rule, {key: value for key, value in rule.items() if key != "status"}):
        assert page_rule_effects(one) == (PageRuleEffect.WAF_OFF,)
    for word in ("disabled", "Disabled"):
        assert page_rule_effects({**rule, "status": word}) == ()


@pytest.mark.parametrize("action", ["interrogate", None])
def test_a_rule_for_the_waf_whose_action_nobody_knows_counts(action: str | None) -> None:
    """As in a spoilt answer: a zone over a limit is not sent what the service would refuse."""
    assert migrates(bypass(action=action))
    found = assess(reading(firewall_rules=[bypass(1, "x" * 4097, action=action)]))
    assert found.causes == (ReasonCode.EXPRESSION_TOO_LONG,)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_length_is_that_of_utf_8(expression: str) -> None:
    """For every text."""
    assert expression_bytes(bypass(expression=expression)) == len(expression.encode())


@pytest.mark.parametrize(
    "odd", [{}, {"filter": None}, {"filter": "x"}, {"filter": {"expression": 7}}, {"filter": []}]
)
def test_a_rule_without_a_readable_expression_is_no_error(odd: Json) -> None:
    """A deleted filter leaves none; its length is 0."""
    assert expression_bytes({"action": "bypass", **odd}) == 0


@given(st.integers(0, 400), st.lists(st.integers(1, 9000), max_size=5), st.integers(0, 3), st.booleans())
def test_over_a_limit_never_ready(short: int, sizes: list[int], overrides: int, compatible: bool) -> None:
    """Whatever else holds: too many or too long is never ready, and within every limit is ready when
    compatible.
    """
    rules = [bypass(n) for n in range(short)] + [bypass(1000 + n, "x" * size) for n, size in enumerate(sizes)]
    found = assess(
        reading(
            check={"compatible": compatible},
            firewall_rules=rules,
            overrides=[{"id": str(number)} for number in range(overrides)],
        )
    )
    over = len(rules) > 200 or any(size > 4096 for size in sizes)
    assert (found.verdict is Verdict.READY) == (compatible and not over and not overrides)
    assert (found.verdict is Verdict.NEEDS_SUPPORT) == over
    assert (ReasonCode.URI_OVERRIDES in found.causes) == (bool(overrides) and not over)
    assert any("URI-based" in reason for reason in found.reasons) == bool(overrides)
    assert found.migrating_rules == len(rules)


def test_uri_overrides_block_and_are_named() -> None:
    """Whatever the check says; the first five by name."""
    overrides = [{"id": f"o{number}", "urls": ["x"]} for number in range(7)]
    found = assess(reading(check={"compatible": False}, overrides=overrides))
    assert (found.verdict, found.causes) == (Verdict.BLOCKED, (ReasonCode.URI_OVERRIDES,))
    assert found.overrides == tuple(f"o{number}" for number in range(7))
    assert "7 URI-based" in found.reasons[0] and "o4, …" in found.reasons[0] and "o5" not in found.reasons[0]


@pytest.mark.parametrize(
    "check", [{"compatible": False}, {}, {"compatible": None}, {"compatible": "true"}, {"compatible": 1}]
)
def test_what_is_not_clearly_compatible_is_blocked(check: Json) -> None:
    """Only ``true`` is; an answer without the field fails closed."""
    assert verdict(check=check) == (Verdict.BLOCKED, (ReasonCode.NOT_COMPATIBLE,))


def test_a_zone_in_validation_is_adopted_within_the_limits() -> None:
    """Somebody began by hand; a zone over a limit still goes to support first."""
    assert verdict(status=VALIDATION) == (Verdict.IN_VALIDATION, ())
    assert verdict(status=VALIDATION, firewall_rules=[bypass(1, "x" * 4097)])[0] is Verdict.NEEDS_SUPPORT


def test_a_migrated_zone_is_left_alone() -> None:
    """Whatever else is read of it: there is nothing to do, and nothing left to lose."""
    found = assess(reading(check={"compatible": False}, status=COMPLETE, overrides=[{"id": "o"}]))
    assert (found.verdict, found.losses, found.warnings) == (Verdict.ALREADY_MIGRATED, (), ())


@pytest.mark.parametrize(
    ("status", "migrated"),
    [
        (COMPLETE, True),
        ({**COMPLETE, "migration_state": "default"}, True),
        ({**COMPLETE, "migration_state": "something new"}, True),
        ({**COMPLETE, "migration_state": None}, True),
        ({**COMPLETE, "migration_state": "validation"}, False),
        ({**COMPLETE, "migration_state": "start"}, False),
        ({**COMPLETE, "old_waf_status": "enabled"}, False),
        ({**COMPLETE, "new_waf_status": "disabled"}, True),
        ({**COMPLETE, "new_waf_status": "disabled", "migration_state": "default"}, False),
        ({**COMPLETE, "new_waf_status": "disabled", "migration_state": "something new"}, False),
        ({**COMPLETE, "new_waf_status": "disabled", "migration_state": None}, False),
        ({**COMPLETE, "new_waf_status": "disabled", "migration_state": "validation"}, False),
        ({**START, "old_waf_status": "disabled"}, False),
        ({**COMPLETE, "new_waf_status": None}, False),
        ({**COMPLETE, "old_waf_status": "draining"}, False),
        ({"migration_state": "complete"}, False),
        ({**COMPLETE, "new_waf_status": "ENABLED?"}, False),
        (START, False),
        (VALIDATION, False),
        ({}, False),
        (None, False),
    ],
)
def test_migrated_means_old_off_and_new_on_unless_complete(status: Json | None, migrated: bool) -> None:
    """The switches say it, not the name of the state alone; an unknown state does not hinder. With both off,
    as where no rule of the new WAF runs, ``complete`` says it. What is neither on nor off is on its way.
    """
    assert is_migrated(status) is migrated


def test_a_body_that_runs_is_migrated_to_with_the_new_waf_on() -> None:
    """While the status calls it off, nothing is known to protect the zone."""
    off = {**COMPLETE, "new_waf_status": "disabled"}
    rule = {"action": "execute", "expression": "true", "action_parameters": {"id": waf.MANAGED_RULESET}}
    full, empty = {"rules": [rule]}, {"rules": [{**rule, "enabled": False}]}
    shown = (COMPLETE, off, START, None)
    assert [is_migrated_to(status, full) for status in shown] == [True, False, False, False]
    assert [is_migrated_to(status, empty) for status in shown] == [True, True, False, False]


@pytest.mark.parametrize(
    ("state", "old", "migrated"),
    [
        ("default", "disabled", True),
        ("something new", "disabled", True),
        ("start", "disabled", False),
        ("validation", "disabled", False),
        ("default", "enabled", False),
        ("default", "draining", False),
    ],
)
def test_stopped_calls_count_where_the_status_does_not_speak_against_it(
    state: str, old: str, migrated: bool
) -> None:
    """A zone that never had a WAF on shows the same as one that was migrated to rules that are off."""
    status = {"migration_state": state, "old_waf_status": old, "new_waf_status": "disabled"}
    assert is_past(reading(status=status, stopped=True)) is migrated
    assert not is_past(reading(status=status))


def test_validation_is_the_state_of_that_name() -> None:
    """Nothing else is validation mode."""
    assert in_validation(VALIDATION)
    assert not any(in_validation(status) for status in (None, {}, START, COMPLETE))


def test_the_service_may_count_the_expressions_of_any_rule() -> None:
    """4 KB is counted over rules that migrate; where the service refuses for another one, the ticket has the
    rules that it can be about.
    """
    other = bypass(7, "x" * 4097, action="block", products=[])
    refused = (ReasonCode.EXPRESSION_TOO_LONG, "an expression is longer than 4 KB, please contact support")
    found = assess(reading(firewall_rules=[bypass(1), other], refused=refused))
    assert (found.verdict, found.causes) == (Verdict.NEEDS_SUPPORT, (ReasonCode.EXPRESSION_TOO_LONG,))
    assert [(one.code, one.case) for one in found.why] == [
        (ReasonCode.SUPPORT_REFUSAL, ReasonCode.EXPRESSION_TOO_LONG)
    ]
    assert found.rules == ((f"{7:032x}", 4097),)
    assert assess(reading(firewall_rules=[other])).verdict is Verdict.READY


def test_an_enterprise_zone_that_is_none_any_more_is_blocked() -> None:
    """Its validation would be refused. A limit that it is over is told before."""
    assert verdict(plan="pro") == (Verdict.BLOCKED, (ReasonCode.OTHER_PLAN,))
    assert verdict(plan="enterprise") == (Verdict.READY, ())
    assert verdict(plan="pro", firewall_rules=[bypass()] * 201)[1] == (ReasonCode.TOO_MANY_RULES,)


def test_a_zone_of_which_nobody_knows_the_plan_is_blocked() -> None:
    """It may be an Enterprise zone, which has to be validated first; one that has no window goes on."""
    for plan in ("", "other", "enterprise"):
        assert verdict(listed="other", plan=plan) == (Verdict.BLOCKED, (ReasonCode.PLAN_UNKNOWN,))
    for plan in ("free", "pro", "business"):
        assert verdict(listed="other", plan=plan) == (Verdict.READY, ())
    assert verdict(listed="other", overrides=[{"id": "o"}])[1] == (ReasonCode.PLAN_UNKNOWN,)


@pytest.mark.parametrize(
    ("word", "plan"),
    [
        ("enterprise", Plan.ENTERPRISE),
        ("partners_enterprise", Plan.ENTERPRISE),
        ("Partners_Business", Plan.BUSINESS),
        ("partners_pro", Plan.PRO),
        ("partners_free", Plan.FREE),
        ("pro_plus", Plan.PRO),
        ("lite", Plan.FREE),
        ("partners_", Plan.OTHER),
        ("enterprise_plus", Plan.OTHER),
        ("", Plan.OTHER),
        (None, Plan.OTHER),
    ],
)
def test_plans_are_read_by_the_words_that_the_provider_has(word: str | None, plan: Plan) -> None:
    """A word that is not known is no plan."""
    assert Plan.of(word) is plan


def test_a_configuration_without_rules_is_sent_nowhere() -> None:
    """It would leave the zone without any managed rule, forever."""
    empty = {"name": "default", "rules": []}
    assert verdict(config=empty) == (Verdict.BLOCKED, (ReasonCode.EMPTY_CONFIGURATION,))


def test_what_stops_working_is_said_before_anybody_signs() -> None:
    """Legacy Terraform always; page rules with WAF off, and a WAF that is off for the whole zone."""
    pages = [
        page({"id": "waf", "value": "off"}),
        page({"id": "waf", "value": "off"}, status="disabled"),
        page({"id": "waf", "value": "on"}),
    ]
    found: Assessment = assess(reading(page_rules=pages, waf_setting={"id": "waf", "value": "off"}))
    assert len(found.warnings) == 4
    assert "1 page rule with Web Application Firewall: Off" in found.warnings[1]
    assert "1 page rule with Web Application Firewall: On" in found.warnings[2]
    assert assess(reading()).warnings == found.warnings[:1]


@pytest.mark.parametrize(
    ("rule", "effects"),
    [
        (page({"id": "waf", "value": "off"}), ("waf off",)),
        (page({"id": "waf", "value": "on"}), ("waf on",)),
        (page({"id": "disable_security"}), ("disable security",)),
        (page({"id": "disable_security"}, {"id": "waf", "value": "off"}), ("disable security", "waf off")),
        (page({"id": "cache_level", "value": "off"}), ()),
        (page({"id": "waf", "value": "off"}, status="disabled"), ()),
        ({"status": "active"}, ()),
        ({}, ()),
    ],
)
def test_effects_of_a_page_rule(rule: Json, effects: tuple[str, ...]) -> None:
    """Only an active one has any."""
    assert page_rule_effects(rule) == effects


def test_the_pattern_of_a_page_rule() -> None:
    """The URL it is about, if it has one."""
    one = page(pattern="*a.example/x*")
    assert page_rule_patterns(one) == ("*a.example/x*",)
    assert page_rule_patterns({**one, "targets": one["targets"] * 2}) == ("*a.example/x*",) * 2
    assert page_rule_patterns({"targets": [{"constraint": None}]}) == ()
    assert page_rule_patterns({}) == ()
