"""Rules 9 and 11: one live migration a zone, and nothing lost. Checked by the journal, the Temporal
server's own list of executions, the frozen target lists, and the state at the service.
"""

from __future__ import annotations

import itertools

from edgeshift.testbed.invariants.areas import checker_of, checkers
from edgeshift.testbed.invariants.course import settled
from edgeshift.testbed.invariants.seen import CheckerInput, Execution, RuleCheck


def locked(seen: CheckerInput) -> RuleCheck:
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
            if not settled(requests[first : second + 1]):
                violations.append(
                    f"{seen.name(zone)}: {requests[second].call} was sent"
                    f" while {requests[first].call} was not settled"
                    f" (requests {requests[first].seq} and {requests[second].seq})"
                )
    held, broken = _held(seen)
    violations += broken
    checked += held
    return RuleCheck(
        rule=9,
        title="one live migration a zone",
        checker="journal, Temporal server",
        checked=checked,
        violations=violations,
    )


def _held(seen: CheckerInput) -> tuple[int, list[str]]:
    """An account's zones are held while the account is changed, and no zone is changed while it is held."""
    checked, violations = 0, []
    for request in seen.journal:
        scope = seen.zone.get(request.zone or "")
        if not request.mutates or scope is None or not checker_of(request).accounts:
            continue
        covered = [zone for zone in seen.zones if zone.kind == "zone" and zone.account == scope.id]
        for zone in covered if scope.kind == "account" else [scope]:
            holders = [
                hold
                for hold in seen.holds
                if hold.zone == zone.id
                and hold.started_at <= request.time
                and (hold.closed_at is None or request.time <= hold.closed_at)
            ]
            checked += scope.kind == "account"
            if scope.kind == "account" and not any(hold.account == scope.id for hold in holders):
                violations.append(
                    f"{scope.name}: {request.call} was sent while {zone.name} was not held"
                    f" (request {request.seq})"
                )
            if scope.kind == "zone" and holders:
                violations.append(
                    f"{zone.name}: {request.call} was sent while its account held it (request {request.seq})"
                )
    return checked, violations


def nothing_lost(seen: CheckerInput) -> RuleCheck:
    """Rule 11. Every zone of every frozen list reaches an outcome, and the service's state agrees with it."""
    last: dict[tuple[str, str], Execution] = {}
    for executions in seen.executions_of.values():
        last.update({(execution.campaign, execution.zone): execution for execution in executions})
    violations: list[str] = []
    for campaign, targets in seen.targets.items():
        for zone in targets:
            if zone in seen.excluded.get(campaign, frozenset()) and held_by_another(seen, campaign, zone):
                continue
            if _spared(seen, campaign, zone):
                continue
            if why := _lost(seen, zone, last.get((campaign, zone))):
                violations.append(f"{seen.name(zone)} of {campaign}: {why}")
        if twice := len(targets) - len(set(targets)):
            violations.append(f"{campaign}: zones that stand twice in the frozen list: {twice}")
    return RuleCheck(
        rule=11,
        title="nothing is lost",
        checker="frozen targets, Temporal server, state at the service",
        checked=sum(map(len, seen.targets.values())),
        violations=violations,
    )


def held_by_another(seen: CheckerInput, campaign: str, zone: str) -> bool:
    """Whether another campaign, or another scope of any, had a zone, by the Temporal server: a campaign that
    leaves a zone out is not believed otherwise.
    """
    return any(one.campaign != campaign for one in seen.executions_of.get(zone, ())) or any(
        hold.zone == zone for hold in seen.holds
    )


def _spared(seen: CheckerInput, campaign: str, zone: str) -> bool:
    """Whether an abort came before the zone was begun: nothing ever changed it."""
    return (
        any(facts.name == campaign and facts.aborted for facts in seen.campaigns)
        and zone not in seen.executions_of
        and not any(request.mutates for request in seen.of_zone.get(zone, ()))
    )


def _lost(seen: CheckerInput, zone: str, execution: Execution | None) -> str | None:
    if execution is None:
        return "was never started"
    if execution.closed_at is None:
        return "has not ended"
    if execution.outcome is None:
        return "ended without an outcome"
    at_service = seen.zone.get(zone)
    if at_service is None:
        return "is not at the service"
    latest = execution is seen.executions_of[zone][-1]
    areas = [facts.area for facts in seen.campaigns if facts.name == execution.campaign]
    checker = checkers()[areas[0] if areas else execution.area]
    if latest or not checker.reversible:
        return checker.disagrees(seen, at_service, execution)
    return None
