"""Rule 12: what is changed rests on people's keys, whatever Temporal and those who hold it say."""

from __future__ import annotations

from edgeshift.testbed.invariants.areas import checkers
from edgeshift.testbed.invariants.course import goes_forward
from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck
from edgeshift.testbed.invariants.signing import sent_by
from edgeshift.testbed.invariants.standing import held_back


def rests_on_keys(seen: CheckerInput) -> RuleCheck:
    """Rule 12, where people have keys. What needs a sign-off is what rule 1 asks one for; each step forward
    needs a start, and nobody's word that stops it.
    """
    asked = seen.model_copy(update={"by_keys": True})
    forward = [
        request
        for request in seen.journal
        if request.mutates and request.area in seen.areas and goes_forward(seen, request)
    ]
    violations = [
        text
        for area, checker in checkers().items()
        if area in seen.areas
        for text in checker.rules[0](asked.within(area)).violations
    ]
    told = {text.rpartition(" ")[2] for text in violations}
    violations += [
        f"{seen.name(request.zone)}: {why} (request {request.seq})"
        for request in forward
        if f"{request.seq})" not in told
        and (sent := sent_by(seen, request)) is not None
        and (why := held_back(sent))
    ]
    return RuleCheck(
        rule=12,
        title="what is changed rests on people's keys",
        checker="journal, signed statements",
        checked=len(forward),
        violations=violations,
    )
