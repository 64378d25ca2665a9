"""What Temporal alone knows of a campaign, for as long as it keeps histories: how it and its targets ended.

It proves nothing: whoever reaches Temporal can have it say so (docs/audit.md).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.service import RPCError

from edgeshift.audit.chain import Kind
from edgeshift.audit.spool import Spool
from edgeshift.messages import CampaignResult, ZoneResult
from edgeshift.model.digests import NotCanonical
from edgeshift.model.fleet import attempt_in, campaign_id, migration_id
from edgeshift.runtime.temporal import UNREADABLE, is_missing, memo_of, origin_in, targets_of

AT_ONCE = 24


async def add_temporal_outcomes(client: Client, campaign: str, spool: Spool) -> bool:
    """Add how the campaign and its targets ended, as far as Temporal still knows; False where it knows
    nothing of the campaign. ``spool``: with the targets that the archive has. Raises RPCError.
    """
    handle = client.get_workflow_handle(campaign_id(campaign), result_type=CampaignResult)
    try:
        described = await handle.describe()
    except RPCError as failure:
        if not is_missing(failure):
            raise
        return False
    status = described.status or WorkflowExecutionStatus.RUNNING
    line = {"outcomes": {}, "run": described.run_id, "state": status.name.lower()}
    if status is WorkflowExecutionStatus.COMPLETED:
        # What cannot be read is of another version, or somebody else's.
        with suppress(*UNREADABLE):
            line["outcomes"] = CampaignResult.model_validate(await handle.result()).outcomes
    try:
        spool.add(Kind.CAMPAIGN, described.run_id, line)
    except NotCanonical:
        # It counts further than any campaign has targets.
        spool.add(Kind.CAMPAIGN, described.run_id, {**line, "outcomes": {}})
    some: list[WorkflowExecution] = []
    async for execution in client.list_workflows(targets_of(campaign)):
        if execution.status is WorkflowExecutionStatus.COMPLETED:
            some.append(execution)
        if len(some) == AT_ONCE:
            await asyncio.gather(*(_outcome(client, one, spool) for one in some))
            some = []
    await asyncio.gather(*(_outcome(client, one, spool) for one in some))
    return True


async def _outcome(client: Client, execution: WorkflowExecution, spool: Spool) -> None:
    memo = await memo_of(execution) or {}
    index, attempt = memo.get("index"), attempt_in(memo)
    if not attempt or type(index) is not int or not _is_of(spool, index, execution.id):
        # It is none of a target's, whoever has started it in the campaign's name.
        return
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id, result_type=ZoneResult)
    try:
        result = ZoneResult.model_validate(await handle.result(follow_runs=False))
    except WorkflowFailureError:
        return
    except RPCError as failure:
        if not is_missing(failure):
            raise
        # Its history went while the list was read.
        return
    except UNREADABLE:
        # Nor is what ended so.
        return
    line = {
        "attempt": attempt,
        "campaign_run": origin_in(memo),
        "closed": execution.close_time.isoformat() if execution.close_time else None,
        "digest": result.digest,
        "index": index,
        "outcome": result.outcome.value,
        "reason": result.reason[:300],
        "record": result.record,
        "run": execution.run_id,
        "workflow": execution.id,
    }
    spool.add(Kind.OUTCOME, f"{index:09d}/{attempt:06d}/{execution.run_id}", line)


def _is_of(spool: Spool, index: int, identifier: str) -> bool:
    """Whether a workflow with this identifier is that of the target with this index."""
    zones = spool.targets_at(index)
    return any(identifier == migration_id(zone, area) for zone in zones for area in spool.areas)
