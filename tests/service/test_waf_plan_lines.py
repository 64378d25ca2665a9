"""What a plan says of a zone of waf: the verdict on what would be proposed, and what it would lose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from activities.waf.changes import WafWork
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.waf import OWASP_RULESET
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.messages import ZoneAssessment
from tests.service.gate_kit import Gate, gate

SHELL: dict[str, Any] = {"migration": {"configuration": "disabled"}}


async def line_of(play: Gate) -> ZoneAssessment:
    """The plan's line for the zone of the gate."""
    spec = await play.connections.spec(play.start.spec)
    line = ZoneAssessment(index=0, zone=play.zone)
    return await WafWork(play.connections).assess(play.start.spec, spec, play.start.target, line)


async def test_an_empty_shell_is_blocked_in_the_plan_already(tmp_path: Path) -> None:
    """With its reason and a warning, nothing to sign, and no reading that the zone could begin with."""
    async with gate(tmp_path, settings=SHELL) as play:
        line = await line_of(play)
    assert (line.verdict, line.causes) == (Verdict.BLOCKED, ["unprotected"])
    assert "consents.unprotected" in line.reasons[0]
    assert any("runs no managed rule" in warning for warning in line.warnings)
    assert (line.fingerprint, line.reading) == ("", "")


async def test_a_consent_lets_it_be_ready_and_the_warning_stays(tmp_path: Path) -> None:
    """The zone can be signed, and people see what they sign."""
    async with gate(tmp_path, settings=SHELL, consents={"unprotected": ["bank.example"]}) as play:
        line = await line_of(play)
    assert line.verdict is Verdict.READY and line.fingerprint and line.reading
    assert any("runs no managed rule" in warning for warning in line.warnings)


STARRED: dict[str, Any] = {
    "page_rules": [{"targets": ["bank.example/a*b"], "actions": [{"id": "waf", "value": "off"}]}]
}


async def test_a_page_rule_that_no_rule_can_say_is_told_in_the_plan(tmp_path: Path) -> None:
    """The zone is blocked, and nobody is asked to sign a body that lacks the rule."""
    async with gate(tmp_path, settings={**STARRED, "migration": {"page_rules": "left_out"}}) as play:
        line = await line_of(play)
    assert (line.verdict, line.causes, line.fingerprint) == (Verdict.BLOCKED, ["page_rule_pattern"], "")
    assert "1 URL pattern of page rules" in line.reasons[0] and "(bank.example/a*b)" in line.reasons[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "1 URL pattern of page rules that turn the WAF off, or come before one that does, has a"),
        (
            ["bank.example/a*b"],
            "2 URL patterns of page rules that turn the WAF off, or come before one that does, have a",
        ),
    ],
)
async def test_a_page_rule_with_a_port_is_told_as_one(tmp_path: Path, more: list[str], said: str) -> None:
    """It is not blamed on an operator."""
    targets = ["bank.example:8443/*", *more]
    rules = [{"targets": targets, "actions": [{"id": "waf", "value": "off"}]}]
    settings = {"page_rules": rules, "migration": {"page_rules": "left_out"}}
    async with gate(tmp_path, settings=settings) as play:
        line = await line_of(play)
    assert (line.verdict, line.causes) == (Verdict.BLOCKED, ["page_rule_pattern"])
    assert line.reasons[0].startswith(said) and line.reasons[0].endswith(f"({', '.join(targets)})")
    assert ("star in the middle" in line.reasons[0]) is bool(more)


async def test_a_page_rule_that_the_service_has_a_rule_for_blocks_nothing(tmp_path: Path) -> None:
    """Worded by a regular expression, which edgeshift reads and does not write."""
    async with gate(tmp_path, settings=STARRED) as play:
        line = await line_of(play)
    assert (line.verdict, line.causes) == (Verdict.READY, []) and line.fingerprint


async def test_a_plan_counts_what_would_be_lost(tmp_path: Path) -> None:
    """In sentences that zones may share, and by kind. The global settings of the core are carried over."""
    owasp = {"sensitivity": "medium", "action_mode": "block", "rules": {"981138": "off", "950921": "off"}}
    managed = {"groups": {"Managed WordPress": "off"}}
    async with gate(tmp_path, settings={"previous_waf": {"owasp": owasp, "managed": managed}}) as play:
        line = await line_of(play)
    assert line.lost == {"rule": 2}
    core = "OWASP ModSecurity Core Rule Set"
    assert line.losses == [f"{core}: 2 rules with settings of their own, not carried over"]
    becomes = "becomes paranoia level 2 with score threshold 25 and action block in the core ruleset 3.x"
    assert f"{core}: sensitivity medium with action block {becomes}" in line.warnings
    compare = [warning for warning in line.warnings if "to compare with the overrides" in warning]
    # One group is off as delivered.
    assert compare == [
        "Managed Rules: 2 rule groups off, to compare with the overrides of the new configuration"
    ]


@pytest.mark.parametrize(("before", "warned"), [("block", True), ("simulate", False)])
async def test_a_core_ruleset_that_would_stop_nothing_is_told_in_the_plan(
    before: str, warned: bool, tmp_path: Path
) -> None:
    """An adjustment has the score rule log, which acts for all of it, and the previous core did stop
    requests.
    """
    logs = {"ruleset": OWASP_RULESET, "rule": OWASP_SCORE_RULE, "action": "log"}
    settings = {"previous_waf": {"owasp": {"sensitivity": "high", "action_mode": before}}}
    async with gate(tmp_path, settings=settings, adjustments=[logs]) as play:
        line = await line_of(play)
    assert any("which then stops nothing" in warning for warning in line.warnings) is warned
