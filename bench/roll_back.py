"""How long a roll-back took, from the look that saw a scope worse off: out of the workflow's history, the
service's journal, and what a visitor saw. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from bench.visitor import Sightings

LOOK, CHANGE = "watch_esc_scope", "change_zone"


@dataclass(frozen=True)
class RollBack:
    """Seconds since the look ended that saw it worse: until the call was sent, until the service showed Edge
    Side Code on, until the edge answered as before, until edgeshift had seen that. ``outage``: how long
    visitors saw the URL fail.
    """

    sent: float
    shown: float
    edge: float
    known: float
    outage: float


def activities(history: Iterable[HistoryEvent]) -> list[tuple[str, datetime, datetime]]:
    """The remote activities that completed: name, scheduled at, completed at; in order of their beginning."""
    begun: dict[int, tuple[str, datetime]] = {}
    found = []
    for event in history:
        at = event.event_time.ToDatetime(tzinfo=UTC)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            begun[event.event_id] = (event.activity_task_scheduled_event_attributes.activity_type.name, at)
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            number = event.activity_task_completed_event_attributes.scheduled_event_id
            found.append((*begun[number], at))
    return sorted(found, key=lambda one: one[1])


def looks(history: Iterable[HistoryEvent]) -> int:
    """How often a scope was looked at after a change."""
    return sum(name == LOOK for name, _, _ in activities(history))


def roll_back(
    history: Sequence[HistoryEvent], journal: Iterable[Mapping[str, Any]], seen: Sightings
) -> RollBack | None:
    """The roll-back of one scope, or None where a part of it was not seen.

    ``journal``: the service's lines of that scope, oldest first. ``seen``: of a URL that failed meanwhile.
    """
    done = activities(history)
    worse = next(
        (one[2] for one, following in pairwise(done) if one[0] == LOOK and following[0] == CHANGE),
        None,
    )
    if worse is None:
        return None
    calls = [(datetime.fromisoformat(line["wall_time"]), line) for line in journal]
    sent = next((at for at, line in calls if line["call"] == "esc.delete"), None)
    if sent is None:
        return None
    shown = next(
        (
            at
            for at, line in calls
            if at > sent and line["call"] == "esc.get" and not line["esc"]["shown"]["always"]
        ),
        None,
    )
    failing, well = seen.failing(), seen.well_again(sent)
    if shown is None or failing is None or well is None:
        return None

    def since(moment: datetime) -> float:
        return (moment - worse).total_seconds()

    return RollBack(
        sent=since(sent),
        shown=since(shown),
        edge=since(well),
        known=since(done[-1][2]),
        outage=(well - failing).total_seconds(),
    )
