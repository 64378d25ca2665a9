"""A history as the server gives it, read into plain records."""

from __future__ import annotations

from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure
from temporalio.api.history.v1 import ActivityTaskStartedEventAttributes, HistoryEvent
from temporalio.converter import DataConverter

from edgeshift.views.events import read_run


async def test_the_beginning_of_an_activity_has_the_failure_of_the_try_before() -> None:
    """The history has no events of tries that were made again: only the last, with the one before it."""
    why = Failure(
        message="entrypoint.get: no whole answer within 4 s",
        application_failure_info=ApplicationFailureInfo(type="Trouble"),
    )
    events = [
        HistoryEvent(
            event_id=number,
            event_type=EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
            activity_task_started_event_attributes=ActivityTaskStartedEventAttributes(
                scheduled_event_id=5, attempt=attempt, last_failure=failure
            ),
        )
        for number, attempt, failure in ((6, 8, why), (7, 1, None))
    ]
    again, at_once = (await read_run("r", events, DataConverter.default)).events
    assert (again.facts["attempt"], again.refers) == (8, 5)
    assert again.facts["last_failure"].endswith("entrypoint.get: no whole answer within 4 s")
    # It is no failure of this try, which may have gone well.
    assert again.failure == ""
    assert "last_failure" not in at_once.facts
