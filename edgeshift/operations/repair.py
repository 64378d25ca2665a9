"""Repairing a workflow whose history does not replay: reset, by a person, to the last place that does.

Such a workflow goes on while a worker has it in its cache, and never again after: its tasks fail, and nothing
is sent in its name. What it was told after that place, the engine applies again; what edgeshift would do
twice counts once (docs/decisions.md, "Repairing what does not replay").
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHistory

from edgeshift.model.fleet import campaign_id
from edgeshift.operations.archives import check_campaigns
from edgeshift.operations.calls import Subject, errors_for_people
from edgeshift.operations.campaigns import campaign_input
from edgeshift.operations.errors import Failed, Refused
from edgeshift.runtime.temporal import FAILS_OFTEN, memo_of

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots
    from edgeshift.operations.pen import Pen
    from edgeshift.stores.archive import Archive

Replay = Callable[[WorkflowHistory], Awaitable[Exception | None]]
"""Replays a history with this version's workflows: why it does not, or None."""

_CAMPAIGN = campaign_id("")

LONGEST_REASON = 500
"""Characters of a reason that the engine is given with the reset."""


@dataclass(frozen=True)
class Repair:
    """What a repair does, or did. ``task``: the workflow task that is made again, by the number of the event
    with which it was completed; ``events``: of the whole history; ``why``: what a replay says of it; ``run``:
    the new run, empty where nothing was done; ``signed``: the digest of what was signed, if anything.
    """

    workflow: str
    broken_run: str
    task: int
    events: int
    why: str
    run: str = ""
    signed: str = ""


async def repair(
    client: Client,
    workflow: str,
    *,
    by: str,
    reason: str,
    replay: Replay,
    archive: Archive,
    dry_run: bool = False,
    pen: Pen | None = None,
    roots: Roots | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Repair:
    """Reset an open workflow to the last place from which its history replays.

    ``workflow``: its identifier. ``archive``: that of its campaign. ``pen``: whoever signs it, before it is
    done; ``roots``: those that are known here, which ask for that; ``say``: is told of the reset, which no
    interceptor of the client sees. A workflow of no campaign, as of a user's rate limit, changes nothing, and
    nobody signs for it.

    Raises NotFound, TemporalTrouble, ArchiveError; Refused where its campaign has another archive, where it
    is closed, gets on, replays as a whole or from no place on, or where it is to be signed and is not.
    """
    from edgeshift.authority.roots import asking

    stuck = await _stuck(client, workflow, archive)
    campaign, subject = stuck.campaign, stuck.subject
    if pen is None and campaign and asking(roots) is not None:
        raise Refused(
            f"{subject} is of campaign {campaign}, and nobody signs that it is repaired",
            "name an operator's key: EDGESHIFT_AUTHORITY_KEY",
        )
    task, why = await _breaks_after(stuck, replay)
    found = Repair(workflow, stuck.run, task, len(stuck.history.events), why)
    if dry_run:
        return found
    if pen is not None and campaign:
        spec = (await campaign_input(client, campaign)).spec
        signed = await pen.repair(campaign, spec, workflow=workflow, run=stuck.run, task=task, reason=reason)
        found = replace(found, signed=signed)
    say(f"reset {workflow}, run {stuck.run}, to event {task}")
    run = await _reset(client, stuck, task, f"repaired by {by}: {reason}")
    return replace(found, run=run)


@dataclass(frozen=True)
class _Stuck:
    """An open workflow whose task fails again and again. ``campaign``: the name of its campaign; empty where
    it is of none.
    """

    workflow: str
    subject: Subject
    campaign: str
    run: str
    history: WorkflowHistory


async def _stuck(client: Client, workflow: str, archive: Archive) -> _Stuck:
    """What is to be repaired. Raises NotFound, TemporalTrouble, ArchiveError; Refused where its campaign has
    another archive, where it is closed or gets on, and where it is not known whose it is.
    """
    subject = Subject(f"workflow {workflow}", absent="`edgeshift alarms` names what is stuck")
    with errors_for_people(subject):
        handle = client.get_workflow_handle(workflow)
        described = await handle.describe()
        attempts = described.raw_description.pending_workflow_task.attempt
        memo = await memo_of(described)
    campaign = _campaign_of(workflow, memo or {})
    if campaign:
        # What its people sign is looked for in its own archive, and nowhere else.
        await check_campaigns(client, archive, [campaign])
    with errors_for_people(subject):
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
        history = of_run(await client.get_workflow_handle(workflow, run_id=run).fetch_history(), run)
    if memo is None and not workflow.startswith(_CAMPAIGN):
        # Whose it is, and so whether somebody has to sign, is in there.
        raise Refused(
            f"{subject} was not started by edgeshift: what its memo says cannot be read",
            f"`temporal workflow show --workflow-id {workflow}` shows who started it",
        )
    return _Stuck(workflow, subject, campaign, run, history)


async def _breaks_after(stuck: _Stuck, replay: Replay) -> tuple[int, str]:
    """The last task from which the history replays, as ``last_good_task``, and why it does not as a whole.
    Raises Refused where it does, or does from no task.
    """
    why = await replay(stuck.history)
    if why is None:
        raise Refused(
            f"the history of {stuck.subject} replays with this version; its task fails for another reason",
            "run workers of this version, or see what its last failed task says (`temporal workflow show`)",
        )
    task = await last_good_task(stuck.history, replay)
    if task is None:
        raise Refused(
            f"the history of {stuck.subject} does not replay from its first task on",
            "repair it with the version that its workers had; docs/runbook.md says how to end it",
        )
    return task, one_line(why)


async def _reset(client: Client, stuck: _Stuck, task: int, reason: str) -> str:
    """Have the engine make this task again; the new run. Raises NotFound, TemporalTrouble, Failed."""
    with errors_for_people(stuck.subject):
        answer = await client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=stuck.workflow, run_id=stuck.run),
                reason=reason[:LONGEST_REASON],
                workflow_task_finish_event_id=task,
                # Whoever repairs it at the same time resets it once.
                request_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{stuck.run}/{task}")),
            ),
            retry=True,
        )
    if not answer.run_id:
        raise Failed(f"{stuck.subject} was not reset: the server named no new run", "try again")
    return answer.run_id


def of_run(history: WorkflowHistory, run: str) -> WorkflowHistory:
    """A history as its run's own. A replay takes the run that wrote its first event for the run itself: in
    one that was reset, the run before it. Zones go by which run they are in.
    """
    began = history.events[0].workflow_execution_started_event_attributes
    began.original_execution_run_id = run
    return history


def _campaign_of(workflow: str, memo: Mapping[str, Any]) -> str:
    """The name of the campaign that a workflow is of; empty where it is of none."""
    of = workflow if workflow.startswith(_CAMPAIGN) else memo.get("campaign")
    return of.removeprefix(_CAMPAIGN) if isinstance(of, str) and of.startswith(_CAMPAIGN) else ""


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
