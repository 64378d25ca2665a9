"""``edgeshift report``: a campaign's report as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import Campaign, checked_apart, checked_out
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.counts import counted
from edgeshift.views.approval import Approval
from edgeshift.views.approval_file import write_approval
from edgeshift.views.report_data import as_json as report_json
from edgeshift.views.report_file import gather_report, write_report
from edgeshift.views.report_source import Source
from edgeshift.views.words import targets

__all__ = ["report", "write_report"]


def report(
    campaign: Campaign,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write it; by default CAMPAIGN-report.html.", show_default=False),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Also write every zone to this CSV file.", show_default=False)
    ] = None,
    for_approval: Annotated[
        bool,
        typer.Option("--for-approval", help="Write a page of what waits for a person, with what signs it."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON (docs/output.md), and write no page.")
    ] = False,
) -> None:
    """Write a campaign's report as one HTML file that needs nothing else: no network, no script."""
    shell = current()
    if for_approval:
        if csv or as_json:
            raise CommandError(
                "--for-approval excludes --csv and --json",
                ExitCode.BAD_INPUT,
                hint=f"edgeshift report {campaign} --for-approval --out FILE",
            )
        _write_approval(shell, campaign, checked_out("--out", out or Path(f"{campaign}-approval.html")))
        return
    if as_json:
        if out or csv:
            raise CommandError(
                "--json excludes --out and --csv",
                ExitCode.BAD_INPUT,
                hint="call it without --json to write files; with --json the report is printed",
            )

        async def gather() -> Source:
            async with shell.temporal() as client:
                return await gather_report(client, shell.archive(), campaign, shell.readable_roots)

        shell.print_json(report_json(run(gather(), waiting="gathering the report")))
        return
    path = checked_out("--out", out or Path(f"{campaign}-report.html"))
    if csv is not None:
        checked_out("--csv", csv)
        checked_apart("--csv", csv, "the page", path)

    async def write() -> Source:
        async with shell.temporal() as client:
            roots = shell.readable_roots
            return await write_report(client, shell.archive(), campaign, path, csv, roots=roots)

    source = run(write(), waiting="gathering the report")
    # Of an area whose targets are others than zones, such as accounts, there may be fewer of them.
    written = f"{path} ({targets(len(source.rows), source.summary.area)})" + (f" and {csv}" if csv else "")
    shell.console.print(Text(f"written: {written}"), soft_wrap=True)


def _write_approval(shell: Shell, campaign: str, path: Path) -> None:
    async def write() -> Approval:
        async with shell.temporal() as client:
            return await write_approval(client, shell.archive(), campaign, path, shell.readable_roots)

    approval = run(write(), waiting="gathering what waits for a sign-off")
    number = len(approval.sheets)
    shell.console.print(Text(f"written: {path} ({counted(number, 'sheet')} to decide)"), soft_wrap=True)
