"""How many calls targets cost once they were read (activities/calls_made.py)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from edgeshift.model.fleet import Area, Plan, ZoneOutcome
from edgeshift.stores.documents.codec import Document


class TargetCalls(BaseModel):
    """``calls``: that were made for one target; ``plan``: its own."""

    model_config = ConfigDict(frozen=True)

    calls: int
    plan: Plan


class CallsMade(Document):
    """``calls/<area>/<campaign>/<run>/<moment>-<number>``: what a worker has counted since it last said so.
    ``run``: the first one of the campaign. By target, as its workflow is called: ``zones``, the calls that
    were made; ``ended``, the outcomes that were told meanwhile.

    Written by workers (docs/calls.md); read by the forecast of a plan.
    """

    zones: dict[str, TargetCalls]
    ended: dict[str, ZoneOutcome]


def calls_folder(area: Area, campaign: str = "", run: str = "") -> str:
    """Where the records of an area lie, or those of one campaign of it."""
    return "/".join(part for part in ("calls", area.value, campaign, run) if part)
