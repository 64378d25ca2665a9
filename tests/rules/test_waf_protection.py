"""A configuration that runs nothing is not a WAF, whatever the service calls it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import (
    MANAGED_RULESET,
    OWASP_RULESET,
    Adjustment,
    Reading,
    propose,
    protection_warnings,
    runs_nothing,
    skip_rule,
    unprotected,
)
from edgeshift.areas.waf.body import Effect, effect
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.areas.waf.protection import PARANOIA_LEVELS, protected, was_off

Json = dict[str, Any]
CORE: Json = {"id": "core", "name": "Core", "detection_mode": "anomaly", "sensitivity": "high"}
OWN: Json = {"id": "own", "name": "Provider", "detection_mode": "traditional", "status": "active"}
ON = {"id": "waf", "value": "on"}


def execute(
    ruleset: str = MANAGED_RULESET, *, enabled: bool = True, expression: str = "true", **over: Any
) -> Json:
    """A rule that runs a managed ruleset. ``over``: its overrides."""
    parameters: Json = {"id": ruleset}
    if over:
        parameters["overrides"] = over
    return {
        "action": "execute",
        "expression": expression,
        "enabled": enabled,
        "action_parameters": parameters,
    }


def body(*rules: Json) -> Json:
    return {"name": "default", "rules": list(rules)}


def zone(**more: Any) -> Reading:
    """A zone whose previous WAF is on, unless told otherwise."""
    return Reading(**({"check": {}, "waf_setting": ON, "packages": [CORE, OWN]} | more))


EVERYTHING = skip_rule("*", "off")
LEVELS = [{"category": level, "enabled": False} for level in PARANOIA_LEVELS]
SCORE = {"id": OWASP_SCORE_RULE, "enabled": False}
LOGS = {"id": OWASP_SCORE_RULE, "action": "log"}


@pytest.mark.parametrize(
    ("rules", "nothing"),
    [
        ([execute()], False),
        ([execute(enabled=False), execute(OWASP_RULESET, enabled=False)], True),
        ([execute(enabled=False), execute(OWASP_RULESET)], False),
        ([execute(enabled=False, action="block")], True),
        ([EVERYTHING, execute()], True),
        ([execute(), EVERYTHING], False),
        ([{**EVERYTHING, "enabled": False}, execute()], False),
        ([skip_rule("a.example/*", ""), execute()], False),
        ([execute(expression="false")], True),
        ([execute(OWASP_RULESET, rules=[SCORE])], True),
        ([execute(OWASP_RULESET, categories=LEVELS)], True),
        ([execute(OWASP_RULESET, categories=LEVELS[2:])], False),
        ([{"action": "block", "expression": "ip.src eq 192.0.2.1"}], True),
        ([], True),
        (
            [
                {
                    "action": "skip",
                    "expression": "(true)",
                    "action_parameters": {"rulesets": [MANAGED_RULESET]},
                },
                execute(),
            ],
            True,
        ),
        (
            [
                {
                    "action": "skip",
                    "expression": "true",
                    "action_parameters": {"phases": ["http_request_firewall_managed"]},
                },
                execute(),
            ],
            True,
        ),
        (
            [
                {
                    "action": "skip",
                    "expression": "true",
                    "action_parameters": {"rules": {MANAGED_RULESET: ["x"]}},
                },
                execute(),
            ],
            False,
        ),
    ],
)
def test_what_runs_nothing(rules: list[Json], nothing: bool) -> None:
    """Disabled rules, rulesets that are off as a whole, and whatever comes after a skip of everything."""
    assert runs_nothing(body(*rules)) is nothing


@pytest.mark.parametrize("on", [None, True])
def test_a_ruleset_that_is_off_as_a_whole_runs_what_it_turns_on_again(on: bool | None) -> None:
    """Overrides with ``enabled: false`` for all, and a rule that is on beside."""
    rules = [{"id": "x", "enabled": on}] if on else []
    rule = execute()
    rule["action_parameters"]["overrides"] = {"enabled": False, "rules": rules}
    assert runs_nothing(body(rule)) is not bool(on)


@given(
    st.lists(
        st.sampled_from([execute(), execute(OWASP_RULESET), execute(enabled=False), EVERYTHING]), max_size=5
    )
)
def test_where_no_execute_rule_has_an_effect_nothing_runs(rules: list[Json]) -> None:
    """And more rules never turn a body that runs something into one that runs nothing, if they come last."""
    executing = [rule for rule in rules if rule["action"] == "execute"]
    if all(effect(rule) is Effect.NOTHING for rule in executing):
        assert runs_nothing(body(*rules))
    if not runs_nothing(body(*rules)):
        assert not runs_nothing(body(*rules, EVERYTHING, execute(enabled=False)))


@pytest.mark.parametrize(
    ("reading", "was"),
    [
        (zone(), True),
        (zone(waf_setting={"id": "waf", "value": "off"}), False),
        (zone(waf_setting=None), True),
        (zone(packages=[]), False),
        (zone(packages=[{**CORE, "sensitivity": "off"}, {**OWN, "status": "disabled"}]), False),
        (zone(packages=[{**CORE, "sensitivity": "off"}, OWN]), True),
        (
            zone(
                packages=[{**CORE, "sensitivity": "off"}, OWN],
                groups=[{"id": "g", "package_id": "own", "mode": "off"}],
            ),
            False,
        ),
        (
            zone(
                waf_setting={"id": "waf", "value": "off"},
                page_rules=[{"status": "active", "actions": [{"id": "waf", "value": "on"}]}],
            ),
            True,
        ),
    ],
)
def test_when_the_previous_waf_protects(reading: Reading, was: bool) -> None:
    """It is on, or a page rule turns it on, and a package is on with one of its groups."""
    assert protected(reading) is was
    assert unprotected(reading, body(execute(enabled=False))) is was
    assert not unprotected(reading, body(execute()))


@pytest.mark.parametrize(
    ("whole", "items", "nothing"),
    [
        (False, {"rules": [{"id": OWASP_SCORE_RULE, "enabled": True, "score_threshold": 40}]}, True),
        (False, {"rules": [{"id": OWASP_SCORE_RULE, "enabled": True}, {"id": "x", "enabled": True}]}, False),
        (False, {"categories": [{"category": PARANOIA_LEVELS[0], "enabled": True}]}, True),
        (None, {"rules": [{"id": OWASP_SCORE_RULE, "score_threshold": 40}], "categories": LEVELS}, True),
        (None, {"rules": [{"id": "x", "enabled": True}], "categories": LEVELS}, False),
        (None, {"rules": [{"id": OWASP_SCORE_RULE, "score_threshold": 40}]}, False),
    ],
)
def test_the_core_ruleset_needs_a_score_and_what_looks_at_it(
    whole: bool | None, items: Json, nothing: bool
) -> None:
    """The score rule alone has nothing to look at; without it the score does nothing."""
    rule = execute(OWASP_RULESET)
    rule["action_parameters"]["overrides"] = items | ({} if whole is None else {"enabled": whole})
    assert runs_nothing(body(rule)) is nothing


def test_the_proposal_is_judged_and_not_what_the_service_returned() -> None:
    """An adjustment of the campaign, or a page rule for every URL, can make a shell of it too."""
    whole = body(execute())
    off = (Adjustment(enabled=False),)
    reading = zone(config=whole)
    assert not unprotected(reading, propose(reading).body)
    assert unprotected(reading, propose(reading, off).body)
    page = {
        "id": "p",
        "status": "active",
        "actions": [{"id": "waf", "value": "off"}],
        "targets": [{"constraint": {"value": "*"}}],
    }
    with_page = zone(config=whole, page_rules=[page])
    assert unprotected(with_page, propose(with_page).body)


def test_what_does_not_run_is_said_before_anybody_signs() -> None:
    """That nothing does, with what the previous WAF is; or which ruleset does not while its package is on."""
    nothing, half = body(execute(enabled=False)), body(execute(), execute(OWASP_RULESET, enabled=False))
    (said,) = protection_warnings(zone(), nothing)
    assert "runs no managed rule" in said and said.endswith("the previous WAF is on")
    off = zone(waf_setting={"id": "waf", "value": "off"})
    (said,) = protection_warnings(off, nothing)
    assert said.endswith("off as well")
    (said,) = protection_warnings(zone(), half)
    assert said == "the new configuration does not run the OWASP core ruleset, and Core is on now"
    assert protection_warnings(zone(), body(execute(), execute(OWASP_RULESET))) == ()
    assert was_off(off) and protection_warnings(off, half) == ()


@pytest.mark.parametrize(
    ("package", "overrides", "warned"),
    [
        ({"action_mode": "challenge"}, {"rules": [LOGS]}, True),
        ({}, {"rules": [LOGS]}, True),
        ({"action_mode": "block"}, {"action": "log"}, True),
        ({"action_mode": "block"}, {"action": "log", "rules": [{**LOGS, "action": "block"}]}, False),
        ({"action_mode": "block"}, {"rules": [{**LOGS, "id": "x"}]}, False),
        ({"action_mode": "simulate"}, {"rules": [LOGS]}, False),
        ({"action_mode": "block", "sensitivity": "off"}, {"rules": [LOGS]}, False),
    ],
)
def test_a_score_rule_that_only_logs_is_said_before_anybody_signs(
    package: Json, overrides: Json, warned: bool
) -> None:
    """The core ruleset then stops nothing: people are told, unless the previous core stops nothing either."""
    core = execute(OWASP_RULESET)
    core["action_parameters"]["overrides"] = overrides
    told = protection_warnings(zone(packages=[{**CORE, **package}, OWN]), body(execute(), core))
    assert len(told) == warned
    if warned:
        assert told[0] == (
            f"the OWASP score rule ({OWASP_SCORE_RULE}) only logs in the new configuration: it acts for all"
            " of the OWASP core ruleset, which then stops nothing, and Core is on now"
        )


def test_an_adjustment_of_the_score_rule_to_log_is_said() -> None:
    """Whoever wrote it may have meant one rule among many."""
    score = {"id": OWASP_SCORE_RULE, "action": "block", "score_threshold": 40}
    core = execute(OWASP_RULESET)
    core["action_parameters"]["overrides"] = {"rules": [score]}
    reading = zone(config=body(execute(), core))
    logs = Adjustment(ruleset=OWASP_RULESET, rule=OWASP_SCORE_RULE, action="log")
    assert protection_warnings(reading, propose(reading).body) == ()
    (said,) = protection_warnings(reading, propose(reading, (logs,)).body)
    assert "stops nothing" in said
