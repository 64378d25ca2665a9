"""What a report of the area log-fields has of its own: what log entries said of each field. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from edgeshift.areas.log_fields.entries import FieldState, Judgement
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.views.rolled_back import MOST_LINES, UndoneSections, rolled_back
from edgeshift.views.rows import ZoneRow

STATES = {
    FieldState.SEEN: "seen",
    FieldState.NEVER_SENT: "never sent",
    FieldState.TRUNCATED: "cut off",
    FieldState.SET_LATER: "set later by a rule",
    FieldState.NOT_LISTED: "listed by no log job",
    FieldState.TOO_FEW: "too few entries to say",
}
"""What log entries said of a field, as the headings of a table."""


class FieldLine(BaseModel):
    """A custom field: in how many zones log entries said what of it, in the order of STATES."""

    name: str
    zones: list[int]


class LogFieldsSections(UndoneSections):
    """What log entries said. ``unverified``: zones whose fields were written and of which no log entries were
    judged; ``left_out``: fields that the table does not show.
    """

    headings: list[str] = Field(default_factory=list)
    fields: list[FieldLine] = Field(default_factory=list)
    judged: int = 0
    entries: int = 0
    unverified: list[ZoneRow] = Field(default_factory=list)
    left_out: int = 0


def sections(rows: Sequence[ZoneRow], judged: Mapping[int, Judgement]) -> LogFieldsSections:
    """The sections about these zones. ``judged``: by their index, as far as gathered."""
    lines = _fields(judged)
    settled = [row for row in rows if row.place == ZoneOutcome.SETTLED and row.record]
    return LogFieldsSections(
        rolled_back=rolled_back(rows),
        headings=list(STATES.values()),
        fields=lines[:MOST_LINES],
        judged=len(judged),
        entries=sum(one.entries for one in judged.values()),
        unverified=[row for row in settled if row.index not in judged][:MOST_LINES] if judged else [],
        left_out=max(0, len(lines) - MOST_LINES),
    )


def _fields(judged: Mapping[int, Judgement]) -> list[FieldLine]:
    counts: dict[str, Counter[FieldState]] = {}
    for one in judged.values():
        for field in one.fields:
            counts.setdefault(str(field.field), Counter())[field.state] += 1
    return [
        FieldLine(name=name, zones=[found[state] for state in STATES])
        for name, found in sorted(counts.items())
    ]
