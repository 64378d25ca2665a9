"""Histories that no SDK replays any more are recognised, with the place to which they are reset."""

from __future__ import annotations

import json
from pathlib import Path

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHistory

from activities.mending import broken_at

BROKEN = Path(__file__).parent / "broken"
HISTORIES = Path(__file__).parent / "histories"
TOOK_OVER = 196
"""In the history below, the first task that was completed after that of a dead worker had timed out."""


def events(path: Path) -> WorkflowHistory:
    """A committed history."""
    document = json.loads(path.read_text())
    started = document["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(started["workflowId"], document)


def test_a_campaign_that_was_queried_before_a_time_out_is_reset_to_the_task_after_it() -> None:
    """The task that does not fit comes later; the one in which the worlds part is the first of the new
    worker.
    """
    history = events(BROKEN / "campaign-queried-before-a-time-out.json")
    found = broken_at(history.events)
    assert found == TOOK_OVER + 1
    kinds = {event.event_id: event.event_type for event in history.events}
    assert kinds[TOOK_OVER] == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    assert kinds[TOOK_OVER - 3] == EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT


def test_a_failure_that_does_not_say_where_leads_to_the_last_task_that_was_taken_over() -> None:
    """It names activities that do not match, and no event."""
    assert broken_at(events(BROKEN / "campaign-failing-without-a-place.json").events) == 96


def failing(*kinds: str) -> list[HistoryEvent]:
    """A history of workflow tasks that ended so: completed, timed_out, reset, failed, raised, other."""
    causes = {
        "reset": WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
        "failed": WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
        "raised": WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
        "other": WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES,
    }
    found = []
    for number, kind in enumerate(kinds, 1):
        name = kind if kind not in causes else "failed"
        event = HistoryEvent(
            event_id=number, event_type=EventType.Value(f"EVENT_TYPE_WORKFLOW_TASK_{name.upper()}")
        )
        if kind in causes:
            event.workflow_task_failed_event_attributes.cause = causes[kind]
            event.workflow_task_failed_event_attributes.failure.message = "does not match"
        found.append(event)
    return found


def test_where_a_reset_did_not_help_the_task_before_it_is_looked_at() -> None:
    """So that a workflow is not reset to the same place without end."""
    first = ["completed", "timed_out", "completed", "timed_out"]
    assert broken_at(failing(*first, "completed", "failed")) == 6
    assert broken_at(failing(*first, "reset", "completed", "failed")) == 4
    assert broken_at(failing("completed", "failed")) is None


def test_a_workflow_that_is_handed_what_it_did_not_ask_for_is_reset_too() -> None:
    """Its replay went astray at the task that was taken over, and raises later. Without one, it is a mistake
    of its own, and for people to see.
    """
    assert broken_at(failing("completed", "timed_out", "completed", "completed", "raised")) == 4
    assert broken_at(failing("completed", "raised")) is None
    assert broken_at(failing("completed", "timed_out", "completed", "other")) is None


def test_what_replays_is_left_alone() -> None:
    """No history that replays is taken for a broken one."""
    assert [path.stem for path in HISTORIES.glob("*.json") if broken_at(events(path).events)] == []
