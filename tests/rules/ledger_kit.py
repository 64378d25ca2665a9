"""Ledgers and reports of zones, as the tests of a campaign's memory need them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.campaign.book import DecidingWord
from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import ReportKind, Step, ZoneReport
from edgeshift.model.fleet import Wave, ZoneOutcome
from edgeshift.model.sign_off import Decision

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
FORTNIGHT = timedelta(days=14)
SHAPE, OTHER = "a" * 64, "b" * 64


def ledger(count: int = 10, begun: bool = True, waves: tuple[Wave, ...] = ()) -> Ledger:
    """A ledger of so many targets; ``begun``: all of which were started."""
    found = Ledger(count, NOW, FORTNIGHT / 100, waves=waves)
    for index in range(count if begun else 0):
        found.begin(index)
    return found


def report(
    sequence: int, kind: ReportKind = ReportKind.WAITING, index: int = 3, attempt: int = 1, **more: Any
) -> ZoneReport:
    """What the workflow of a target reports."""
    return ZoneReport(campaign_run="r", index=index, attempt=attempt, sequence=sequence, kind=kind, **more)


def awaiting(sequence: int = 1, index: int = 3, fingerprint: str = SHAPE, **more: Any) -> ZoneReport:
    """A target waits for a sign-off."""
    return report(sequence, ReportKind.AWAITING, index, fingerprint=fingerprint, step=Step.COMMIT, **more)


def finished(sequence: int = 9, outcome: ZoneOutcome = ZoneOutcome.MIGRATED, **more: Any) -> ZoneReport:
    """A target has ended."""
    return report(sequence, ReportKind.FINISHED, outcome=outcome, **more)


def said(found: Ledger, *decisions: Decision, wave: int | None = None) -> None:
    """The book says this, of the fingerprints that the decisions are about."""
    for one in decisions:
        found.book.record(one.digest, wave, DecidingWord(one.choice, one.by, one.reason, one.at))


def place(found: Ledger, index: int = 3) -> TargetState:
    """Where the ledger has a target."""
    return TargetState(found.places[index])
