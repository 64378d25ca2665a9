"""The states of a campaign as a whole. Pure."""

from __future__ import annotations

from enum import StrEnum


class CampaignPhase(StrEnum):
    """Where a campaign stands, in one word."""

    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    HALTED = "halted"
    ABORTING = "aborting"
    CLOSED = "closed"


SIGNABLE = frozenset(
    {CampaignPhase.RUNNING, CampaignPhase.PAUSING, CampaignPhase.PAUSED, CampaignPhase.HALTED}
)
"""States in which a sign-off still leads to something."""

ENDING = frozenset({CampaignPhase.ABORTING, CampaignPhase.CLOSED})
"""States in which nothing new begins, and never will, whatever the zones say."""
