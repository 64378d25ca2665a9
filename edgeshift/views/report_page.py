"""The report as one HTML file."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from edgeshift.areas import area_of
from edgeshift.views import charts
from edgeshift.views.csv_rows import as_csv
from edgeshift.views.pages import environment, style
from edgeshift.views.parts import VIEWS
from edgeshift.views.report_data import ReportData
from edgeshift.views.rows import ZoneRow
from edgeshift.views.words import finished

MOST_EMBEDDED = 3_000_000
"""Bytes of CSV that the page carries in itself; a longer one is a file of its own."""


def render_report(data: ReportData, rows: Sequence[ZoneRow], csv_file: str = "") -> str:
    """The page. ``rows``: every zone; ``csv_file``: the name of the file that has them as well, or empty."""
    encoded = as_csv(rows, data.summary.name).encode()
    part = VIEWS.of(data.summary.area)
    return (
        environment(part)
        .get_template("report.html.j2")
        .render(
            data=data,
            summary=data.summary,
            area=area_of(data.summary.area),
            part=part,
            done=finished(data.summary.places),
            style=style(),
            finishes=charts.finishes(rows),
            chart=charts,
            csv_data=base64.b64encode(encoded).decode() if len(encoded) <= MOST_EMBEDDED else "",
            csv_file=csv_file,
        )
    )
