"""What a campaign's and its zones' histories hold, as the Temporal server has them."""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowHistoryEventFilterType,
)

from bench.figures import spread
from edgeshift.testbed.invariants.executions import KINDS

LISTED_WITHIN = 30.0
"""Seconds until the server's list has what has ended."""


async def campaign_histories(client: Client, workflow_id: str) -> dict[str, Any]:
    """``state_bytes``: the largest state that a run of the campaign began or ended with, which is the largest
    input or result; ``history_events_per_run``: the most events of a run; ``events_of_runs``, the earliest
    first.
    """
    runs = sorted(
        [run async for run in client.list_workflows(f"WorkflowId = '{workflow_id}'")],
        key=lambda run: run.start_time,
    )
    sizes, events = [], []
    for run in runs:
        began, ended, number = await _of_run(client, run)
        sizes += [began, ended]
        events.append(number)
    return {
        "state_bytes": max(sizes, default=0),
        "history_events_per_run": max(events, default=0),
        "events_of_runs": events,
    }


async def _of_run(client: Client, run: WorkflowExecution) -> tuple[int, int, int]:
    """Bytes of its input and of its result (or of what it handed on), and its number of events."""
    handle = client.get_workflow_handle(run.id, run_id=run.run_id)
    began, ended = await began_with(client, run.id, run.run_id), 0
    described = await handle.describe()
    if described.close_time is not None:
        close = WorkflowHistoryEventFilterType.CLOSE_EVENT
        async for event in handle.fetch_history_events(event_filter_type=close):
            ended = max(
                _size(event.workflow_execution_completed_event_attributes.result),
                _size(event.workflow_execution_continued_as_new_event_attributes.input),
            )
    return began, ended, described.history_length


async def began_with(client: Client, workflow_id: str, run_id: str) -> int:
    """Bytes of a run's input. Raises RPCError."""
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    async for event in handle.fetch_history_events(page_size=1):
        return _size(event.workflow_execution_started_event_attributes.input)
    return 0


def _size(payloads: Payloads) -> int:
    return sum(len(payload.data) for payload in payloads.payloads)


async def zone_histories(client: Client, plans: dict[str, str], zones: int) -> dict[str, Any]:
    """The events of the zones' histories by plan (identifier to plan): of ``zones`` that have ended."""
    kinds = ", ".join(f"'{kind}'" for kind in KINDS)
    query = f"WorkflowType IN ({kinds}) AND ExecutionStatus != 'Running'"
    until = asyncio.get_running_loop().time() + LISTED_WITHIN
    found: list[WorkflowExecution] = []
    while True:
        found = [one async for one in client.list_workflows(query)]
        if len(found) >= zones or asyncio.get_running_loop().time() > until:
            break
        await asyncio.sleep(0.5)
    lengths: dict[str, list[int]] = {plan: [] for plan in sorted(set(plans.values()))}
    for one in found:
        plan = plans.get(one.id.split("/")[1])
        if plan is not None:
            lengths[plan].append(one.history_length)
    return {plan: spread(events) for plan, events in lengths.items()}


async def last_tasks(client: Client, workflow_id: str) -> list[float]:
    """The seconds of the workflow task in which each run of a campaign handed its state on to the next one:
    packing, with the task's way to the server and back.
    """
    found = []
    async for run in client.list_workflows(f"WorkflowId = '{workflow_id}'"):
        if run.status is not WorkflowExecutionStatus.CONTINUED_AS_NEW:
            continue
        began = ended = None
        handle = client.get_workflow_handle(run.id, run_id=run.run_id)
        async for event in handle.fetch_history_events():
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
                began = event.event_time.ToDatetime()
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
                ended = event.event_time.ToDatetime()
        if began and ended:
            found.append(round((ended - began).total_seconds(), 3))
    return found
