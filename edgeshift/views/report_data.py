"""What a campaign's report says, put together from what was gathered. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from edgeshift.messages import CampaignSummary
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.reasons import codes_of
from edgeshift.views.figures import FOR_PEOPLE
from edgeshift.views.message_texts import PASSED_ON
from edgeshift.views.parts import VIEWS
from edgeshift.views.report_source import MOST_LISTED, Source
from edgeshift.views.rows import ZoneRow, is_odd, look_of, notable
from edgeshift.views.waves import summary_data
from edgeshift.views.words import Kind, Look, look, ordered

MOST_ROWS = 1_000
"""Zones that the table lists; the rest are in the CSV."""

LEADING = (ZoneOutcome.FAILED, ZoneOutcome.UNKNOWN, ZoneOutcome.REJECTED, ZoneOutcome.ON_HOLD)
"""What a person looks for first."""

NEEDED = (Kind.NEEDS_PERSON, Kind.FAILED)
"""Kinds of states that ask something of a person, beside those that wait for one."""


class PlaceCount(BaseModel):
    """A place with its zones. ``kind`` names the style."""

    place: str
    label: str
    mark: str
    kind: str
    zones: int
    percent: float


class WaveLine(BaseModel):
    """A wave with its counts. ``number`` counts from 1."""

    number: int
    name: str
    size: int
    places: list[PlaceCount]


class SignerLine(BaseModel):
    """One decision. ``subject``: which waves it is for, or the zone signed singly; ``zones``: how many."""

    by: str
    choice: str
    at: datetime | None
    reason: str
    digest: str
    subject: str
    zones: int
    refused: str = ""


class ZoneFinding(BaseModel):
    """A zone and one thing that is said of it."""

    row: ZoneRow
    text: str
    more: list[str] = Field(default_factory=list)


class ReportData(BaseModel):
    """The report's contents, section by section. ``tiles``: what is counted at the top; ``left_out``: what a
    section does not show, by its name; ``area``: what the area's own sections have.
    """

    summary: CampaignSummary
    made_at: datetime
    trouble: str
    note: str
    tiles: list[PlaceCount]
    totals: list[PlaceCount]
    waves: list[WaveLine]
    by_fingerprint: list[SignerLine]
    singly: list[SignerLine]
    tickets: list[ZoneFinding]
    reasons: dict[str, list[tuple[str, int, list[str]]]]
    trouble_zones: list[ZoneFinding]
    rows: list[ZoneRow]
    left_out: dict[str, int]
    area: BaseModel


def report_data(source: Source) -> ReportData:
    """The report's contents. Long sections are cut, and what is left out is counted."""
    rows = {row.index: row for row in source.rows}
    shown = [row for row in source.rows if notable(row)] if len(source.rows) > MOST_ROWS else source.rows
    by_fingerprint = _by_fingerprint(source)
    singly = _singly(source, rows)
    left_out = {
        "rows": len(source.rows) - min(len(shown), MOST_ROWS),
        "singly": len(singly) - MOST_LISTED,
        "tickets": len(source.closed_tickets),
        "histories": len([row for row in source.rows if row.run_id]) - len(source.timelines),
    }
    return ReportData(
        summary=source.summary,
        made_at=source.made_at,
        trouble=source.trouble,
        note=source.note,
        tiles=_tiles(source),
        totals=_totals(source),
        waves=[
            WaveLine(
                number=wave.number + 1,
                name=wave.name,
                size=wave.size,
                places=counts(wave.places, source.summary.area),
            )
            for wave in source.summary.waves
        ],
        by_fingerprint=by_fingerprint,
        singly=singly[:MOST_LISTED],
        tickets=_tickets(source, rows),
        reasons={
            place: _reasons(source.rows, place)
            for place in ("blocked", "needs_support", "on_hold", "excluded")
        },
        trouble_zones=_trouble(source),
        rows=shown[:MOST_ROWS],
        left_out={name: max(0, count) for name, count in left_out.items()},
        area=VIEWS.of(source.summary.area).report(source),
    )


def _totals(source: Source) -> list[PlaceCount]:
    """The places that hold zones. What was not verified, or not read, is counted beside, without ✓."""
    found = counts(source.summary.places, source.summary.area)
    for item in found:
        looks = Counter(look_of(row) for row in source.rows if row.place == item.place)
        others = [(one, zones) for one, zones in looks.items() if one.mark != item.mark]
        if others:
            item.mark = others[0][0].mark
            more = sorted(f"{zones:,} {one.beside}" for one, zones in others)
            item.label += f" ({', '.join(more)})"
    return found


def _tiles(source: Source) -> list[PlaceCount]:
    """What comes first, also where there is none of it, and then wherever else a person is needed."""
    places, area = source.summary.places, source.summary.area
    found = {item.place: item for item in counts(places, area)}
    first = [found.pop(place, _count(place, 0, 0, area)) for place in LEADING]
    return [*first, *(item for item in found.values() if item.kind in NEEDED or item.place in FOR_PEOPLE)]


def counts(places: Mapping[str, int], area: Area | None = None) -> list[PlaceCount]:
    """The places that hold zones, in their order, with their share."""
    total = sum(places.values())
    return [_count(place, zones, total, area) for place, zones in ordered(places)]


def _count(place: str, zones: int, total: int, area: Area | None) -> PlaceCount:
    appears: Look = look(place, area)
    return PlaceCount(
        place=place,
        label=appears.label,
        mark=appears.mark,
        kind=appears.kind.value,
        zones=zones,
        percent=100 * zones / total if total else 0,
    )


def _by_fingerprint(source: Source) -> list[SignerLine]:
    # A decision counts for one wave, or for all (None).
    zones = Counter((row.fingerprint, wave) for row in source.rows for wave in (row.wave, None))
    found = []
    for book in source.summary.book:
        subject = f"wave {book.wave + 1}" if book.wave is not None else "all waves"
        found += [
            SignerLine(
                by=decision.by,
                choice=decision.choice.value,
                at=decision.at,
                reason=decision.reason,
                digest=book.fingerprint,
                subject=subject,
                zones=zones[book.fingerprint, book.wave],
            )
            for decision in book.decisions
        ]
    return sorted(found, key=lambda line: (-line.zones, line.digest, line.by))


def _singly(source: Source, rows: Mapping[int, ZoneRow]) -> list[SignerLine]:
    return [
        SignerLine(
            by=signed.by,
            choice=signed.choice,
            at=signed.at,
            reason=signed.reason,
            digest=signed.digest,
            subject=rows[index].name,
            zones=1,
            refused=signed.refused,
        )
        for index, timeline in sorted(source.timelines.items())
        for attempt in timeline.attempts
        for signed in attempt.signed
        if signed.way != PASSED_ON
    ]


def tickets_of(source: Source) -> dict[str, list[int]]:
    """Every ticket of the campaign, with the indexes of its zones."""
    found: dict[str, list[int]] = {}
    for index, timeline in sorted(source.timelines.items()):
        for attempt in timeline.attempts:
            for ticket in attempt.tickets:
                found.setdefault(ticket, []).append(index)
    for row in source.rows:
        for ticket in row.tickets:
            found.setdefault(ticket, []).append(row.index)
    return {ticket: sorted(set(indexes)) for ticket, indexes in found.items()}


def _tickets(source: Source, rows: Mapping[int, ZoneRow]) -> list[ZoneFinding]:
    """The tickets that are still there, zone by zone."""
    pairs = [
        (index, ticket)
        for ticket, indexes in tickets_of(source).items()
        if ticket not in source.closed_tickets
        for index in indexes
    ]
    return [ZoneFinding(row=rows[index], text=ticket) for index, ticket in sorted(pairs)]


def _reasons(rows: Sequence[ZoneRow], place: str) -> list[tuple[str, int, list[str]]]:
    """Each reason of the zones at ``place``, how many have it, and the first of them by name."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row.place == place:
            names.setdefault(row.reason or "no reason on record", []).append(row.name)
    ranked = sorted(names.items(), key=lambda item: (-len(item[1]), item[0]))
    return [(reason, len(some), some[:5]) for reason, some in ranked[:50]]


def as_json(source: Source) -> dict[str, Any]:
    """The report for programs: the campaign, every zone, and how many zones of a place have which code. What
    an area adds stands under ``own``.
    """
    own = VIEWS.of(source.summary.area).report_json(source)
    codes: dict[str, Counter[str]] = {}
    rows = {row.index: row for row in source.rows}
    for row in source.rows:
        # A zone over two limits at once counts for both.
        codes.setdefault(row.place, Counter()).update(dict.fromkeys(map(str, codes_of(row.causes)), 1))
    return {
        "campaign": source.summary.name,
        "made_at": source.made_at.isoformat(),
        "trouble": source.trouble,
        "note": source.note,
        "summary": summary_data(source.summary),
        "codes": {place: dict(found.most_common()) for place, found in codes.items() if found},
        "zones": source.rows,
        "losses": [
            {"zone": rows[index].name, "id": rows[index].id, "losses": some}
            for index, some in sorted(source.losses.items())
            if some
        ],
        **({"own": own} if own else {}),
    }


def _trouble(source: Source) -> list[ZoneFinding]:
    found = []
    for row in source.rows:
        if row.place in ("failed", "unknown") or is_odd(row.place):
            timeline = source.timelines.get(row.index)
            more = [timeline.sentence] if timeline else []
            found.append(ZoneFinding(row=row, text=row.reason or "no reason on record", more=more))
    return sorted(found, key=lambda item: item.row.place == ZoneOutcome.UNKNOWN)[:MOST_ROWS]
