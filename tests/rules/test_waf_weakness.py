"""Where a body only logs, part by part; one of which a part was shadowed is never the one that was signed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from edgeshift.areas.waf import (
    MANAGED_RULESET,
    OWASP_RULESET,
    is_log_only,
    only_logging,
    same_rules,
    shadow,
    weakened,
)
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Plan, Zone

SCORE = "6179ae15870a4bb7b2d480d4843b323c"
ZONE = Zone(id="0" * 32, name="shop.example", account="1" * 32, plan=Plan.ENTERPRISE)


def execute(ruleset: str, **overrides: Any) -> dict[str, Any]:
    parameters = {"id": ruleset, "overrides": overrides} if overrides else {"id": ruleset}
    return {"action": "execute", "expression": "true", "action_parameters": parameters, "enabled": True}


SIGNED: dict[str, Any] = {
    "name": "default",
    "rules": [
        {
            "action": "skip",
            "expression": 'http.host eq "a.example"',
            "action_parameters": {"ruleset": "current"},
        },
        execute(MANAGED_RULESET),
        execute(
            OWASP_RULESET,
            categories=[{"category": "paranoia-level-3", "enabled": False}],
            rules=[{"id": SCORE, "action": "block", "score_threshold": 40}],
        ),
        {"action": "block", "expression": 'http.host eq "b.example"'},
    ],
}


def partly(*places: int) -> dict[str, Any]:
    """The signed body with the shadow of these rules alone."""
    body, shadowed = copy.deepcopy(SIGNED), shadow(SIGNED)
    for place in places:
        body["rules"][place] = shadowed["rules"][place]
    return body


@pytest.mark.parametrize("places", [(1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)])
def test_a_body_of_which_a_part_was_shadowed_is_not_the_signed_one(places: tuple[int, ...]) -> None:
    """It has another digest and another fingerprint, is not read back as equal, and the parts are named."""
    body = partly(*places)
    assert digest(body) != digest(SIGNED)
    assert fingerprint(body, ZONE) != fingerprint(SIGNED, ZONE)
    assert not same_rules(body, SIGNED)
    assert len(weakened(body, SIGNED)) >= len(places)
    assert is_log_only(body) is (len(places) == 3)


def test_a_single_override_that_only_logs_is_named() -> None:
    """Of a rule and of a category."""
    body = copy.deepcopy(SIGNED)
    overrides = body["rules"][2]["action_parameters"]["overrides"]
    overrides["rules"][0]["action"] = "log"
    overrides["categories"].append({"category": "xss", "action": "log"})
    assert weakened(body, SIGNED) == (
        f"rule {SCORE} of the OWASP core ruleset",
        "category xss of the OWASP core ruleset",
    )
    assert not same_rules(body, SIGNED)


def test_what_was_signed_to_log_is_shown_and_is_no_weakness() -> None:
    """A previous setting of Simulate becomes log by itself: people see it, and may sign it."""
    body = copy.deepcopy(SIGNED)
    body["rules"][2]["action_parameters"]["overrides"]["rules"][0]["action"] = "log"
    assert only_logging(body) == (f"rule {SCORE} of the OWASP core ruleset",)
    assert weakened(body, body) == ()


def test_parts_that_do_not_run_are_not_named() -> None:
    """Disabled rules, disabled rulesets, overrides of rules that are off, skip rules."""
    off = execute(MANAGED_RULESET, action="log") | {"enabled": False}
    body = {
        "name": "default",
        "rules": [
            off,
            execute(MANAGED_RULESET, enabled=False, action="log"),
            execute(OWASP_RULESET, rules=[{"id": SCORE, "action": "log", "enabled": False}]),
        ],
    }
    assert only_logging(body) == ()


def test_a_whole_ruleset_but_for_single_rules_is_named_so() -> None:
    """An override of a rule beats that of the ruleset."""
    (line,) = only_logging(
        {"rules": [execute("f" * 32, action="log", rules=[{"id": "x", "action": "block"}])]}
    )
    assert line == f"ruleset {'f' * 32}, but for what it names"
