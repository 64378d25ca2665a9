"""Rule 5: what must be there before a zone is touched, checked by the archive, read as plain files."""

from __future__ import annotations

from edgeshift.testbed.invariants.areas import checker_of
from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck, SnapshotFile


def snapshotted(seen: CheckerInput) -> RuleCheck:
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
        needed = checker_of(first).snapshot
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
        checker="archive, journal",
        checked=checked,
        violations=violations,
    )
