"""What a target's own evidence says, how much is enough for a campaign, and how an area has it judged again
just before a commit. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field

from edgeshift.model.fleet import Zone
from edgeshift.model.validators import NUMBER, Part

AHEAD = timedelta(minutes=5)
"""How far the clock of whoever judged evidence may be ahead."""


class EvidenceVerdict(StrEnum):
    """What a target's evidence says. It may block a sign-off, it never approves."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class EvidencePolicy(Part):
    """How much evidence is enough and how much disagreement is too much for a pass."""

    enough: Annotated[int, Field(ge=0), NUMBER] = Field(
        default=20, description="Events that must have been seen for a pass."
    )
    share: Annotated[float, Field(ge=0, le=1), NUMBER] = Field(
        default=0.0,
        description="How large a part of the requests the service's sample must hold; 0 takes any.",
    )
    false_positives: Annotated[int, Field(ge=0), NUMBER] = Field(
        default=0, description="How many requests may be stopped by the new WAF alone."
    )
    gaps: Annotated[int, Field(ge=0), NUMBER] = Field(
        default=0, description="How many requests may be stopped by the previous WAF alone."
    )


class About(NamedTuple):
    """What evidence that passed is about: the zone's identifier, the proposal's digest, and since when the
    zone was looked at.
    """

    zone: str
    proposal: str
    since: datetime


@dataclass(frozen=True)
class EvidenceAgain:
    """How an area's evidence is judged again at the door, by the archive and the signed campaign file alone.

    ``document``: what is archived. ``asked``: whether a zone's commit needs evidence, by the campaign's file.
    ``passes``: what it is about, where it passes by what it counts and by the campaign's file at this time,
    whatever verdict it carries; None where it does not. Campaign files have their durations scaled.
    ``of``: which zone (its identifier) and which proposal (its digest) it is of, whatever it says; None where
    the area does not say. Who gathered it, for which campaign, and whether the zone was set into validation
    since, the door sees to.
    """

    document: type[BaseModel]
    asked: Callable[[Any, Zone], bool]
    passes: Callable[[Any, Any, datetime], About | None]
    of: Callable[[Any], tuple[str, str]] | None = None
