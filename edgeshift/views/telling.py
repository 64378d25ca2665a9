"""How each event of a zone's history is told: one function an event type, all of them total. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from edgeshift.fleet import Area
from edgeshift.views.activities_told import Context, tell_activity
from edgeshift.views.entries import Attempt, Entry, EntryKind, Signed, decision_words, part, parts, time_of
from edgeshift.views.events import LOCAL_ACTIVITY, Event, Run
from edgeshift.views.words import lasting, look, moment, one_line, short, word

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


PASSED_ON = "passed on by the campaign"
"""How a decision on a fingerprint reaches a zone."""


class Teller:
    """Tells one run: fills its attempt's entries, and what they say of it as a whole."""

    def __init__(self, run: Run, attempt: Attempt, area: Area = Area.WAF) -> None:
        self._run = run
        self._attempt = attempt
        self._by_id = {event.id: event for event in run.events}
        self._answers: dict[int, list[Event]] = {}
        for event in run.events:
            if event.refers is not None:
                self._answers.setdefault(event.refers, []).append(event)
        self._context = Context(attempt, area=area)
        self._told: dict[str, Callable[[Event], Entry | None]] = {
            "WorkflowExecutionStarted": self._started,
            "WorkflowExecutionSignaled": self._signal,
            "WorkflowExecutionUpdateAccepted": self._update,
            "WorkflowExecutionUpdateCompleted": self._updated,
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
        start = _first(event.input)
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
        because = [self._permit_words(part(start, "permit"))] if start.get("permit") else []
        return Entry(
            at=event.at,
            kind=EntryKind.STARTED,
            text=text,
            by=by,
            because=because,
            details=details,
            event=event.id,
        )

    def _held(self, event: Event) -> Entry:
        self._attempt.doing = f"held for {one_line(self._attempt.held_for)}"
        text = f"{self._attempt.doing}, which is worked on as a whole"
        return Entry(at=event.at, kind=EntryKind.HELD, text=text, event=event.id)

    def _completed(self, event: Event) -> Entry:
        if self._attempt.held_for:
            self._attempt.closed_at, self._attempt.doing = event.at, ""
            return Entry(at=event.at, kind=EntryKind.HELD, text="let go of", event=event.id)
        result = _first(event.result)
        outcome = one_line(str(result.get("outcome") or "closed without an outcome"), 80)
        self._attempt.outcome = outcome
        self._attempt.reason = one_line(str(result.get("reason") or ""))
        self._attempt.record = str(result.get("record") or "")
        self._attempt.closed_at = event.at
        self._attempt.doing = ""
        details = (
            [f"result record {short(self._attempt.record)} in the archive"] if self._attempt.record else []
        )
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

    # --- messages

    def _signal(self, event: Event) -> Entry:
        message = _first(event.input)
        match event.name:
            case "sign_off":
                return self._decision(event, message, "by the plain signal")
            case "permit":
                permit = part(message, "permit")
                decisions = parts(message, "decisions")
                carried = [f"with it: {decision_words(item, self._context.waiting)}" for item in decisions]
                text = f"the campaign gave {self._permit_words(permit)}"
                return Entry(at=event.at, kind=EntryKind.PERMIT, text=text, details=carried, event=event.id)
            case "revoke":
                text = f"the campaign took back permit {message.get('number', '?')}"
                return Entry(at=event.at, kind=EntryKind.PERMIT, text=text, event=event.id)
            case "ruling":
                return self._decision(event, part(message, "decision"), PASSED_ON)
            case "expire":
                text = "the campaign said that the time for a sign-off is over"
                return Entry(at=event.at, kind=EntryKind.STOPPED, text=text, event=event.id)
            case "stop":
                return self._said(event, message, EntryKind.STOPPED, "aborted the campaign")
            case "release":
                text = "the account's workflow let go of it"
                return Entry(at=event.at, kind=EntryKind.HELD, text=text, event=event.id)
            case "support_resolved":
                return self._said(event, message, EntryKind.SUPPORT, "said that support has mended the zone")
        text = f"signal {one_line(event.name, 100)}"
        return Entry(at=event.at, kind=EntryKind.OTHER, text=text, by=one_line(event.who), event=event.id)

    def _update(self, event: Event) -> Entry:
        message = _first(event.input)
        if event.name == "decide":
            return self._decision(event, message, "by update")
        text = f"update {one_line(event.name, 100)}"
        return Entry(at=event.at, kind=EntryKind.OTHER, text=text, event=event.id)

    def _updated(self, event: Event) -> Entry:
        answer = event.failure or str(_first(event.result).get("text") or "done")
        return Entry(
            at=event.at,
            kind=EntryKind.TROUBLE if event.failure else EntryKind.OTHER,
            text=f"update answered: {one_line(answer)}",
            event=event.id,
            technical=not event.failure,
        )

    def _said(self, event: Event, message: dict[str, Any], kind: EntryKind, what: str) -> Entry:
        by = one_line(str(message.get("by") or "somebody"))
        reason = one_line(str(message.get("reason") or ""))
        return Entry(at=event.at, kind=kind, text=f"{by} {what}", by=by, reason=reason, event=event.id)

    def _decision(self, event: Event, decision: dict[str, Any], way: str) -> Entry:
        by = one_line(str(decision.get("by") or "somebody"))
        choice = str(decision.get("choice") or "")
        verb = {"approve": "approved", "reject": "rejected"}.get(choice, f"said {one_line(choice, 40)!r} to")
        digest = str(decision.get("digest") or "")
        subject = self._context.waiting.get(digest)
        refused = self._context.refused(decision)
        reason = one_line(str(decision.get("reason") or ""))
        word = one_line(choice, 40)
        signed = Signed(
            by=by, choice=word, digest=digest, reason=reason, at=event.at, way=way, refused=refused
        )
        self._attempt.signed.append(signed)
        if subject is None:
            subject = "a digest that was not waiting here"
        return Entry(
            at=event.at,
            kind=EntryKind.SIGNED,
            text=f"{by} {verb} {subject} {short(one_line(digest))}, {way}",
            by=by,
            reason=reason,
            digest=digest,
            details=[f"does not count: {refused}"] if refused else [],
            event=event.id,
        )

    # --- activities, timers and the rest

    def _marker(self, event: Event) -> Entry | None:
        if event.name != LOCAL_ACTIVITY:
            text = f"marker {one_line(event.name, 60)}"
            return Entry(at=event.at, kind=EntryKind.OTHER, text=text, event=event.id, technical=True)
        data = _first(tuple(event.facts.get("data") or ()))
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
        began = next((item.at for item in answers if item.type == "ActivityTaskStarted"), None)
        end = next((item for item in answers if item.type in _ENDS_OF_ACTIVITY), None)
        failure = ""
        if end is not None and end.type != "ActivityTaskCompleted":
            words = end.type.removeprefix("ActivityTask").lower().replace("timedout", "timed out")
            failure = end.failure or words
        return tell_activity(
            self._context,
            event.name,
            _first(event.input),
            end.result[0] if end is not None and end.result else None,
            failure,
            at=began or event.at,
            took=(end.at - (began or event.at)).total_seconds() if end is not None else None,
            event=event.id,
            summary=one_line(event.summary),
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
            return Entry(at=event.at, kind=EntryKind.WAITED, text=text, took=took, event=event.id)
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

    def _permit_words(self, permit: dict[str, Any]) -> str:
        step = word(str(permit.get("step") or "?"), self._context.area)
        leads = "for" if self._context.area is Area.WAF else "to"
        words = f"permit {permit.get('number', '?')} {leads} {step}"
        expires = time_of(permit.get("expires_at"))
        return f"{words}, good until {moment(expires)}" if expires else words


def _first(values: tuple[Any, ...]) -> dict[str, Any]:
    return values[0] if values and isinstance(values[0], dict) else {}
