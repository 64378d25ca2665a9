"""A zone's timeline out of its workflow's history: what was read, sent and decided, by whom and when. Pure.

The record is Temporal's, not edgeshift's own telling: signals with the names that signed them, the input of
each mutating activity with the decisions and the permit that it carried, and what came back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edgeshift.areas import AREAS
from edgeshift.model.fleet import DEFAULT_AREA, Area, campaign_name
from edgeshift.views.entries import Attempt, Timeline, part
from edgeshift.views.events import Event, Run
from edgeshift.views.sentences import sentence
from edgeshift.views.telling import Teller


def build_timeline(zone: str, runs: Sequence[Run]) -> Timeline:
    """The timeline of the zone with this identifier, from its workflow's retained runs in any order."""
    attempts: list[Attempt] = []
    name = plan = ""
    area, kind = DEFAULT_AREA, "zone"
    for run in sorted((run for run in runs if run.events), key=lambda run: run.events[0].at):
        began = run.events[0]
        start = began.input[0] if began.input and isinstance(began.input[0], dict) else {}
        described = part(part(start, "target"), "zone")
        name, plan = str(described.get("name") or name), str(described.get("plan") or plan)
        area, kind = _area(start, began, area), str(described.get("kind") or kind)
        goes_on = bool(began.facts.get("continued_execution_run_id")) and bool(attempts)
        if goes_on:
            attempt = attempts[-1]
            attempt.run_ids.append(run.run_id)
        else:
            attempt = Attempt(
                number=_number(start.get("attempt"), len(attempts) + 1),
                campaign=_campaign(start, began),
                origin=str(start.get("origin") or ""),
                wave=part(start, "target").get("wave"),
                started_by=str(start.get("started_by") or ""),
                held_for=str(start.get("holder") or "") if began.name == "ZoneHold" else "",
                run_ids=[run.run_id],
                started_at=began.at,
            )
            attempts.append(attempt)
        Teller(run, attempt, area).tell()
    return Timeline(
        zone=zone,
        name=name or zone,
        area=area,
        kind=kind,
        plan=plan if kind == "zone" else "",
        sentence=sentence(name or zone, area, attempts),
        attempts=attempts,
    )


def _area(start: dict[str, Any], began: Event, otherwise: Area) -> Area:
    """The area that a run is of, by its input, or by what its workflow is called."""
    try:
        return Area(str(start.get("area")))
    except ValueError:
        named = (area for area, entry in AREAS.items() if began.name in (entry.workflow, *entry.beside))
        return next(named, otherwise)


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _campaign(start: dict[str, Any], began: Event) -> str:
    memo = began.facts.get("memo") or {}
    return campaign_name(str(start.get("campaign") or memo.get("campaign") or ""))
