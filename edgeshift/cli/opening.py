"""``edgeshift open``: Temporal's web pages, or a report, in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from edgeshift.cli import candidates
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson, Campaign, OfArea, checked_out
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.fleet import CAMPAIGN_NAME, Area, campaign_id

if TYPE_CHECKING:
    from edgeshift.views.report_source import Source

app = typer.Typer(help="Open Temporal's pages or a report in a browser.", no_args_is_help=True)

PrintOnly = Annotated[bool, typer.Option("--print", help="Open nothing: only print the address.")]


@app.callback()
def open_() -> None:
    """Open Temporal's pages or a report in a browser."""


@app.command()
def ui(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="CAMPAIGN|ZONE",
            help="A campaign, or a zone by name or identifier; none: all workflows.",
            show_default=False,
            autocompletion=candidates.campaigns,
        ),
    ] = None,
    area: OfArea = None,
    print_only: PrintOnly = False,
    as_json: AsJson = False,
) -> None:
    """Open Temporal's web pages about a campaign or a zone."""
    shell = current()
    shell.check_stack()
    temporal = shell.settings.temporal
    if temporal.ui is None:
        raise CommandError(
            f"no web pages are known of Temporal at {temporal.address}",
            ExitCode.NOTHING,
            hint="`edgeshift up --ui` serves those of a stack; for another server set EDGESHIFT_TEMPORAL_UI",
        )
    workflow = run(_workflow(shell, what, area), waiting=f"looking for {what}") if what else ""
    url = f"{temporal.ui.rstrip('/')}/namespaces/{quote(temporal.namespace, safe='')}/workflows"
    if workflow:
        url += f"/{quote(workflow, safe='')}"
    _show(shell, url, print_only=print_only)


@app.command()
def report(
    campaign: Campaign,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write it; by default CAMPAIGN-report.html.", show_default=False),
    ] = None,
    print_only: PrintOnly = False,
    as_json: AsJson = False,
) -> None:
    """Write a campaign's report, as it is now, and open it."""
    from edgeshift.views.report_file import write_report

    shell = current()
    path = checked_out("--out", out or Path(f"{campaign}-report.html"))

    async def write() -> Source:
        async with shell.temporal() as client:
            roots = shell.readable_roots
            return await write_report(client, shell.archive(), campaign, path, None, roots=roots)

    run(write(), waiting="gathering the report")
    _show(shell, path.absolute().as_uri(), print_only=print_only)


async def _workflow(shell: Shell, what: str, area: Area | None) -> str:
    """The identifier of the workflow of a campaign or a zone. Raises NotFound, BadInput."""
    from edgeshift.model.zone_names import is_identifier, typed_zone
    from edgeshift.operations.campaigns import describe
    from edgeshift.operations.errors import NotFound
    from edgeshift.views.finding import find_zone

    async with shell.temporal() as client:
        # The name of a zone has a dot, that of a campaign none.
        if CAMPAIGN_NAME.fullmatch(what) and await describe(client, campaign_id(what)):
            return campaign_id(what)
        wanted = typed_zone(what)
        missing = NotFound(f"there is no campaign or zone {what}", "`edgeshift status` lists the campaigns")
        if "." not in wanted and not is_identifier(wanted):
            raise missing
        found = (await find_zone(client, shell.archive(), wanted, None, area)).workflow_id
        if await describe(client, found) is None:
            raise missing
        return found


def _show(shell: Shell, url: str, *, print_only: bool) -> None:
    opened = not print_only and webbrowser.open(url)
    shell.answer({"url": url, "opened": opened}, url)
    if not opened and not print_only:
        shell.notes.print("no browser could be opened here: open the address yourself", soft_wrap=True)
