"""What a target's own evidence says, and how an area has it judged again just before a commit. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel

from edgeshift.model.fleet import Zone

AHEAD = timedelta(minutes=5)
"""How far the clock of whoever judged evidence may be ahead."""


class EvidenceVerdict(StrEnum):
    """What a target's evidence says. It may block a sign-off, it never approves."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


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
    whatever verdict it carries; None where it does not. Campaign files have their durations scaled. Who
    gathered it, for which campaign, and whether the zone was set into validation since, the door sees to.
    """

    document: type[BaseModel]
    asked: Callable[[Any, Zone], bool]
    passes: Callable[[Any, Any, datetime], About | None]
