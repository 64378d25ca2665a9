"""``edgeshift report``: a campaign's report as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.shell import current, run
from edgeshift.model.counts import counted
from edgeshift.views.report_data import Source
from edgeshift.views.report_data import as_json as report_json
from edgeshift.views.report_file import gather_report, write_report

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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON (docs/output.md), and write no page.")
    ] = False,
) -> None:
    """Write a campaign's report as one HTML file that needs nothing else: no network, no script."""
    shell = current()
    if as_json:
        if out or csv:
            raise CommandError(
                "--json excludes --out and --csv",
                ExitCode.BAD_INPUT,
                hint="call it without --json to write files; with --json the report is printed",
            )

        async def gather() -> Source:
            async with shell.temporal() as client:
                return await gather_report(client, shell.archive(), campaign)

        shell.print_json(report_json(run(gather())))
        return
    path = out or Path(f"{campaign}-report.html")

    async def write() -> Source:
        async with shell.temporal() as client:
            return await write_report(client, shell.archive(), campaign, path, csv)

    source = run(write())
    written = f"{path} ({counted(len(source.rows), 'zone')})" + (f" and {csv}" if csv else "")
    shell.console.print(Text(f"written: {written}"), soft_wrap=True)
