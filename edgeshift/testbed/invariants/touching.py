"""Rules 4 and 5: what must be there, or must not be done, before a zone is touched.

Their witnesses are the ticket system and the archive, read as plain files, beside the journal.
"""

from __future__ import annotations

from collections import Counter

from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import RuleCheck, SnapshotFile, WitnessInput

SNAPSHOT_HOLDS = {
    "waf": frozenset({"check", "firewall_rules", "page_rules", "overrides", "packages", "groups"}),
    "esc": frozenset({"always", "secret"}),
    "log-fields": frozenset({"plan", "rulesets", "jobs"}),
}
"""The parts of a zone that a snapshot has at the least, by area."""


def supported(seen: WitnessInput) -> RuleCheck:
    """Rule 4. A zone over a limit is never sent a PUT, and has exactly one open ticket a cause."""
    violations: list[str] = []
    expected: set[tuple[str, str]] = set()
    for zone, requests in seen.of_zone.items():
        for request in requests:
            if request.method == "PUT" and request.over_the_limits:
                causes = " and ".join(sorted(request.over_the_limits))
                violations.append(
                    f"{seen.name(zone)}: was sent a PUT while over a limit: {causes} (request {request.seq})"
                )
        if seen.campaigns_of(zone):
            expected |= {(zone, cause) for cause in _causes(requests)}
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
        witness="ticket system, journal",
        checked=len(expected),
        violations=violations,
    )


def _causes(requests: list[Request]) -> frozenset[str]:
    """The limits that the zone was over whenever its rules were read to their end, unless it was migrated
    already.
    """
    found: set[str] = set()
    for request in requests:
        state = request.state_before or {}
        read = request.call == "firewall.rules.list" and request.status == 200
        if read and state.get("migration_state") in ("start", "validation"):
            found |= request.over_the_limits
    return frozenset(found)


def snapshotted(seen: WitnessInput) -> RuleCheck:
    """Rule 5. A snapshot is in the archive before the first mutating call to a zone."""
    by_zone: dict[str, list[SnapshotFile]] = {}
    for snapshot in seen.snapshots:
        by_zone.setdefault(snapshot.zone, []).append(snapshot)
    violations: list[str] = []
    checked = 0
    for zone, requests in seen.of_zone.items():
        first = next((request for request in requests if request.mutates), None)
        if first is None:
            continue
        checked += 1
        needed = SNAPSHOT_HOLDS[first.area]
        earlier = [snapshot for snapshot in by_zone.get(zone, ()) if snapshot.written_at <= first.time]
        name = f"{seen.name(zone)}: {first.call} (request {first.seq})"
        if not earlier:
            violations.append(f"{name} was sent before a snapshot was in the archive")
        elif not any(snapshot.intact for snapshot in earlier):
            violations.append(f"{name} was sent with a damaged snapshot: {earlier[0].path}")
        elif not any(snapshot.intact and snapshot.holds >= needed for snapshot in earlier):
            missing = ", ".join(sorted(needed - earlier[0].holds))
            violations.append(f"{name} was sent with a snapshot that lacks {missing}")
    return RuleCheck(
        rule=5,
        title="a snapshot precedes the first change",
        witness="archive, journal",
        checked=checked,
        violations=violations,
    )
