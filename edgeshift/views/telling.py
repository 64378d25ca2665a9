"""How each event of a zone's history is told: one function an event type, all of them total. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from edgeshift.model.fleet import DEFAULT_AREA, Area
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.views.activity_kit import Context, tell_planned
from edgeshift.views.activity_texts import tell_activity
from edgeshift.views.entries import Attempt, Entry, EntryKind, part, reasons, time_of
from edgeshift.views.events import LOCAL_ACTIVITY, Event, Run
from edgeshift.views.message_texts import (
    describe_answer,
    describe_signal,
    describe_update,
    first,
    permit_words,
)
from edgeshift.views.parts import VIEWS
from edgeshift.views.words import lasting, look, moment, one_line, short

_TECHNICAL = frozenset(
    {
        "WorkflowTaskScheduled",
        "WorkflowTaskStarted",
        "WorkflowTaskCompleted",
        "UpsertWorkflowSearchAttributes",
        "WorkflowPropertiesModified",
        "WorkflowExecutionOptionsUpdated",
        "WorkflowExecutionUpdateAdmitted",
    }
)
_ENDS_OF_ACTIVITY = (
    "ActivityTaskCompleted",
    "ActivityTaskFailed",
    "ActivityTaskTimedOut",
    "ActivityTaskCanceled",
)
_FOLDED = frozenset(
    {"ActivityTaskStarted", "ActivityTaskCancelRequested", *_ENDS_OF_ACTIVITY, "TimerFired", "TimerCanceled"}
)
_CLOSED_OTHERWISE = {
    "WorkflowExecutionFailed": "the workflow failed",
    "WorkflowExecutionTimedOut": "the workflow ran out of time",
    "WorkflowExecutionTerminated": "the workflow was terminated",
    "WorkflowExecutionCanceled": "the workflow was cancelled",
}

MOST_OF_WHY = 200
"""Characters of what a try failed with."""


class Teller:
    """Tells one run: fills its attempt's entries, and what they say of it as a whole."""

    def __init__(self, run: Run, attempt: Attempt, area: Area = DEFAULT_AREA) -> None:
        self._run = run
        self._attempt = attempt
        self._answers: dict[int, list[Event]] = {}
        for event in run.events:
            if event.refers is not None:
                self._answers.setdefault(event.refers, []).append(event)
        self._context = Context(attempt, area=area)
        self._told: dict[str, Callable[[Event], Entry | None]] = {
            "WorkflowExecutionStarted": self._started,
            "WorkflowExecutionSignaled": partial(describe_signal, self._context),
            "WorkflowExecutionUpdateAccepted": partial(describe_update, self._context),
            "WorkflowExecutionUpdateCompleted": describe_answer,
            "MarkerRecorded": self._marker,
            "ActivityTaskScheduled": self._activity,
            "TimerStarted": self._timer,
            "WorkflowTaskFailed": self._task_failed,
            "WorkflowTaskTimedOut": self._task_failed,
            "WorkflowExecutionCompleted": self._completed,
            "WorkflowExecutionContinuedAsNew": self._continued,
        }

    def tell(self) -> None:
        """Tell every event, in order. What is not known is told by its type."""
        for event in self._run.events:
            if event.type in _FOLDED:
                continue
            if event.type in _CLOSED_OTHERWISE:
                entry: Entry | None = self._closed_otherwise(event)
            else:
                entry = self._told.get(event.type, self._other)(event)
            if entry is not None:
                self._attempt.entries.append(entry)

    # --- beginnings and ends

    def _started(self, event: Event) -> Entry:
        start = first(event.input)
        if self._attempt.held_for:
            return self._held(event)
        self._attempt.doing = "being read"
        by = one_line(str(start.get("started_by") or ""))
        self._context.learn_policy(start)
        goes_on = bool(start.get("carried"))
        text = "went on in a new run" if goes_on else f"attempt {self._attempt.number} began"
        if self._attempt.campaign:
            text += f" for campaign {one_line(self._attempt.campaign)}"
        if self._attempt.wave is not None and not goes_on:
            text += f", wave {self._attempt.wave + 1}"
        details = [f"run {self._run.run_id}"]
        because = [permit_words(self._context, part(start, "permit"))] if start.get("permit") else []
        entry = Entry(
            at=event.at,
            kind=EntryKind.STARTED,
            text=text,
            by=by,
            because=because,
            details=details,
            event=event.id,
        )
        if planned := part(start, "planned"):
            tell_planned(self._context, entry, part(planned, "told") or planned)
        return entry

    def _held(self, event: Event) -> Entry:
        self._attempt.doing = f"held for {one_line(self._attempt.held_for)}"
        text = f"{self._attempt.doing}, which is worked on as a whole"
        return Entry(at=event.at, kind=EntryKind.HELD, text=text, event=event.id)

    def _completed(self, event: Event) -> Entry:
        if self._attempt.held_for:
            self._attempt.closed_at, self._attempt.doing = event.at, ""
            return Entry(at=event.at, kind=EntryKind.HELD, text="let go of", event=event.id)
        result = first(event.result)
        outcome = one_line(str(result.get("outcome") or "closed without an outcome"), 80)
        self._attempt.outcome = outcome
        self._attempt.reason = one_line(str(result.get("reason") or ""))
        self._attempt.causes = reasons(result, "why")
        self._attempt.record = str(result.get("record") or "")
        self._attempt.closed_at = event.at
        self._attempt.doing = ""
        details = (
            [f"result record {short(self._attempt.record)} in the archive"] if self._attempt.record else []
        )
        if self._attempt.record:
            start = first(self._run.events[0].input)
            name = one_line(str(part(part(start, "target"), "zone").get("name") or self._attempt.number))
            details += VIEWS.of(self._context.area).after(one_line(self._attempt.campaign), name)
        called = look(outcome, self._context.area).label
        return Entry(
            at=event.at,
            kind=EntryKind.OUTCOME,
            text=f"{called}: {self._attempt.reason}" if self._attempt.reason else called,
            outcome=outcome,
            objects={"record": self._attempt.record} if self._attempt.record else {},
            digest=str(result.get("digest") or ""),
            details=details,
            event=event.id,
        )

    def _closed_otherwise(self, event: Event) -> Entry:
        words = _CLOSED_OTHERWISE[event.type]
        why = one_line(event.failure or str(event.facts.get("reason") or ""))
        self._attempt.outcome = event.type.removeprefix("WorkflowExecution").lower()
        self._attempt.reason = f"{words}{f': {why}' if why else ''}"
        self._attempt.causes = [Reason(code=ReasonCode.WORKFLOW_ENDED, words=self._attempt.reason)]
        self._attempt.closed_at = event.at
        self._attempt.doing = ""
        return Entry(
            at=event.at,
            kind=EntryKind.TROUBLE,
            text=self._attempt.reason,
            by=one_line(event.who),
            event=event.id,
        )

    def _continued(self, event: Event) -> Entry:
        text = "the history had grown long: it goes on in a new run"
        return Entry(at=event.at, kind=EntryKind.OTHER, text=text, event=event.id, technical=True)

    # --- activities, timers and the rest

    def _marker(self, event: Event) -> Entry | None:
        if event.name != LOCAL_ACTIVITY:
            text = f"marker {one_line(event.name, 60)}"
            return Entry(at=event.at, kind=EntryKind.OTHER, text=text, event=event.id, technical=True)
        data = first(tuple(event.facts.get("data") or ()))
        began, ended = time_of(data.get("original_schedule_time")), time_of(data.get("complete_time"))
        result = (event.facts.get("result") or [None])[0]
        # The SDK's core takes the two times from different clocks: a negative length is no length.
        took = (ended - began).total_seconds() if began and ended and ended >= began else None
        name = str(data.get("activity_type") or "local activity")
        summary = one_line(event.summary)
        return tell_activity(
            self._context,
            name,
            None,
            result,
            event.failure,
            at=began or event.at,
            took=took,
            event=event.id,
            summary=summary,
        )

    def _activity(self, event: Event) -> Entry | None:
        answers = self._answers.get(event.id, [])
        start = next((item for item in answers if item.type == "ActivityTaskStarted"), None)
        began = start.at if start is not None else None
        end = next((item for item in answers if item.type in _ENDS_OF_ACTIVITY), None)
        failure = ""
        if end is not None and end.type != "ActivityTaskCompleted":
            words = end.type.removeprefix("ActivityTask").lower().replace("timedout", "timed out")
            failure = end.failure or words
        return tell_activity(
            self._context,
            event.name,
            first(event.input),
            end.result[0] if end is not None and end.result else None,
            failure,
            at=began or event.at,
            took=(end.at - (began or event.at)).total_seconds() if end is not None else None,
            event=event.id,
            summary=one_line(event.summary),
            tried=_tried(start) if start is not None else "",
            begun=began is not None,
            ended=end is not None,
        )

    def _timer(self, event: Event) -> Entry:
        length = timedelta(seconds=float(event.facts.get("seconds") or 0))
        end = next(iter(self._answers.get(event.id, [])), None)
        why = f" ({one_line(event.summary)})" if event.summary else ""
        if end is None:
            self._attempt.doing = one_line(event.summary) or f"waiting, at most {lasting(length)}"
            text = f"waiting, until {moment(event.at + length)} at the latest{why}"
            return Entry(at=event.at, kind=EntryKind.WAITED, text=text, event=event.id)
        took = (end.at - event.at).total_seconds()
        if end.type == "TimerFired":
            text = f"waited {lasting(length)}{why}"
            # The shortest of timers keep an order between workflow tasks; nobody waited for anything.
            brief = length < timedelta(seconds=0.01)
            return Entry(
                at=event.at, kind=EntryKind.WAITED, text=text, took=took, event=event.id, technical=brief
            )
        text = f"stopped waiting early, of {lasting(length)}{why}"
        return Entry(at=event.at, kind=EntryKind.WAITED, text=text, took=took, event=event.id, technical=True)

    def _task_failed(self, event: Event) -> Entry:
        why = one_line(event.failure) or "it took too long"
        text = f"a worker could not go on: {why}"
        return Entry(at=event.at, kind=EntryKind.TROUBLE, text=text, by=one_line(event.who), event=event.id)

    def _other(self, event: Event) -> Entry:
        return Entry(
            at=event.at,
            kind=EntryKind.OTHER,
            text=f"event {event.type}{f' {one_line(event.name, 60)}' if event.name else ''}",
            details=[one_line(event.failure)] if event.failure else [],
            event=event.id,
            technical=event.type in _TECHNICAL,
        )


def _tried(start: Event) -> str:
    """Which try of an activity this was, and what the one before it failed with; empty for the first."""
    number = start.facts.get("attempt") or 1
    why = one_line(start.facts.get("last_failure") or "", MOST_OF_WHY)
    return f"at try {number}{f'; before it: {why}' if why else ''}" if number > 1 else ""
