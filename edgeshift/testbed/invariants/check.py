"""The rules, each checked against its independent checker."""

from __future__ import annotations

from edgeshift.testbed.invariants.areas import Rule, checkers
from edgeshift.testbed.invariants.by_keys import rests_on_keys
from edgeshift.testbed.invariants.completeness import locked, nothing_lost
from edgeshift.testbed.invariants.leaks import hidden
from edgeshift.testbed.invariants.owners import NOBODYS
from edgeshift.testbed.invariants.pace import in_flight, paced, stopped
from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck
from edgeshift.testbed.invariants.touching import snapshotted

OF_ALL: tuple[Rule, ...] = (snapshotted, paced, stopped, in_flight, locked, hidden, nothing_lost)
"""The rules 5 to 11. Rule 12 joins them where people have keys."""


def check_rules(evidence: CheckerInput, *, absent: frozenset[int] = frozenset()) -> list[RuleCheck]:
    """What the checkers say of each rule; of several areas' campaigns, of all of them together.

    A rule of which nothing was checked is broken, unless ``absent`` says that the scenario has no case of it.
    Rule 12 is not asked where nobody has keys, nor has it a case where nothing is changed (rule 5).
    """
    found = [
        _together(
            [
                checker.rules[place](evidence.within(area))
                for area, checker in checkers().items()
                if area in evidence.areas
            ]
        )
        for place in range(4)
    ]
    found += [rule(evidence) for rule in OF_ALL]
    if evidence.roster is not None:
        found.append(rests_on_keys(evidence))
    if 5 in absent:
        absent |= {12}
    found[0].violations.extend(_strays(evidence))
    for check in found:
        if not check.checked and not check.violations and check.rule not in absent:
            check.violations.append("nothing was checked")
    return found


def _together(checks: list[RuleCheck]) -> RuleCheck:
    """One rule over several areas."""
    return RuleCheck(
        rule=checks[0].rule,
        title="; ".join(check.title for check in checks),
        checker=", ".join(dict.fromkeys(check.checker for check in checks)),
        checked=sum(check.checked for check in checks),
        violations=[violation for check in checks for violation in check.violations],
    )


def _strays(seen: CheckerInput) -> list[str]:
    """Changes of an area that no campaign is about; of those that are no area's, every one that was sent."""
    return [
        f"{seen.name(request.zone)}: {request.call} was sent, which is no campaign's (request {request.seq})"
        for request in seen.journal
        if request.mutates and seen.campaigns and request.area not in seen.areas
        if request.took_effect or request.area == NOBODYS
    ]
