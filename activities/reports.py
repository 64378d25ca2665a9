"""Telling a campaign what a zone has to say."""

from __future__ import annotations

from typing import Any

from temporalio import activity
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from activities.connections import Connections
from edgeshift.messages import Announce, ReportKind, Step, ZoneReport, ZoneStart
from edgeshift.runtime.temporal import is_missing


class ReportActivities:
    """Signals from a zone to its campaign."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="tell_campaign")
    async def tell(self, announce: Announce) -> None:
        """Send a report. Raises CampaignClosed where the campaign has come to its end, CampaignGone where it
        was ended from outside or is not known; all else is retried.
        """
        await tell_campaign(self._connections, announce)


async def tell_campaign(connections: Connections, announce: Announce) -> None:
    """Send a zone's report to its campaign, to whichever run of it is open."""
    handle = connections.temporal.get_workflow_handle(announce.campaign)
    try:
        await handle.signal("zone_report", announce.report)
    except RPCError as failure:
        if not is_missing(failure):
            raise
        kind = "CampaignClosed" if await _has_closed(handle) else "CampaignGone"
        text = f"no open campaign {announce.campaign}"
        raise ApplicationError(text, type=kind, non_retryable=True) from None


async def told_unless_gone(connections: Connections, announce: Announce) -> bool:
    """Send the report that an activity ends with; whether it was taken. What else the activity did counts
    also where the campaign was ended from outside, or is not known: one that goes on asks its zones again.
    """
    try:
        await tell_campaign(connections, announce)
    except ApplicationError as failure:
        if failure.type != "CampaignGone":
            raise
        return False
    return True


async def _has_closed(handle: WorkflowHandle[Any, Any]) -> bool:
    """Whether the campaign came to its own end. One that was terminated may be reset, or started again."""
    try:
        return (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED
    except RPCError as failure:
        if not is_missing(failure):
            raise
        return False


def awaiting(
    start: ZoneStart,
    *,
    digest: str,
    fingerprint: str,
    sequence: int,
    joins: bool,
    releases: int | None = None,
) -> Announce:
    """The word of an activity that a target waits for the sign-off of this commit. ``sequence``: that of the
    activity's message; ``releases``, ``joins``: as in ``ZoneReport``.
    """
    report = ZoneReport(
        campaign_run=start.campaign_run,
        index=start.index,
        attempt=start.attempt,
        # An attempt that was lost may have said otherwise: the word of the later one counts.
        sequence=sequence + activity.info().attempt - 1,
        kind=ReportKind.AWAITING,
        releases=releases,
        step=Step.COMMIT,
        digest=digest,
        fingerprint=fingerprint,
        joins=joins,
    )
    return Announce(campaign=start.campaign, report=report)
