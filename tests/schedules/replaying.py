"""Every history of a scene replayed, and compared with what the replay would have sent: the engine compares
which commands there are, not what they say.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from temporalio.api.history.v1 import HistoryEvent
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_commands import WorkflowCommand
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHistory
from temporalio.worker import Replayer, WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner

from worker.forgetting import Instance, Runner
from worker.wiring import replayer

RUN_ID = 36
"""Characters of a run's identifier."""

NUMBERS = re.compile(rb'"sequence":\d+,?')
"""The number of a zone's word, which only grows. It comes of the length of the history, and that is another
one in a replay where a task was completed before its local activity was done (docs/decisions.md, "What a
query may leave").
"""

Said = tuple[str, str, tuple[bytes, ...]]
"""A command: its kind, its name, and its arguments as they are sent."""


class Divergence(BaseModel):
    """A history that does not replay. ``alarmed``: whether its task was seen to fail again and again, which
    `workflow-stuck` tells a person; ``closed``: whether it has come to an end all the same.
    """

    workflow: str
    run: str
    kind: str
    why: str
    alarmed: bool
    closed: bool


class Replayed(BaseModel):
    """What came of the histories: how many of each type of workflow, how many of their events, and those that
    diverge.
    """

    runs: dict[str, int] = {}
    events: int = 0
    divergences: list[Divergence] = []


class _Noting(Runner):
    """Notes what each run would send."""

    def __init__(self, inner: WorkflowRunner) -> None:
        super().__init__(inner)
        self.said: list[Said] = []

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _Noted(super().create_instance(det), self.said)


class _Noted(Instance):
    def __init__(self, inner: WorkflowInstance, said: list[Said]) -> None:
        super().__init__(inner)
        self._said = said

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        done = super().activate(act)
        self._said += [found for command in done.successful.commands if (found := _of_command(command))]
        return done


async def replayed(client: Client, alarmed: Iterable[str]) -> Replayed:
    """Replay every run that the client lists, with the code at hand. ``alarmed``: workflows that were seen to
    be stuck.
    """
    found, stuck = Replayed(), set(alarmed)
    async for run in client.list_workflows(""):
        history = await client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
        found.runs[run.workflow_type] = found.runs.get(run.workflow_type, 0) + 1
        found.events += len(history.events)
        if why := await divergence(history):
            found.divergences.append(
                Divergence(
                    workflow=run.id,
                    run=run.run_id,
                    kind=run.workflow_type,
                    why=why,
                    alarmed=run.id in stuck,
                    closed=run.status is not WorkflowExecutionStatus.RUNNING,
                )
            )
    return found


async def replayed_from(folder: Path, alarmed: Iterable[str]) -> Replayed:
    """The same of histories in a folder: those of a campaign that has not come to its end."""
    found, stuck = Replayed(), set(alarmed)
    for path in await asyncio.to_thread(lambda: sorted(folder.glob("*.json"))):
        document = json.loads(await asyncio.to_thread(path.read_text))
        begun = document["events"][0]["workflowExecutionStartedEventAttributes"]
        name, kind = begun["workflowId"], begun["workflowType"]["name"]
        history = WorkflowHistory.from_json(name, document)
        found.runs[kind] = found.runs.get(kind, 0) + 1
        found.events += len(history.events)
        if why := await divergence(history):
            run = path.stem[-RUN_ID:]
            found.divergences.append(
                Divergence(workflow=name, run=run, kind=kind, why=why, alarmed=name in stuck, closed=False)
            )
    return found


async def divergence(history: WorkflowHistory, by: Replayer | None = None) -> str:
    """Why a history does not replay, or what its replay would say otherwise; empty where it does. ``by``: in
    place of this project's.
    """
    config = (by or replayer()).config(active_config=False)
    noting = _Noting(config["workflow_runner"])
    config["workflow_runner"] = noting
    found = await Replayer(**config).replay_workflow(history, raise_on_replay_failure=False)
    if found.replay_failure is not None:
        return " ".join(str(found.replay_failure).split())[:400]
    said = [one for event in history.events if (one := _of_event(event))]
    for place, one in enumerate(said):
        now = noting.said[place] if place < len(noting.said) else None
        if one != now:
            return f"it said {_shown(one)} as number {place + 1}, and its replay {_shown(now)}"
    return ""


def _of_command(command: WorkflowCommand) -> Said | None:
    match command.WhichOneof("variant"):
        case "schedule_activity":
            given = command.schedule_activity
            return ("activity", given.activity_type, _data(given.arguments))
        case "signal_external_workflow_execution":
            signal = command.signal_external_workflow_execution
            name = f"{signal.signal_name} to {signal.workflow_execution.workflow_id}"
            return ("signal", name, _data(signal.args))
        case "complete_workflow_execution":
            return ("result", "", _data([command.complete_workflow_execution.result]))
        case "continue_as_new_workflow_execution":
            return ("anew", "", _data(command.continue_as_new_workflow_execution.arguments))
    return None


def _of_event(event: HistoryEvent) -> Said | None:
    match event.WhichOneof("attributes"):
        case "activity_task_scheduled_event_attributes":
            given = event.activity_task_scheduled_event_attributes
            return ("activity", given.activity_type.name, _data(given.input.payloads))
        case "signal_external_workflow_execution_initiated_event_attributes":
            signal = event.signal_external_workflow_execution_initiated_event_attributes
            name = f"{signal.signal_name} to {signal.workflow_execution.workflow_id}"
            return ("signal", name, _data(signal.input.payloads))
        case "workflow_execution_completed_event_attributes":
            result = event.workflow_execution_completed_event_attributes.result
            return ("result", "", _data(result.payloads))
        case "workflow_execution_continued_as_new_event_attributes":
            given_anew = event.workflow_execution_continued_as_new_event_attributes.input
            return ("anew", "", _data(given_anew.payloads))
    return None


def _data(payloads: Iterable[Any]) -> tuple[bytes, ...]:
    return tuple(NUMBERS.sub(b"", payload.data) for payload in payloads)


def _shown(said: Said | None) -> str:
    if said is None:
        return "nothing"
    kind, name, data = said
    return f"{kind} {name} {b' '.join(data)[:300].decode(errors='replace')}".strip()
