"""What a report says beside the rest of campaigns of esc and log-fields. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.log_fields.entries import FieldState, Judgement
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import ReasonCode
from edgeshift.views.differences import Change, changes
from edgeshift.views.rows import ZoneRow

MOST_LINES = 200
"""Lines of each table; the rest is counted."""

STATES = {
    FieldState.SEEN: "seen",
    FieldState.NEVER_SENT: "never sent",
    FieldState.TRUNCATED: "cut off",
    FieldState.SET_LATER: "set later by a rule",
    FieldState.NOT_LISTED: "listed by no log job",
    FieldState.TOO_FEW: "too few entries to say",
}
"""What log entries said of a field, as the headings of a table."""


class RolledBack(BaseModel):
    """A zone whose change was undone: why, how long that took, and what was seen afterwards."""

    row: ZoneRow
    why: str
    took: str = ""
    after: str = ""


class FeatureLine(BaseModel):
    """A replacement feature: how many changes ask for it, and how many zones have one of them."""

    feature: str
    changes: int
    zones: int


class FieldLine(BaseModel):
    """A custom field: in how many zones log entries said what of it, in the order of STATES."""

    name: str
    zones: list[int]


class AreaPart(BaseModel):
    """The part of a report that one area alone has. ``unverified``: zones whose fields were written and of
    which no log entries were judged; ``left_out``: lines that a table does not show.
    """

    rolled_back: list[RolledBack] = Field(default_factory=list)
    probed: int = 0
    urls: int = 0
    pairs: int = 0
    alarms: int = 0
    silent: int = 0
    features: list[FeatureLine] = Field(default_factory=list)
    changes: list[Change] = Field(default_factory=list)
    headings: list[str] = Field(default_factory=list)
    fields: list[FieldLine] = Field(default_factory=list)
    judged: int = 0
    entries: int = 0
    unverified: list[ZoneRow] = Field(default_factory=list)
    left_out: int = 0


def area_part(
    rows: Sequence[ZoneRow], probes: Mapping[int, ProbeReport], judged: Mapping[int, Judgement]
) -> AreaPart:
    """The part of a report about these zones. ``probes``, ``judged``: by zone index, as far as gathered."""
    found = changes(probes.values())
    lines = _fields(judged)
    settled = [row for row in rows if row.place == ZoneOutcome.SETTLED and row.record]
    return AreaPart(
        rolled_back=[_rolled_back(row) for row in rows if row.place == ZoneOutcome.ROLLED_BACK][:MOST_LINES],
        probed=len(probes),
        urls=sum(report.coverage.urls for report in probes.values()),
        pairs=sum(report.controls.pairs for report in probes.values()),
        alarms=sum(report.controls.alarms for report in probes.values()),
        silent=sum(
            report.coverage.zones_covered - report.coverage.zones_probed for report in probes.values()
        ),
        features=_features(found),
        changes=found[:MOST_LINES],
        headings=list(STATES.values()),
        fields=lines[:MOST_LINES],
        judged=len(judged),
        entries=sum(one.entries for one in judged.values()),
        unverified=[row for row in settled if row.index not in judged][:MOST_LINES] if judged else [],
        left_out=max(0, len(found) - MOST_LINES) + max(0, len(lines) - MOST_LINES),
    )


def _rolled_back(row: ZoneRow) -> RolledBack:
    back = next((one for one in row.causes if one.code is ReasonCode.ROLLED_BACK), None)
    if back is None:
        return RolledBack(row=row, why=row.reason or "no reason on record")
    took = f"{back.seconds or 0:.1f} s"
    return RolledBack(row=row, why=text_of(*back.because), took=took, after=text_of(*back.then))


def _features(found: Sequence[Change]) -> list[FeatureLine]:
    counts = Counter(one.feature for one in found)
    hosts: dict[str, set[str]] = {}
    for one in found:
        hosts.setdefault(one.feature, set()).update(place.partition("/")[0] for place in one.places)
    return [
        FeatureLine(feature=feature, changes=number, zones=len(hosts[feature]))
        for feature, number in counts.most_common()
    ]


def _fields(judged: Mapping[int, Judgement]) -> list[FieldLine]:
    counts: dict[str, Counter[FieldState]] = {}
    for one in judged.values():
        for field in one.fields:
            counts.setdefault(str(field.field), Counter())[field.state] += 1
    return [
        FieldLine(name=name, zones=[found[state] for state in STATES])
        for name, found in sorted(counts.items())
    ]
