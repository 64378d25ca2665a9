"""What the Temporal server has of the zones' workflows: whose zone, whose campaign, from when to when, how it
ended.

The zone is read from each execution's own first event, not from its identifier, which is the lock that is
checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowHistoryEventFilterType,
)

from edgeshift.testbed.invariants.areas import checkers
from edgeshift.testbed.invariants.seen import Execution, HeldZone

AT_ONCE = 16

KINDS = tuple(checker.workflow for checker in checkers().values())
"""The workflows of one target, of each area."""


async def load_executions(client: Client, since: datetime | None = None) -> tuple[Execution, ...]:
    """Every execution of a zone's or an account's migration that the server keeps, or that began ``since``
    then. Runs that went on in a next one are left out.
    """
    kinds = ", ".join(f"'{kind}'" for kind in KINDS)
    found = [
        execution
        async for execution in client.list_workflows(f"WorkflowType IN ({kinds})" + begun(since))
        if execution.status is not WorkflowExecutionStatus.CONTINUED_AS_NEW
    ]
    gate = asyncio.Semaphore(AT_ONCE)

    async def load(execution: WorkflowExecution) -> Execution:
        async with gate:
            return await _load(client, execution)

    return tuple(await asyncio.gather(*map(load, found)))


async def _load(client: Client, execution: WorkflowExecution) -> Execution:
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
    start, began = await _beginning(client, execution)
    outcome: str | None = None
    if execution.status is WorkflowExecutionStatus.COMPLETED:
        last = await _close_event(handle)
        result = await _decoded(client, last.workflow_execution_completed_event_attributes.result)
        outcome = str(result.get("outcome")) if isinstance(result, dict) else None
    return Execution(
        run=execution.run_id,
        campaign=str(start["campaign"]).removeprefix("campaign/"),
        zone=str(start["target"]["zone"]["id"]),
        started_at=began,
        closed_at=execution.close_time,
        outcome=outcome,
        area=str(start.get("area", "waf")),
    )


def begun(since: datetime | None) -> str:
    """What a query of the server's list adds for those that began then or later."""
    return f" AND StartTime >= '{since.isoformat()}'" if since else ""


async def load_holds(client: Client, since: datetime | None = None) -> tuple[HeldZone, ...]:
    """Every hold on a zone for its account that the server keeps, or that began ``since`` then."""
    query = "WorkflowType = 'ZoneHold'" + begun(since)
    found = [execution async for execution in client.list_workflows(query)]

    async def load(execution: WorkflowExecution) -> HeldZone:
        start, _ = await _beginning(client, execution)
        return HeldZone(
            zone=str(start["zone_id"]),
            account=str(start["holder"]).split("/")[1],
            started_at=execution.start_time,
            closed_at=execution.close_time,
        )

    return tuple([await load(execution) for execution in found])


async def _beginning(client: Client, execution: WorkflowExecution) -> tuple[Any, datetime]:
    """The input of an execution, out of its own first event, and from when on it lived: with its first task.
    The server notes the time of a start before it looks whether the identifier is free, which may be a moment
    before the one before it has closed. The events of a run that was reset are older than itself.
    """
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
    start: Any = None
    async for event in handle.fetch_history_events(page_size=10):
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            start = await _decoded(client, event.workflow_execution_started_event_attributes.input)
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
            return start, max(execution.start_time, event.event_time.ToDatetime(UTC))
    return start, execution.start_time


async def _close_event(handle: WorkflowHandle[Any, Any]) -> HistoryEvent:
    events = handle.fetch_history_events(event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT)
    return [event async for event in events][-1]


async def _decoded(client: Client, payloads: Payloads) -> Any:
    values: Sequence[Any] = await client.data_converter.decode(payloads.payloads)
    return values[0] if values else None
