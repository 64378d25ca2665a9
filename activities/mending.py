"""Mending workflows whose history the SDK no longer replays.

When a worker dies, the server hands its workflow task to another one. An update that comes with such a task
is recorded after the commands of the same task, and replayed before them (docs/decisions.md), so that the
workflow would never get on once no worker has it in its cache. It is reset to just before that task: signals
and updates since then are applied again, and whatever edgeshift does twice counts once.

The same comes of a query that reaches a new worker before the dead one's task has timed out: what had come
in until then is applied for the query, and the rest with the next task, while a replay applies all of it at
once. Such a workflow is reset to before the first task after that time-out.

And a query that comes with a task which makes a local activity: the task is completed with the activity's
result, and the workflow is given it in the next task only, with the messages that came in between; a replay
gives it before them. Such a workflow is reset to before the task that made the activity.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterable

import structlog
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionDescription
from temporalio.service import RPCError

log = structlog.get_logger("edgeshift.mending")

LOOKS_EVERY = 30.0
"""Seconds between looks for workflows that do not get on."""

FAILED_AT_LEAST = 2
"""Attempts of a workflow task from which on it is looked at."""

_ASTRAY = (
    WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
    WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
)
"""Why a task fails whose replay leaves the history: the engine says so, or the workflow is handed what it did
not ask for. One that fails for a reason of its own gets no worse by a reset.
"""

_MESSAGES = (
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
)
"""What may come between a task and the next one."""

_LOCAL_ACTIVITY = "core_local_activity"
"""The name of the marker that keeps a local activity's result."""

_BROKEN = "Update machine does not handle this event"
_EVENT = re.compile(r"HistoryEvent\(id: (\d+)")


async def mend_regularly(client: Client, every: float = LOOKS_EVERY) -> None:
    """Look for open workflows that do not replay, and mend them, until cancelled."""
    while True:
        await asyncio.sleep(every)
        try:
            await mend(client)
        except RPCError as failure:
            log.info("no look for workflows to mend", reason=failure.message)


async def mend(client: Client) -> list[str]:
    """Mend every campaign and quota that fails to replay for this reason; their identifiers.

    Zones are mended by the sweep of their campaign, which looks at them anyway.
    """
    mended = []
    query = "ExecutionStatus = 'Running' AND WorkflowType IN ('Campaign', 'Quota')"
    async for found in client.list_workflows(query):
        described = await client.get_workflow_handle(found.id, run_id=found.run_id).describe()
        if await mend_one(client, described):
            mended.append(found.id)
    return mended


async def mend_one(client: Client, found: WorkflowExecutionDescription) -> bool:
    """Mend a workflow if its task fails again and again for this reason; whether it did."""
    if found.raw_description.pending_workflow_task.attempt < FAILED_AT_LEAST:
        return False
    handle = client.get_workflow_handle(found.id, run_id=found.run_id)
    event = broken_at([event async for event in handle.fetch_history_events()])
    if event is None:
        return False
    await reset_before(client, found.id, found.run_id, event)
    return True


def broken_at(history: Iterable[HistoryEvent]) -> int | None:
    """The event at or after which the workflow's replay leaves its history for a known reason, from its last
    failed task: the one that does not fit, the first task after one of a dead worker timed out, or one whose
    local activity the workflow may have been told of only after a message that came later.

    None where the last failed task is no such failure, or there was no such task before it.
    """
    found, last, completed, apart = None, 0, 0, [0]
    before_it = None
    for event in history:
        if event.event_type is EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
            last = event.event_id
        elif event.event_type is EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            completed = event.event_id
            if last > apart[-1]:
                apart.append(completed)
        elif event.event_type in _MESSAGES and _is_local_activity(before_it) and completed > apart[-1]:
            apart.append(completed)
        before_it = event
        if event.event_type is not EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            continue
        failed = event.workflow_task_failed_event_attributes
        if failed.cause is WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW:
            # What had been taken over there has been mended.
            last = 0
        if failed.cause not in _ASTRAY:
            continue
        # Some failures do not say at which event: then it is the last such task that is looked at first, and
        # an earlier one if the new run does not get on either.
        match = _EVENT.search(failed.failure.message)
        at = int(match.group(1)) if match else event.event_id
        before = max(task for task in apart if task <= at)
        if _BROKEN in failed.failure.message:
            found = at
        elif before:
            # Just past it, so that the reset is to this very task.
            found = before + 1
    return found


def _is_local_activity(event: HistoryEvent | None) -> bool:
    return event is not None and event.marker_recorded_event_attributes.marker_name == _LOCAL_ACTIVITY


async def reset_before(client: Client, workflow_id: str, run_id: str, event: int) -> str:
    """Reset a workflow to before the workflow task that gave ``event``; the new run."""
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    task = 0
    async for found in handle.fetch_history_events():
        if found.event_id >= event:
            break
        if found.event_type is EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            task = found.event_id
    answer = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            reason="its history does not replay, though its code is the same",
            workflow_task_finish_event_id=task,
            # The same of every worker that finds it: of several, one mends it.
            request_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{run_id}/{task}")),
        )
    )
    log.warning("workflow mended", workflow=workflow_id, reset_to=task, run=answer.run_id)
    return answer.run_id
