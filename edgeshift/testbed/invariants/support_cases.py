"""Rule 4 of the migration: what must not be done to a zone over a limit, checked by the ticket system."""

from __future__ import annotations

from collections import Counter

from edgeshift.profiles import ServiceProfile
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck


def supported(seen: CheckerInput) -> RuleCheck:
    """Rule 4. A zone over a limit is never sent a PUT, and has exactly one open ticket a cause."""
    violations: list[str] = []
    expected: set[tuple[str, str]] = set()
    for zone, requests in seen.of_zone.items():
        for request in requests:
            if request.method == "PUT" and request.over_the_limits(seen.service):
                causes = " and ".join(sorted(request.over_the_limits(seen.service)))
                violations.append(
                    f"{seen.name(zone)}: was sent a PUT while over a limit: {causes} (request {request.seq})"
                )
        if seen.campaigns_of(zone):
            expected |= {(zone, cause) for cause in _causes(requests, seen.service)}
    open_tickets = Counter((ticket.zone, ticket.cause) for ticket in seen.tickets if ticket.open)
    for zone, cause in sorted(expected):
        if (count := open_tickets[zone, cause]) != 1:
            violations.append(f"{seen.name(zone)}: {count} open tickets for {cause}, there should be one")
    violations += [
        f"{seen.name(zone)}: {count} open tickets for {cause}"
        for (zone, cause), count in open_tickets.items()
        if count > 1 and (zone, cause) not in expected
    ]
    return RuleCheck(
        rule=4,
        title="over a limit: no PUT, one open ticket a cause",
        checker="ticket system, journal",
        checked=len(expected),
        violations=violations,
    )


def _causes(requests: list[Request], profile: ServiceProfile) -> frozenset[str]:
    """The limits that the zone was over whenever its rules were read to their end, unless it was migrated
    already.
    """
    found: set[str] = set()
    for request in requests:
        state = request.state_before or {}
        read = request.call == "firewall.rules.list" and request.status == 200
        if read and state.get("migration_state") in ("start", "validation"):
            found |= request.over_the_limits(profile)
    return frozenset(found)
