"""The rules, each checked against its independent witness."""

from __future__ import annotations

from collections.abc import Callable

from edgeshift.witness.commits import once, signed, validated
from edgeshift.witness.completeness import locked, nothing_lost
from edgeshift.witness.leaks import hidden
from edgeshift.witness.pace import in_flight, paced, stopped
from edgeshift.witness.seen import RuleCheck, WitnessInput
from edgeshift.witness.touching import snapshotted, supported

RULES: tuple[Callable[[WitnessInput], RuleCheck], ...] = (
    signed,
    once,
    validated,
    supported,
    snapshotted,
    paced,
    stopped,
    in_flight,
    locked,
    hidden,
    nothing_lost,
)
"""The rules 1 to 11, in order."""


def check_rules(evidence: WitnessInput, *, absent: frozenset[int] = frozenset()) -> list[RuleCheck]:
    """What the witnesses say of each rule.

    A rule of which nothing was checked is broken, unless ``absent`` says that the scenario has no case of it.
    """
    found = []
    for rule in RULES:
        check = rule(evidence)
        if not check.checked and not check.violations and check.rule not in absent:
            check.violations.append("nothing was checked")
        found.append(check)
    return found
