"""How each area's changes go: which requests go forward, which count as in flight, and when they are over."""

from __future__ import annotations

from datetime import datetime

from edgeshift.testbed.invariants.areas import checker_of
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput


def goes_forward(seen: CheckerInput, request: Request) -> bool:
    """Whether a change goes forward. The rollback is no step that a pause or an abort holds up."""
    return checker_of(request).forward(seen, request)


def counts(seen: CheckerInput, request: Request) -> bool:
    """Whether a request is the step that the in-flight window is about."""
    return checker_of(request).counts(seen, request)


def over(requests: list[Request]) -> datetime:
    """When the first of a scope's ``requests`` was over, as the service showed it."""
    return checker_of(requests[0]).over(requests)


def settled(between: list[Request]) -> bool:
    """Whether the first of these requests was settled before the last: refused, answered where an answer is
    the effect, of the same kind of deletion, or followed by a reading that would show it.
    """
    first, last = between[0], between[-1]
    if first.turned_away or (first.call == last.call and first.method == "DELETE"):
        return True
    checker = checker_of(first)
    if checker.answered and first.took_effect and first.status is not None and first.status < 300:
        return True
    return any(
        request.method == "GET" and request.call.startswith(checker.shows) and request.status == 200
        for request in between[1:-1]
    )
