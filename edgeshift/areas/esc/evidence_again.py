"""A probe judged again just before esc is turned off, by what the archived report says. Pure."""

from __future__ import annotations

from datetime import datetime

from edgeshift.areas.esc.difference_texts import doubts
from edgeshift.areas.esc.report import ProbeReport
from edgeshift.areas.evidence import About, EvidenceAgain
from edgeshift.model.fleet import Zone


def _asked(spec: object, zone: Zone) -> bool:
    return True


def _passes(report: ProbeReport, spec: object, now: datetime) -> About | None:
    return None if doubts(report) else About(report.zone, report.proposal, report.made_at)


def _of(report: ProbeReport) -> tuple[str, str]:
    return report.zone, report.proposal


AGAIN = EvidenceAgain(ProbeReport, _asked, _passes, _of)
"""How the area's evidence is judged again at the door."""
