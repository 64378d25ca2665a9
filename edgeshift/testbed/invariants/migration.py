"""The course of a migration: when a commit was over, and what the end of a zone has to agree with."""

from __future__ import annotations

from datetime import datetime

from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, Execution, ZoneAtService

DONE = frozenset({"migrated", "already_migrated"})


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


def disagrees(seen: CheckerInput, at_service: ZoneAtService, execution: Execution) -> str | None:
    """Why the service does not agree with how the zone's execution ended, or None."""
    runs = seen.executions_of[execution.zone]
    return _disagrees(seen, at_service, execution, execution is runs[-1], len(runs))


def _disagrees(
    seen: CheckerInput, at_service: ZoneAtService, execution: Execution, latest: bool, attempts: int
) -> str | None:
    if execution.outcome in DONE and not at_service.migrated:
        return f"ended as {execution.outcome}, but the service has not migrated it"
    commits = sum(request.took_effect for request in seen.of_zone.get(execution.zone, ()) if request.commits)
    # An abort may come before a zone is read that somebody had migrated long ago.
    spared = execution.outcome == "aborted" and not commits
    if latest and at_service.migrated and not spared and execution.outcome not in DONE | {"unknown"}:
        return f"ended as {execution.outcome}, but the service has migrated it"
    if latest and commits and execution.outcome not in DONE | {"unknown"}:
        return f"ended as {execution.outcome}, but a commit of it takes effect"
    if execution.outcome == "migrated" and commits != 1:
        return f"ended as migrated after {commits} commits that took effect"
    if execution.outcome == "already_migrated" and commits and attempts == 1:
        return "ended as already migrated, but it was committed"
    return None
