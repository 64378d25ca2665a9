"""A history of a zone of waf, event by event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.views.entries import Timeline
from edgeshift.views.events import Event, Run
from edgeshift.views.timeline import build_timeline

ZONE = "0" * 32
DIGEST, FINGERPRINT, OTHER = "d" * 64, "f" * 64, "e" * 64
BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class History:
    """Writes a history, one event a second."""

    def __init__(self, **start: Any) -> None:
        self.events: list[Event] = []
        self.add(
            "WorkflowExecutionStarted",
            name="WafZone",
            input=({**_START, **start},),
            facts={"memo": {"campaign": "campaign/autumn"}},
        )

    def add(self, type: str, **fields: Any) -> int:
        """Append an event; its number."""
        number = len(self.events) + 1
        at = fields.pop("at", BEGAN + timedelta(seconds=number))
        self.events.append(Event(id=number, at=at, type=type, **fields))
        return number

    def local(self, name: str, result: Any = None, failure: str = "", summary: str = "") -> None:
        """A local activity."""
        facts = {"data": [{"activity_type": name}], "result": [result] if result is not None else []}
        self.add("MarkerRecorded", name="core_local_activity", facts=facts, failure=failure, summary=summary)

    def prepared(self, digest: str = DIGEST) -> None:
        """The zone is read and something proposed."""
        result = {"verdict": "ready", "snapshot": "a" * 64, "digest": digest, "fingerprint": FINGERPRINT}
        self.local("prepare_waf_zone", result)

    def change(self, *decisions: dict[str, Any], result: dict[str, Any] | None, step: str = "commit") -> None:
        """A mutating activity that carries these decisions; no result: it began and failed."""
        given = {
            "step": step,
            "permit": {"number": 7, "step": step},
            "digest": DIGEST,
            "fingerprint": FINGERPRINT,
            "decisions": list(decisions),
        }
        scheduled = self.add("ActivityTaskScheduled", name="change_zone", input=(given,))
        self.add("ActivityTaskStarted", refers=scheduled)
        if result is None:
            self.add("ActivityTaskTimedOut", refers=scheduled, failure="activity StartToClose timeout")
        else:
            self.add("ActivityTaskCompleted", refers=scheduled, result=(result,))

    def close(self, outcome: str, reason: str = "") -> None:
        """The workflow ends."""
        result = {"outcome": outcome, "reason": reason, "digest": DIGEST}
        self.add("WorkflowExecutionCompleted", result=(result,))

    def told(self) -> Timeline:
        """The timeline of this one run."""
        return build_timeline(ZONE, [Run(run_id="r1", events=tuple(self.events))])


def attempts_of(*histories: History) -> Timeline:
    """The timeline of several attempts, a day apart."""
    runs = []
    for day, history in enumerate(histories):
        events = [event.model_copy(update={"at": event.at + timedelta(days=day)}) for event in history.events]
        runs.append(Run(run_id=f"r{day}", events=tuple(events)))
    return build_timeline(ZONE, runs)


_START = {
    "campaign": "campaign/autumn",
    "attempt": 1,
    "started_by": "olga",
    "target": {"wave": 1, "zone": {"id": ZONE, "name": "shop.example", "plan": "pro"}},
}

ANSWERED = {"status": "answered", "http_status": 200, "ray": "8a1"}


def decision(by: str, digest: str = DIGEST, choice: str = "approve", reason: str = "") -> dict[str, Any]:
    """A decision as the messages carry it."""
    return {"choice": choice, "digest": digest, "by": by, "reason": reason, "at": "2026-03-01T12:00:03Z"}


def migrated() -> History:
    """A zone that was signed by the plain signal, permitted, committed and verified."""
    history = History()
    history.prepared()
    history.add("WorkflowExecutionSignaled", name="sign_off", input=(decision("alice", reason="looks good"),))
    history.add(
        "WorkflowExecutionSignaled", name="permit", input=({"permit": {"number": 7, "step": "commit"}},)
    )
    history.change(decision("alice", reason="looks good"), result=ANSWERED)
    history.close("migrated", "new WAF on, previous one off")
    return history
