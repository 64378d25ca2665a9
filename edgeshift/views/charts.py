"""The geometry of the report's charts. Pure: the template draws it as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import BaseModel

from edgeshift.areas import area_of
from edgeshift.model.fleet import Area
from edgeshift.views.report_data import PlaceCount
from edgeshift.views.rows import ZoneRow
from edgeshift.views.words import FINISHED, Kind, lasting, look, targets

WIDTH, HEIGHT = 600, 200
"""Of the drawing, which a page stretches to the room that it has; what is written stands beside it."""

STEPS = 60
"""Points along the time axis of the chart of finishes."""

LAYERS = (Kind.DONE, Kind.NEEDS_PERSON, Kind.FAILED)
LAYER_WORDS = {Kind.NEEDS_PERSON: "needs a person", Kind.FAILED: "failed or unknown"}


def layer_words(kind: Kind, area: Area) -> str:
    """What a layer of the chart of finishes is called."""
    return LAYER_WORDS.get(kind) or area_of(area).phrases.done


class Layer(BaseModel):
    """One kind of finished zones: the outline of its area, and how many there are at the end."""

    kind: str
    label: str
    outline: str
    zones: int


class Finishes(BaseModel):
    """The chart of zones finished over time: stacked areas. ``across``: what is written below it, evenly,
    from left to right; ``up``: beside it, from the top; ``told``: the same in a sentence.
    """

    layers: list[Layer]
    across: list[str]
    up: list[str]
    headings: list[str]
    table: list[tuple[datetime, list[int]]]
    told: str


class BarPart(BaseModel):
    """A part of a bar: from ``start``, ``width`` wide, in percent of the bar."""

    place: PlaceCount
    start: float
    width: float


def parts_of(places: Sequence[PlaceCount]) -> list[BarPart]:
    """A bar parted by the places' shares."""
    total = sum(item.zones for item in places) or 1
    found, start = [], 0.0
    for item in places:
        width = 100 * item.zones / total
        found.append(BarPart(place=item, start=start, width=width))
        start += width
    return found


def finishes(rows: Sequence[ZoneRow]) -> Finishes | None:
    """The chart of finishes, or None where fewer than two zones have finished."""
    ends = sorted((row.closed_at, look(row.place).kind) for row in rows if row.closed_at and _ended(row))
    if len(ends) < 2:
        return None
    area = rows[0].area
    first = min((row.started_at for row in rows if row.started_at), default=ends[0][0])
    last = max(ends[-1][0], first + timedelta(seconds=1))
    span = last - first
    moments = [first + span * step / STEPS for step in range(STEPS + 1)]
    series = {kind: _cumulative([at for at, found in ends if found is kind], moments) for kind in LAYERS}
    top = _round_up(len(ends))
    layers, below = [], [0] * len(moments)
    for kind in LAYERS:
        above = [low + more for low, more in zip(below, series[kind], strict=True)]
        if series[kind][-1]:
            layer = Layer(
                kind=kind.value,
                label=layer_words(kind, area),
                outline=_outline(below, above, top),
                zones=series[kind][-1],
            )
            layers.append(layer)
        below = above
    half = next(at for place, (at, _) in enumerate(ends) if 2 * (place + 1) >= len(ends))
    words = ", ".join(f"{layer.zones:,} {layer.label}" for layer in layers)
    return Finishes(
        layers=layers,
        across=_across(first, span),
        up=[f"{value:,}" for value in (top, top // 2, 0)],
        headings=[layer_words(kind, area) for kind in LAYERS],
        table=[(moments[step], [series[kind][step] for kind in LAYERS]) for step in range(0, STEPS + 1, 5)],
        told=(
            f"{targets(len(ends), area)} finished within {lasting(span)}: {words}."
            f" Half of them had finished after {lasting(half - first)}."
        ),
    )


def _ended(row: ZoneRow) -> bool:
    return look(row.place).kind in FINISHED


def _cumulative(ends: Sequence[datetime], moments: Sequence[datetime]) -> list[int]:
    counts, place = [], 0
    for moment in moments:
        while place < len(ends) and ends[place] <= moment:
            place += 1
        counts.append(place)
    return counts


def _round_up(value: int) -> int:
    """The next even number of one or two leading digits, so that the axis reads well."""
    step = max(2, int("1" + "0" * (len(str(value)) - 1)) // 2)
    step += step % 2
    return -(-value // step) * step


def _x(step: float) -> float:
    return round(WIDTH * step / STEPS, 1)


def _y(value: float, top: int) -> float:
    return round(HEIGHT - HEIGHT * value / top, 1)


def _outline(below: Sequence[int], above: Sequence[int], top: int) -> str:
    upper = [f"{_x(step)},{_y(value, top)}" for step, value in enumerate(above)]
    lower = [f"{_x(step)},{_y(value, top)}" for step, value in reversed(list(enumerate(below)))]
    return " ".join([*upper, *lower])


def _across(first: datetime, span: timedelta) -> list[str]:
    pattern = (
        "%H:%M:%S" if span < timedelta(hours=1) else "%d %b %H:%M" if span < timedelta(days=10) else "%d %b"
    )
    return [(first + span * part / 4).strftime(pattern) for part in range(5)]
