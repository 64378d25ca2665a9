"""Rules 9 and 11: one live migration a zone, and nothing lost. Witnessed by the journal, the Temporal
server's own list of executions, the frozen target lists, and the state at the service.
"""

from __future__ import annotations

import itertools

from edgeshift.witness.seen import Execution, Request, RuleCheck, WitnessInput

DONE = frozenset({"migrated", "already_migrated"})
UNDECIDED = frozenset({"unknown"})


def locked(seen: WitnessInput) -> RuleCheck:
    """Rule 9. One zone has at most one live migration.

    Two migrations of one zone would show as executions that overlap, and at the service as a change that is
    sent while the one before is not settled: no reading of the zone's status in between.
    """
    violations: list[str] = []
    for zone, executions in seen.executions_of.items():
        for earlier, later in itertools.pairwise(executions):
            if earlier.closed_at is None or later.started_at < earlier.closed_at:
                violations.append(
                    f"{seen.name(zone)}: two live migrations, of {earlier.campaign} and of {later.campaign}"
                    f" since {later.started_at:%H:%M:%S.%f}"
                )
    checked = 0
    for zone, requests in seen.of_zone.items():
        changes = [place for place, request in enumerate(requests) if request.mutates]
        checked += bool(changes)
        for first, second in itertools.pairwise(changes):
            if not _settled(requests[first : second + 1]):
                violations.append(
                    f"{seen.name(zone)}: {requests[second].call} was sent"
                    f" while {requests[first].call} was not settled"
                    f" (requests {requests[first].seq} and {requests[second].seq})"
                )
    return RuleCheck(
        rule=9,
        title="one live migration a zone",
        witness="journal, Temporal server",
        checked=checked,
        violations=violations,
    )


def _settled(between: list[Request]) -> bool:
    """Whether the first of these requests was settled before the last: refused, of the same kind of
    deletion, or followed by a reading that would show it.
    """
    first, last = between[0], between[-1]
    refused = first.status is not None and 400 <= first.status < 500 and not first.took_effect
    return (
        refused
        or (first.call == last.call and first.method == "DELETE")
        or any(
            request.call in ("waf.status", "waf.check") and request.status == 200 for request in between[1:-1]
        )
    )


def nothing_lost(seen: WitnessInput) -> RuleCheck:
    """Rule 11. Every zone of every frozen list reaches an outcome, and the service's state agrees with it."""
    last: dict[tuple[str, str], Execution] = {}
    for executions in seen.executions_of.values():
        last.update({(execution.campaign, execution.zone): execution for execution in executions})
    violations: list[str] = []
    for campaign, targets in seen.targets.items():
        for zone in targets:
            if zone in seen.excluded.get(campaign, frozenset()) or _spared(seen, campaign, zone):
                continue
            if why := _lost(seen, zone, last.get((campaign, zone)), len(seen.executions_of.get(zone, ()))):
                violations.append(f"{seen.name(zone)} of {campaign}: {why}")
        if twice := len(targets) - len(set(targets)):
            violations.append(f"{campaign}: {twice} zone(s) stand twice in the frozen list")
    return RuleCheck(
        rule=11,
        title="nothing is lost",
        witness="frozen targets, Temporal server, state at the service",
        checked=sum(map(len, seen.targets.values())),
        violations=violations,
    )


def _spared(seen: WitnessInput, campaign: str, zone: str) -> bool:
    """Whether an abort came before the zone was begun: nothing ever changed it."""
    return (
        any(facts.name == campaign and facts.aborted for facts in seen.campaigns)
        and zone not in seen.executions_of
        and not any(request.mutates for request in seen.of_zone.get(zone, ()))
    )


def _lost(seen: WitnessInput, zone: str, execution: Execution | None, attempts: int) -> str | None:
    if execution is None:
        return "was never started"
    if execution.closed_at is None:
        return "has not ended"
    if execution.outcome is None:
        return "ended without an outcome"
    at_service = seen.zone.get(zone)
    if at_service is None:
        return "is not at the service"
    if execution.outcome in DONE and not at_service.migrated:
        return f"ended as {execution.outcome}, but the service has not migrated it"
    latest = seen.executions_of[zone][-1]
    if execution is latest and at_service.migrated and execution.outcome not in DONE | UNDECIDED:
        return f"ended as {execution.outcome}, but the service has migrated it"
    commits = sum(request.took_effect for request in seen.of_zone.get(zone, ()) if request.commits)
    if execution.outcome == "migrated" and commits != 1:
        return f"ended as migrated after {commits} commits that took effect"
    if execution.outcome == "already_migrated" and commits and attempts == 1:
        return "ended as already migrated, but it was committed"
    return None
