"""Bodies that are sent: what is added, what only logs, what is equal, and what is not to be trusted."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import (
    MANAGED_RULESET,
    OWASP_RULESET,
    Adjustment,
    Mode,
    Reading,
    is_log_only,
    logs_anyway,
    may_send,
    propose,
    same_rules,
    shadow,
    skip_rule,
    unsound,
)
from edgeshift.areas.waf.standing import standing
from edgeshift.model.digests import Body, digest
from edgeshift.model.fleet import Plan

Json = dict[str, Any]

ACTIONS = st.sampled_from(["block", "log", "managed_challenge", None])
ITEM = st.fixed_dictionaries(
    {"id": st.sampled_from(["r1", "r2", "r3"])},
    optional={
        "action": ACTIONS,
        "enabled": st.sampled_from([True, False, None]),
        "score_threshold": st.just(40),
    },
)
ITEMS = st.one_of(st.none(), st.lists(ITEM, max_size=3))
OVERRIDES = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {}, optional={"action": ACTIONS, "enabled": st.booleans(), "rules": ITEMS, "categories": ITEMS}
    ),
)
EXECUTE = st.fixed_dictionaries(
    {"action": st.just("execute"), "expression": st.just("true")},
    optional={
        "enabled": st.booleans(),
        "action_parameters": st.one_of(
            st.none(),
            st.fixed_dictionaries(
                {"id": st.sampled_from([MANAGED_RULESET, OWASP_RULESET])}, optional={"overrides": OVERRIDES}
            ),
        ),
    },
)
OTHER = st.fixed_dictionaries(
    {"action": st.sampled_from(["skip", "block", "log", "managed_challenge"]), "expression": st.just("true")},
    optional={"enabled": st.booleans(), "action_parameters": st.just({"ruleset": "current"})},
)
BODIES = st.fixed_dictionaries(
    {"name": st.just("default"), "rules": st.lists(st.one_of(EXECUTE, OTHER), min_size=1, max_size=4)}
)


def execute(ruleset: str = MANAGED_RULESET, **overrides: Any) -> Json:
    parameters: Json = {"id": ruleset}
    if overrides:
        parameters["overrides"] = overrides
    return {"action": "execute", "expression": "true", "enabled": True, "action_parameters": parameters}


def body(*rules: Json) -> Body:
    return {"name": "default", "rules": list(rules)}


def can_act(sent: Body) -> bool:
    """An oracle of its own: whether a request can be stopped by what an entry point runs."""
    for rule in sent["rules"]:
        if rule.get("enabled", True) is False or rule["action"] in ("skip", "log"):
            continue
        if rule["action"] != "execute":
            return True
        overrides = (rule.get("action_parameters") or {}).get("overrides") or {}
        on, action = overrides.get("enabled", True), overrides.get("action")
        if on and action != "log":
            return True
        for item in [*(overrides.get("rules") or []), *(overrides.get("categories") or [])]:
            item_on = on if item.get("enabled") is None else item["enabled"]
            item_action = action if item.get("action") is None else item["action"]
            if item_on and item_action != "log":
                return True
    return False


# --- shadow and log-only


@given(BODIES)
def test_a_shadow_never_acts(sent: Body) -> None:
    """Whatever the proposal holds: its shadow lets every request pass, and its own input stays as it was."""
    before = copy.deepcopy(sent)
    shadowed = shadow(sent)
    assert sent == before
    assert not can_act(shadowed)
    assert shadow(shadowed) == shadowed
    if can_act(sent):
        assert is_log_only(shadowed)


@given(BODIES)
def test_log_only_bodies_are_those_that_run_and_cannot_act(sent: Body) -> None:
    """A body that can stop a request is never log-only."""
    if can_act(sent):
        assert not is_log_only(sent)
    if is_log_only(sent):
        assert not can_act(sent)


@given(BODIES, BODIES)
def test_a_log_only_body_never_has_the_digest_of_one_that_acts(first: Body, second: Body) -> None:
    """So a sign-off of the one can never be one of the other."""
    if can_act(first):
        assert digest(shadow(first)) != digest(first)
        assert not (is_log_only(second) and digest(first) == digest(second))
        assert digest(shadow(second)) != digest(first)


@pytest.mark.parametrize(
    ("rule", "log_only"),
    [
        (execute(), False),
        (execute(action="log"), True),
        (execute(action="block"), False),
        (execute(action="log", rules=[{"id": "a", "action": "block"}]), False),
        (execute(action="log", categories=[{"category": "a", "action": "block"}]), False),
        (execute(action="log", rules=[{"id": "a", "action": "block", "enabled": False}]), True),
        (execute(action="log", rules=[{"id": "a", "enabled": True}]), True),
        (execute(rules=[{"id": "a", "action": "log"}]), False),
        (execute(enabled=False), False),
        (execute(enabled=False, rules=[{"id": "a", "action": "block", "enabled": True}]), False),
        (execute(enabled=False, rules=[{"id": "a", "action": "log", "enabled": True}]), True),
        ({**execute(action="log"), "enabled": False}, False),
        ({"action": "block", "expression": "true"}, False),
    ],
)
def test_when_a_rule_only_logs(rule: Json, log_only: bool) -> None:
    """An exception that acts makes a body act; one that runs nothing is as harmless as a WAF that is off."""
    assert is_log_only(body(rule)) is log_only
    assert is_log_only(body(skip_rule("a.example/*", ""), rule)) is log_only


def test_one_execute_rule_that_acts_is_enough() -> None:
    """The other one only logs."""
    assert not is_log_only(body(execute(action="log"), execute(OWASP_RULESET)))
    assert is_log_only(body(execute(action="log"), execute(OWASP_RULESET, action="log")))
    assert not is_log_only(body(skip_rule("a.example/*", "")))


def test_which_rules_log_by_the_proposal_itself() -> None:
    """By the rule's own override or the ruleset's, not where it is excepted, nor of another ruleset."""
    sent = body(execute(rules=[{"id": "a", "action": "log"}]), execute(OWASP_RULESET, action="log"))
    assert logs_anyway(sent, MANAGED_RULESET, "a") and not logs_anyway(sent, MANAGED_RULESET, "b")
    assert logs_anyway(sent, OWASP_RULESET, "b") and not logs_anyway(sent, "other", "a")
    twice = body(*sent["rules"], execute())
    assert not logs_anyway(twice, MANAGED_RULESET, "a")


# --- modes


@pytest.mark.parametrize("plan", Plan)
def test_validation_is_for_enterprise_zones_alone(plan: Plan) -> None:
    """Every plan may be migrated; only one has a validation mode (docs/service.md §3.2)."""
    assert may_send(Mode.PENDING, plan) is None
    assert (may_send(Mode.VALIDATION, plan) is None) == (plan is Plan.ENTERPRISE)


# --- trust

JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 2**60), st.text(max_size=4), st.floats()),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "rules", "action"]), inner)
    ),
    max_leaves=4,
)


@given(
    st.one_of(
        JUNK,
        st.fixed_dictionaries({"rules": st.lists(st.one_of(JUNK, EXECUTE), max_size=2)}),
        EXECUTE.flatmap(
            lambda rule: st.sampled_from(["action_parameters", "expression", "enabled", "x"]).flatmap(
                lambda key: JUNK.map(lambda junk: {"rules": [{**rule, key: junk}]})
            )
        ),
        st.sampled_from(["overrides", "id"]).flatmap(
            lambda key: JUNK.map(
                lambda junk: {
                    "rules": [{"action": "execute", "expression": "true", "action_parameters": {key: junk}}]
                }
            )
        ),
    )
)
def test_an_odd_answer_is_unsound_or_can_be_worked_with(answer: Any) -> None:
    """Nothing that passes makes a later step stumble."""
    if unsound(answer):
        return
    assert not can_act(shadow(answer))
    assert is_log_only(answer) in (True, False)
    found = propose(Reading(check={}, config=answer), [Adjustment(rule="x", action="log")])
    assert same_rules(found.body, found.body) and len(digest(found.body)) == 64


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "no list of rules"),
        ([], "no list of rules"),
        ({"rules": None}, "no list of rules"),
        ({"rules": []}, "no rules"),
        ({"rules": ["x"]}, "rules[0] is not an object"),
        ({"rules": [execute(), {"action": "skip"}]}, "rules[1] has no action or no expression"),
        ({"rules": [{**execute(), "action_parameters": "x"}]}, "rules[0].action_parameters is not an object"),
        (
            {"rules": [execute(rules={})]},
            "rules[0].action_parameters.overrides.rules is not a list of objects",
        ),
        ({"rules": [{**execute(), "action_parameters": {"overrides": []}}]}, "overrides is not an object"),
        ({"rules": [{**execute(), "x": 2**60}]}, "no canonical JSON"),
    ],
)
def test_what_is_wrong_with_an_answer_is_named(answer: Any, said: str) -> None:
    """With its place."""
    assert said in (unsound(answer) or "")


@given(BODIES, st.text(max_size=3))
def test_stored_rules_are_the_signed_ones_but_for_what_the_service_assigns(sent: Body, text: str) -> None:
    """Ids, versions, refs and the ruleset's own fields may differ."""
    rules = [{**rule, "id": text, "ref": text, "version": "9"} for rule in sent["rules"]]
    assert same_rules({"name": "other", "kind": "zone", "rules": rules}, sent)


@given(BODIES, BODIES)
def test_stored_rules_that_differ_are_seen(stored: Body, sent: Body) -> None:
    """Equal rules do the same and switch the same parts; and what is equal to the last byte is equal."""
    assert same_rules(stored, stored) and (digest(stored) != digest(sent) or same_rules(stored, sent))
    if same_rules(stored, sent):
        assert standing(sent, None, stored).same and can_act(stored) == can_act(sent)


def test_what_cannot_be_compared_is_not_the_same() -> None:
    """No entry point, an odd one, a number in place of a truth."""
    sent = body(execute())
    assert not same_rules(None, sent)
    assert not same_rules({"rules": []}, sent)
    assert not same_rules(body({**execute(), "enabled": 1}), sent)


def versioned(version: object, sent: Body) -> Body:
    """The body with a version in every execute rule, as a service may store it."""
    found = copy.deepcopy(sent)
    for rule in found["rules"]:
        if rule["action"] == "execute":
            rule["action_parameters"] = {**(rule.get("action_parameters") or {}), "version": version}
    return found


@pytest.mark.parametrize("version", ["latest", "57", 57, None])
def test_the_version_of_a_managed_ruleset_is_none_where_none_was_signed(version: object) -> None:
    """What the service stores of it is not documented."""
    sent = body(execute(rules=[{"id": "r1", "action": "log"}]), execute())
    assert same_rules(versioned(version, sent), sent)


def test_a_version_that_was_signed_counts() -> None:
    """Another one is another set of rules, also where the newest was signed; and a skip rule has none."""
    sent = body(execute())
    assert same_rules(versioned("3", sent), versioned("3", sent))
    for stored, signed in (("57", "3"), ("latest", "3"), (None, "3"), ("3", "latest")):
        assert not same_rules(versioned(stored, sent), versioned(signed, sent))
    skip = skip_rule("a.example/*", "a")
    odd = {**skip, "action_parameters": {**skip["action_parameters"], "version": "3"}}
    assert not same_rules(body(odd, execute()), body(skip, execute()))
    assert not same_rules(versioned("3", body(execute(), execute())), sent)
    other = {"id": OWASP_RULESET, "version": "3"}
    assert not same_rules(body({**execute(), "action_parameters": other}), sent)


def test_what_says_nothing_makes_no_difference() -> None:
    """Null, what is empty, the order of a set, a rule that is on without saying so."""
    skip = skip_rule("a.example/*", "a")
    sent = body({**skip, "action_parameters": {"phases": ["b", "a"]}}, execute(action="log"))
    stored = copy.deepcopy(sent)
    stored["rules"][0]["action_parameters"]["phases"] = ["a", "b"]
    stored["rules"][1]["action_parameters"]["overrides"] |= {"rules": [], "enabled": None}
    stored["rules"][1] |= {"enabled": True, "description": ""}
    assert same_rules(stored, sent)


def test_that_a_skip_rule_is_logged_makes_no_difference_and_that_it_is_not_does() -> None:
    """The service gives each that was sent without ``logging`` one that is on, and no other rule. The digest
    that people sign is of what was sent.
    """
    skip = skip_rule("a.example/*", "a")
    sent, logged = body(skip, execute()), body({**skip, "logging": {"enabled": True}}, execute())
    assert same_rules(logged, sent) and same_rules(sent, logged) and same_rules(logged, logged)
    assert digest(logged) != digest(sent)
    for odd in ({"enabled": False}, {"enabled": 1}, {"enabled": True, "x": 1}, True):
        assert not same_rules(body({**skip, "logging": odd}, execute()), sent)
    assert not same_rules(body(skip, {**execute(), "logging": {"enabled": True}}), sent)


def test_rules_nested_too_deeply_to_be_compared_are_not_the_same() -> None:
    """No error, at any depth."""
    for depth in (100, 300, 500, 900):
        deep: Any = "x"
        for _ in range(depth):
            deep = {"a": deep}
        odd = body({**execute(), "x": deep})
        assert same_rules(odd, odd) in (True, False)
        assert not same_rules(odd, body(execute()))
