"""What every report of a change that can be undone says: which targets were rolled back, why, and how long
that took. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import ReasonCode
from edgeshift.views.rows import ZoneRow

MOST_LINES = 200
"""Lines of each table; the rest is counted."""


class RolledBack(BaseModel):
    """A zone whose change was undone: why, how long that took, and what was seen afterwards."""

    row: ZoneRow
    why: str
    took: str = ""
    after: str = ""


class UndoneSections(BaseModel):
    """What the sections of an area have whose change can be undone; those of an area may have more."""

    rolled_back: list[RolledBack] = Field(default_factory=list)


def rolled_back(rows: Sequence[ZoneRow]) -> list[RolledBack]:
    """The first of the rows whose change was undone."""
    return [_rolled_back(row) for row in rows if row.place == ZoneOutcome.ROLLED_BACK][:MOST_LINES]


def _rolled_back(row: ZoneRow) -> RolledBack:
    back = next((one for one in row.causes if one.code is ReasonCode.ROLLED_BACK), None)
    if back is None:
        return RolledBack(row=row, why=row.reason or "no reason on record")
    took = f"{back.seconds or 0:.1f} s"
    return RolledBack(row=row, why=text_of(*back.because), took=took, after=text_of(*back.then))
