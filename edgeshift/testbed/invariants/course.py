"""How each area's changes go: which requests go forward, which count as in flight, and when they are over."""

from __future__ import annotations

from datetime import datetime

from edgeshift.testbed.invariants import esc, log_fields
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import WitnessInput


def goes_forward(seen: WitnessInput, request: Request) -> bool:
    """Whether a change goes forward. The way back is no step that a pause or an abort holds up."""
    match request.area:
        case "esc":
            return not request.turns_on
        case "log-fields":
            return log_fields.is_forward(seen, request)
    return request.mutates


def counts(seen: WitnessInput, request: Request) -> bool:
    """Whether a request is the step that the in-flight window is about."""
    match request.area:
        case "esc":
            return request.turns_off
        case "log-fields":
            return request.mutates and log_fields.is_forward(seen, request)
    return request.commits


def over(requests: list[Request]) -> datetime:
    """When the first of a scope's ``requests`` was over, as the service showed it."""
    match requests[0].area:
        case "esc":
            return esc.landed(requests)
        case "log-fields":
            return log_fields.landed(requests)
    return landed(requests)


def settled(between: list[Request]) -> bool:
    """Whether the first of these requests was settled before the last: refused, answered where an answer is
    the effect, of the same kind of deletion, or followed by a reading that would show it.
    """
    first, last = between[0], between[-1]
    if first.turned_away or (first.call == last.call and first.method == "DELETE"):
        return True
    if first.area == "log-fields" and first.took_effect and first.status is not None and first.status < 300:
        return True
    shows = {
        "esc": ("esc.get",),
        "log-fields": ("rulesets.", "entrypoint.", "logpush.jobs."),
        "waf": ("waf.status", "waf.check"),
    }[first.area]
    return any(
        request.method == "GET" and request.call.startswith(shows) and request.status == 200
        for request in between[1:-1]
    )


def landed(requests: list[Request]) -> datetime:
    """When a commit (the first of the zone's ``requests``) was over: at once if it was refused, else when
    a later reading of the status showed its effect, else at the last reading of the status before the zone
    was sent more.
    """
    commit, end = requests[0], requests[0].time
    if commit.turned_away:
        return end
    for request in requests[1:]:
        if request.commits:
            break
        if request.call == "waf.status":
            end = request.time
            if _shows_migrated(request):
                break
    return end


def _shows_migrated(request: Request) -> bool:
    state = request.state_after or request.state_before or {}
    return request.status == 200 and state.get("visible_state") == "complete"
