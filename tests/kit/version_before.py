"""Workers of a version before, which do one thing of a workflow otherwise, and the update to those of now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from temporalio.client import WorkflowHandle

from tests.kit.clock import eventually


@contextmanager
def version_before(of: type[Any], question: str) -> Iterator[Callable[[], None]]:
    """A question that a workflow asks itself is answered with no, until the update, which this gives.

    Each object answers as it did at first. Where workers keep no workflow in mind, it is made for one task,
    so that one version does a task as a whole, with the replay that comes before.
    """
    now, updated = getattr(of, question), False

    def asked(self: Any, *about: Any) -> bool:
        if self.__dict__.setdefault("_before_the_update", not updated):
            return False
        answer: bool = now(self, *about)
        return answer

    def update() -> None:
        nonlocal updated
        updated = True

    with patch.object(of, question, asked):
        yield update


async def taken(handle: WorkflowHandle[Any, Any], signal: str) -> None:
    """Until a task has been completed since this signal came."""

    async def has_been() -> bool:
        events = [event async for event in handle.fetch_history_events()]
        names = [event.workflow_execution_signaled_event_attributes.signal_name for event in events]
        after = events[names.index(signal) :] if signal in names else []
        return any(event.HasField("workflow_task_completed_event_attributes") for event in after)

    await eventually(has_been, 60, f"a task has taken the signal {signal}")
