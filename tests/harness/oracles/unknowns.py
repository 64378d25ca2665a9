"""Outcomes that nobody can know: changes whose answers said nothing for certain, by the journal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from edgeshift.testbed.invariants.requests import UNKNOWN_4XX, Request

DONE = frozenset({"migrated", "already_migrated", "settled", "already_settled", "rolled_back"})
"""Outcomes that need no person."""

SPOILT = ("not_json", "truncated", "wrong_types", "unknown_enum", "poisoned", "hang", "reset")
"""Faults whose answer says nothing for certain, whatever its status is."""


def is_unknown(request: Request) -> bool:
    """Whether the answer to a change left open what came of it."""
    if not request.mutates or request.status == 429:
        return False
    if (request.fault or "").startswith(SPOILT):
        return True
    return request.status is None or request.status >= 500 or request.status in UNKNOWN_4XX


def met_and_resolved(journal: Iterable[Request], outcomes: Mapping[str, str]) -> tuple[int, int]:
    """How many unknown outcomes there were, and how many of those were of zones that ended without a person.
    ``outcomes``: by the zone's identifier.
    """
    zones = [request.zone or "" for request in journal if is_unknown(request)]
    return len(zones), sum(outcomes.get(zone) in DONE for zone in zones)
