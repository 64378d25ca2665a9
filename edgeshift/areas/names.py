"""What an area's definition may name: parts, steps, and what it has words for. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from edgeshift.areas.assessment import Verdict
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.steps import Step
from edgeshift.model.target_state import TargetState
from edgeshift.model.zone_phase import ZonePhase

PARTS = (
    "worker",
    "doctor",
    "campaign_file",
    "cli",
    "documents",
    "proposals",
    "checks",
    "views",
    "stack",
    "demo",
)
"""The parts that a room asks for (parts.py)."""

STEPS = tuple(Step)

PLACES = tuple(
    dict.fromkeys(
        (
            *(state.word for state in TargetState),
            *map(str, ZoneOutcome),
            *map(str, Verdict),
            "proposed",
        )
    )
)
"""Where a zone is, as campaigns, plans and lists of zones say it."""

WORDS = tuple(dict.fromkeys(("zone", *STEPS, *PLACES, *map(str, ZonePhase))))
"""What an area may have a word of its own for: its targets, steps, places and outcomes, phases of zones."""


def odd(named: Iterable[str], known: Iterable[str], what: str) -> str:
    """What is wrong with names of a definition, or empty. ``what``: the field, for people."""
    there = tuple(known)
    some = [name for name in named if name not in there]
    return f"`{what}` has no {some[0]!r}; it may have {', '.join(there)}" if some else ""
