"""The report as one HTML file that needs nothing else: no request, no script. Everything in it is escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from edgeshift.areas import area_of
from edgeshift.areas.waf.evidence_texts import MEANINGS, SAID, limits_lines, sample_line
from edgeshift.model.durations import say_duration
from edgeshift.views import charts
from edgeshift.views.parts import VIEWS
from edgeshift.views.report_data import ReportData
from edgeshift.views.rows import ZoneRow, as_csv, look_of
from edgeshift.views.words import finished, lasting, look, moment, printable, short, word

MOST_EMBEDDED = 3_000_000
"""Bytes of CSV that the page carries in itself; a longer one is a file of its own."""


def render_report(data: ReportData, rows: Sequence[ZoneRow], csv_file: str = "") -> str:
    """The page. ``rows``: every zone; ``csv_file``: the name of the file that has them as well, or empty."""
    encoded = as_csv(rows).encode()
    part = VIEWS.of(data.summary.area)
    return (
        _environment(part.package)
        .get_template("report.html.j2")
        .render(
            data=data,
            summary=data.summary,
            area=area_of(data.summary.area),
            part=part,
            done=finished(data.summary.places),
            style=_style(),
            finishes=charts.finishes(rows),
            chart=charts,
            csv_data=base64.b64encode(encoded).decode() if len(encoded) <= MOST_EMBEDDED else "",
            csv_file=csv_file,
        )
    )


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("edgeshift.views"), PackageLoader(package)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    environment.filters |= {
        "moment": moment,
        "short": short,
        "lasting": lasting,
        "duration": say_duration,
        "number": lambda value: f"{value:,}",
        "percent": lambda value: f"{value:.1f} %" if 0 < value < 10 else f"{value:.0f} %",
        "look": look,
        "look_of": look_of,
        "word": word,
        "parts": charts.parts_of,
        "meaning": lambda kind: MEANINGS[kind],
        "said": lambda value: SAID.get(value, value),
        "sampled": lambda item: f"{item.mode} mode: {sample_line(item)}",
        "limits": limits_lines,
    }
    return environment


@cache
def _style() -> Markup:
    # The style sheet is ours, so it goes in as it is; the policy in the page's head keeps all else out.
    return Markup(files("edgeshift.views").joinpath("templates/report.css").read_text("utf-8"))


def _safe(value: object) -> object:
    """Without control characters and without characters that turn the reading direction."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
