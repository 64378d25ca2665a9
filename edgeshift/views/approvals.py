"""Who has approved what still waits, as a campaign's summary tells it. Pure."""

from __future__ import annotations

from edgeshift.messages import CampaignSummary
from edgeshift.model.sign_off import Choice

MOST_NAMED = 3


def approved_by(summary: CampaignSummary, fingerprint: str) -> list[str]:
    """Whoever has approved a fingerprint, for all zones or for a wave of it, in the order of their words. The
    summary names the latest decisions alone.
    """
    return list(
        dict.fromkeys(
            decision.by
            for entry in summary.book
            if entry.fingerprint == fingerprint
            for decision in entry.decisions
            if decision.choice is Choice.APPROVE
        )
    )


def approvals_so_far(summary: CampaignSummary, fingerprint: str) -> str:
    """The same in words; empty where nobody has. What waits needs further ones."""
    people = approved_by(summary, fingerprint)
    if not people:
        return ""
    unnamed = sum(entry.earlier for entry in summary.book if entry.fingerprint == fingerprint)
    others = max(0, len(people) - MOST_NAMED) + unnamed
    more = f" and {others} more" if others else ""
    return f"approved by {', '.join(people[:MOST_NAMED])}{more}"
