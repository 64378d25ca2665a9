"""The zones of a campaign as CSV, a line each. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from edgeshift.runtime.safe_text import csv_cell
from edgeshift.views.parts import VIEWS
from edgeshift.views.rows import ZoneRow

LOST = {"lost_rules": "rule", "lost_groups": "group"}
"""The columns with what a change lost, and the kind of things that each counts."""

COLUMNS: tuple[str, ...] = (
    *("index", "name", "id", "account", "plan", "wave", "place", "reason", "attempt"),
    *("started_at", "closed_at", "digest", "fingerprint", "record", "code"),
    *LOST,
)
AFTERWARDS = "afterwards"
"""The last column: what is done by hand for a zone that was changed."""


def as_csv(rows: Iterable[ZoneRow], campaign: str = "") -> str:
    """Every row as CSV, of the campaign of this name. Cells that a spreadsheet would take for a formula get
    an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*COLUMNS, AFTERWARDS))
    for row in rows:
        values = row.model_dump(mode="json", include=set(COLUMNS))
        for column, kind in LOST.items():
            values[column] = None if row.lost is None else row.lost.get(kind, 0)
        after = VIEWS.of(row.area).after(campaign, row.name) if campaign and row.record else ()
        writer.writerow([*(csv_cell(values[column]) for column in COLUMNS), csv_cell("; ".join(after))])
    return out.getvalue()
