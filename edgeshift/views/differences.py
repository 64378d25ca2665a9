"""What a probe found, as a table: each change once, with the feature that replaces it and where it was seen.
Pure: renderables are built only.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from edgeshift.areas.esc.probe import Difference, ProbeReport
from edgeshift.views.words import one_line

MOST_CHANGES = 15
MOST_PLACES = 3


class Change(BaseModel):
    """One change, wherever it was seen. ``feature``: what replaces it; ``before``: with Edge Side Code."""

    feature: str
    what: str
    before: str
    after: str
    places: list[str]

    @property
    def where(self) -> str:
        """The first places, and how many more there are."""
        more = len(self.places) - MOST_PLACES
        return ", ".join(self.places[:MOST_PLACES]) + (f" and {more:,} more" if more > 0 else "")


def changes(reports: Iterable[ProbeReport]) -> list[Change]:
    """Every change that these probes found, by feature, the most frequent of each first."""
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for report in reports:
        for one in report.differences:
            key = (one.feature.value, _what(one), one.before or "absent", one.after or "absent")
            places.setdefault(key, []).append(f"{one.host}{one.path}")
    ranked = sorted(places.items(), key=lambda item: (item[0][0], -len(item[1]), item[0]))
    return [
        Change(feature=feature, what=what, before=before, after=after, places=sorted(found))
        for (feature, what, before, after), found in ranked
    ]


def _what(one: Difference) -> str:
    return one.kind.value if one.what in ("", one.kind.value) else f"{one.kind.value} {one.what}"


def changes_table(found: list[Change], most: int = MOST_CHANGES) -> Table:
    """The changes on a terminal: feature, what, before and after, where."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("replaced by", overflow="fold", ratio=2)
    table.add_column("what", overflow="fold", ratio=2)
    table.add_column("with esc → without", overflow="fold", ratio=3)
    table.add_column("where", overflow="fold", ratio=3)
    for one in found[:most]:
        values = f"{one_line(one.before)} → {one_line(one.after)}"
        table.add_row(Text(one.feature), Text(one_line(one.what)), Text(values), Text(one_line(one.where)))
    if len(found) > most:
        table.add_row("…", f"{len(found) - most} more", "", "")
    return table
