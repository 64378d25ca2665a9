"""Repairing a workflow whose history does not replay: reset, by a person, to the last place that does.

Such a workflow goes on while a worker has it in its cache, and never again after: its tasks fail, and nothing
is sent in its name. What it was told after that place, the engine applies again; what edgeshift would do
twice counts once (docs/decisions.md, "Repairing what does not replay").
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHistory

from edgeshift.operations.calls import told
from edgeshift.operations.errors import Failed, Refused
from edgeshift.runtime.temporal import FAILS_OFTEN

Replay = Callable[[WorkflowHistory], Awaitable[Exception | None]]
"""Replays a history with this version's workflows: why it does not, or None."""

LONGEST_REASON = 500
"""Characters of a reason that the engine is given with the reset."""


@dataclass(frozen=True)
class Repair:
    """What a repair does, or did. ``task``: the workflow task that is made again, by the number of the event
    with which it was completed; ``events``: of the whole history; ``why``: what a replay says of it; ``run``:
    the new run, empty where nothing was done.
    """

    workflow: str
    broken_run: str
    task: int
    events: int
    why: str
    run: str = ""


async def repair(
    client: Client, workflow: str, *, by: str, reason: str, replay: Replay, dry_run: bool = False
) -> Repair:
    """Reset an open workflow to the last place from which its history replays.

    ``workflow``: its identifier. Raises NotFound; Refused where it is closed, gets on, replays as a whole, or
    does not replay from its very beginning; TemporalTrouble.
    """
    subject = f"workflow {workflow}"
    with told(subject):
        handle = client.get_workflow_handle(workflow)
        described = await handle.describe()
        attempts = described.raw_description.pending_workflow_task.attempt
        if described.status is not WorkflowExecutionStatus.RUNNING:
            raise Refused(
                f"{subject} is closed; there is nothing to repair", "`edgeshift alarms` names what is stuck"
            )
        if attempts < FAILS_OFTEN:
            raise Refused(
                f"{subject} gets on: its task has not failed {FAILS_OFTEN} times in a row",
                "a workflow that gets on loses by a reset; `edgeshift alarms` names those that do not",
            )
        run = described.run_id
        history = await client.get_workflow_handle(workflow, run_id=run).fetch_history()
    why = await replay(history)
    if why is None:
        raise Refused(
            f"the history of {subject} replays with this version; its task fails for another reason",
            "run workers of this version, or see what its last failed task says (`temporal workflow show`)",
        )
    task = await last_good_task(history, replay)
    if task is None:
        raise Refused(
            f"the history of {subject} does not replay from its first task on",
            "repair it with the version that its workers had; docs/runbook.md says how to end it",
        )
    found = Repair(workflow, run, task, len(history.events), one_line(why))
    if dry_run:
        return found
    with told(subject):
        answer = await client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=workflow, run_id=run),
                reason=f"repaired by {by}: {reason}"[:LONGEST_REASON],
                workflow_task_finish_event_id=task,
                # Whoever repairs it at the same time resets it once.
                request_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{run}/{task}")),
            )
        )
    if not answer.run_id:
        raise Failed(f"{subject} was not reset: the server named no new run", "try again")
    return Repair(workflow, run, task, found.events, found.why, answer.run_id)


async def last_good_task(history: WorkflowHistory, replay: Replay) -> int | None:
    """The last workflow task before whose completion the history replays, by the number of that event; None
    where it does not replay before any, or has been completed once only.

    Found by halving: what has left its course does not come back to it.
    """
    events = history.events
    tasks = [
        place
        for place, event in enumerate(events)
        if event.event_type is EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    ]
    # Before the first one nothing was done: that is where every workflow replays, and where no reset helps.
    good, bad = 0, len(tasks)
    while bad - good > 1:
        middle = (good + bad) // 2
        if await replay(_beginning(history, events[: tasks[middle]])) is None:
            good = middle
        else:
            bad = middle
    return events[tasks[good]].event_id if good else None


def _beginning(history: WorkflowHistory, events: Sequence[HistoryEvent]) -> WorkflowHistory:
    return WorkflowHistory(history.workflow_id, list(events))


def one_line(failure: BaseException) -> str:
    """What the engine says of a replay, on one line."""
    return " ".join(str(failure).split())[:300]
