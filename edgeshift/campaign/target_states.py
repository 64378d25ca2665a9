"""Where a campaign's targets can be, and what their words say of it. Pure."""

from __future__ import annotations

from edgeshift.messages import ReportKind, ZoneReport
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.target_state import TargetState as TargetState

FINAL = tuple(place for place in TargetState if place >= TargetState.EXCLUDED)
"""States of targets that have come to an end."""

OPEN = tuple(place for place in TargetState if TargetState.PENDING < place < TargetState.EXCLUDED)
"""States of targets that have been started and have no outcome yet."""

IN_FLIGHT = (TargetState.WORKING, TargetState.PERMITTED)
"""States that take a slot of the window: zones that work, not zones that wait for a window or a person."""

AWAITING = (TargetState.AWAITING, TargetState.AWAITING_SEPARATE)
"""States of zones that wait for a sign-off."""

AWAITING_WORDS = (TargetState.AWAITING.word, TargetState.AWAITING_SEPARATE.word)
"""Their words: of those that wait together, and of those that wait each for a sign-off of its own."""

WAITS = frozenset(
    {TargetState.WORKING, TargetState.WAITING, TargetState.SUPPORT, *AWAITING, TargetState.STOPPING}
)
"""States of zones that may wait for something else than is known: one that was reset, or that did not end by
what it was told.
"""

FAILURES = (TargetState.FAILED, TargetState.UNKNOWN, TargetState.ROLLED_BACK)
"""States that count against the failures which later waves allow."""

REOPENED = frozenset(
    {TargetState.REJECTED, TargetState.ON_HOLD, TargetState.ABORTED, TargetState.ROLLED_BACK}
)
"""States from which only a reopening begins a target again."""

OUTCOME_PLACE = {outcome: TargetState[outcome.name] for outcome in ZoneOutcome}
PLACE_OUTCOME = {place: outcome for outcome, place in OUTCOME_PLACE.items()}

REPORTED = {
    ReportKind.WAITING: TargetState.WAITING,
    ReportKind.SUPPORT: TargetState.SUPPORT,
}
"""Where a target is that has said so; of other words it depends on more."""

LAST_WORDS = frozenset({ReportKind.FINISHED, ReportKind.RELEASED})
"""Words of a target after which it asks for nothing."""

KNOWN = {
    TargetState.WAITING: ReportKind.WAITING,
    TargetState.SUPPORT: ReportKind.SUPPORT,
    TargetState.AWAITING: ReportKind.AWAITING,
    TargetState.AWAITING_SEPARATE: ReportKind.AWAITING,
}
"""What a target has said last that is at a place."""


def signed_anew(zones: int) -> str:
    """What is told beside how many targets begin again: so many whose sign-off did not count, if any."""
    if not zones:
        return ""
    be = agreed(zones, "is to be signed off again, for its", "are to be signed off again, for their")
    return f"; {counted(zones, 'zone')} {be} sign-off did not count"


def is_said(report: ZoneReport, known: str) -> bool:
    """Whether a word says no more than is known of its target (``Ledger.said_by``)."""
    kind, _, fingerprint = known.partition(":")
    return report.kind.value == kind and (not fingerprint or report.fingerprint == fingerprint)
