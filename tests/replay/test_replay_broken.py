"""Histories that no SDK replays any more are recognised, with the place to which they are reset."""

from __future__ import annotations

import json
from pathlib import Path

from temporalio.api.enums.v1 import EventType
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


def test_what_replays_is_left_alone() -> None:
    """No history that replays is taken for a broken one."""
    assert [path.stem for path in HISTORIES.glob("*.json") if broken_at(events(path).events)] == []
