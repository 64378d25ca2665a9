"""The place to which a workflow is repaired: the last one from which its history replays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory

from edgeshift.operations.repair import last_good_task, of_run
from tests.kit.tiers import tiered
from tests.replay.test_replay import HISTORIES, history
from worker.wiring import replayer

COMPLETED = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
SCHEDULED = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED

SPOILT = (
    "account-settled",
    "campaign-closed",
    "campaign-paused",
    "esc-settled",
    "log-fields-settled",
    "zone-migrated-enterprise",
    "zone-migrated-professional",
)
"""Histories with tasks that schedule an activity."""


async def replay(found: WorkflowHistory) -> Exception | None:
    """As the workers would."""
    return (await replayer().replay_workflow(found, raise_on_replay_failure=False)).replay_failure


def tasks_before(found: WorkflowHistory, event: int) -> list[int]:
    """The completed workflow tasks before an event."""
    return [one.event_id for one in found.events if one.event_type is COMPLETED and one.event_id < event]


@pytest.mark.parametrize("name", tiered(SPOILT, 3))
async def test_a_repair_makes_the_task_anew_that_left_the_course(name: str) -> None:
    """An activity that the code does not ask for is found, wherever it stands, and all before it is kept."""
    whole = history(HISTORIES / f"{name}.json")
    scheduled = [event.event_id for event in whole.events if event.event_type is SCHEDULED]
    assert scheduled
    for number in (scheduled[-1], scheduled[len(scheduled) // 2], scheduled[0]):
        found = history(HISTORIES / f"{name}.json")
        spoilt = next(event for event in found.events if event.event_id == number)
        spoilt.activity_task_scheduled_event_attributes.activity_type.name = "another"
        before = tasks_before(found, number)
        assert await replay(found) is not None
        # Before the first task there is nothing to keep.
        assert await last_good_task(found, replay) == (before[-1] if len(before) > 1 else None)


@pytest.mark.parametrize(
    "name",
    ["zone-reset-to-its-beginning-migrated", "esc-reset-gives-its-permit-back"],
)
async def test_a_run_that_was_reset_is_replayed_as_itself(name: str) -> None:
    """Also one that was repaired before: it is no other run that does not replay."""
    document = json.loads((HISTORIES / f"{name}.json").read_text())
    began = document["events"][0]["workflowExecutionStartedEventAttributes"]
    (run,) = {
        failed["newRunId"]
        for event in document["events"]
        if (failed := event.get("workflowTaskFailedEventAttributes", {})).get("newRunId")
    }
    assert run != began["originalExecutionRunId"]
    read = WorkflowHistory.from_json(began["workflowId"], document)
    assert await replay(read) is not None
    assert await replay(of_run(read, run)) is None


@pytest.mark.parametrize("path", tiered(sorted(HISTORIES.glob("*.json")), 12), ids=lambda path: path.stem)
async def test_every_beginning_of_a_healthy_history_replays(path: Path) -> None:
    """So that a repair never takes more from a workflow than what does not replay."""
    whole = history(path)
    places = [place for place, event in enumerate(whole.events) if event.event_type is COMPLETED]
    chosen = {places[0], places[len(places) // 3], places[len(places) // 2], places[-1]}
    for place in sorted(chosen):
        beginning = WorkflowHistory(whole.workflow_id, list(whole.events[:place]))
        assert await replay(beginning) is None, whole.events[place].event_id
