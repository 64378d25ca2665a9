"""``edgeshift report``: a campaign's report as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from edgeshift.cli.shell import current, run
from edgeshift.views.report_data import Source
from edgeshift.views.report_file import write_report
from edgeshift.views.words import plural

__all__ = ["report", "write_report"]


def report(
    campaign: Annotated[str, typer.Argument(help="The campaign's name.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write it; by default CAMPAIGN-report.html.", show_default=False),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Also write every zone to this CSV file.", show_default=False)
    ] = None,
) -> None:
    """Write a campaign's report as one HTML file that needs nothing else: no network, no script."""
    shell = current()
    path = out or Path(f"{campaign}-report.html")

    async def write() -> Source:
        async with shell.temporal() as client:
            return await write_report(client, shell.archive(), campaign, path, csv)

    source = run(write())
    written = f"{path} ({plural(len(source.rows), 'zone')})" + (f" and {csv}" if csv else "")
    shell.console.print(Text(f"written: {written}"), soft_wrap=True)
