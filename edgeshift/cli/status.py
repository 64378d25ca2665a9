"""``edgeshift status``: a campaign as it stands, or all campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from temporalio.client import Client, WorkflowExecution

from edgeshift.alarms import Facts, alarms_of
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.picture import save_picture
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.counts import counted
from edgeshift.views.alarming import campaign_fact
from edgeshift.views.figures import Pace
from edgeshift.views.finding import campaigns
from edgeshift.views.gathering import Known, each, known_campaign, summary_of, zone_rows
from edgeshift.views.lists import CampaignLine, campaigns_table, rows_table, zone_card, zone_lists
from edgeshift.views.live import campaign_view
from edgeshift.views.rows import ZoneRow, chosen, is_phase, listed
from edgeshift.views.widths import Card
from edgeshift.views.words import finished

MOST_CAMPAIGNS = 50
MOST_FINGERPRINTS = 50
MOST_ROWS = 200
MOST_IN_JSON = 1_000


def status(
    campaign: Annotated[str | None, typer.Argument(help="The campaign's name; none: list all.")] = None,
    zone: Annotated[
        str, typer.Option(help="Only this zone, by name or identifier.", show_default=False)
    ] = "",
    wave: Annotated[
        int | None, typer.Option(min=1, help="Only zones of this wave.", show_default=False)
    ] = None,
    phase: Annotated[str, typer.Option(help="Only zones there, such as failed.", show_default=False)] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/output.md).")] = False,
    export_svg: Annotated[Path | None, typer.Option("--export-svg", hidden=True)] = None,
) -> None:
    """Show a campaign, with the zones that wait, failed or need somebody by name; or list all campaigns."""
    shell = current()
    if campaign is None:
        if zone or wave or phase:
            raise CommandError(
                "--zone, --wave and --phase need a campaign",
                ExitCode.BAD_INPUT,
                hint="edgeshift status CAMPAIGN --zone ZONE; `edgeshift status` lists the campaigns",
            )
        lines = run(_all(shell))
        if as_json:
            shell.print_json({"campaigns": lines})
        else:
            _show(shell, campaigns_table(lines), export_svg, "edgeshift status")
        return
    known, rows = run(_one(shell, campaign))
    if phase and not is_phase(phase, known.start.area):
        raise CommandError(
            f"--phase {phase!r} is not a phase, a place or an outcome",
            ExitCode.BAD_INPUT,
            hint="docs/output.md lists them, such as awaiting, failed or on_hold",
        )
    some = chosen(rows, zone=zone, wave=wave - 1 if wave else None, phase=phase)
    if zone and not some:
        raise CommandError(
            f"campaign {campaign} has no zone {zone!r}" + (" there" if wave or phase else ""),
            ExitCode.NOTHING,
            hint=f"list its zones: edgeshift report {campaign} --json",
        )
    narrowed = bool(zone or wave or phase)
    if as_json:
        shell.print_json(_json(known, rows, some, narrowed))
        return
    plain = not shell.console.encoding.lower().startswith("utf")
    shown = _narrow(some, campaign, zone, plain) if narrowed else _whole(known, rows, plain)
    _show(shell, shown, export_svg, f"edgeshift status {campaign}")


async def _one(shell: Shell, campaign: str) -> tuple[Known, list[ZoneRow]]:
    async with shell.temporal() as client:
        known = await known_campaign(client, campaign)
        if known.summary is None and not known.trouble:
            summary_of(known)
        return known, await zone_rows(client, shell.archive(), known)


async def _all(shell: Shell) -> list[CampaignLine]:
    async with shell.temporal() as client:
        found: list[WorkflowExecution] = []
        async for execution in campaigns(client):
            found.append(execution)
            if len(found) == MOST_CAMPAIGNS:
                break
        return await each(found, lambda item: _line(client, item))


async def _line(client: Client, execution: WorkflowExecution) -> CampaignLine:
    name = execution.id.removeprefix("campaign/")
    state = execution.status.name.lower() if execution.status else "unknown"
    line = CampaignLine(
        name=name, state=state, started_at=execution.start_time, closed_at=execution.close_time
    )
    known = await known_campaign(client, name)
    line.started_by, line.zones = known.start.started_by, known.start.count
    if known.summary is not None:
        line.state, line.started_at = known.summary.state, known.summary.started_at
        line.finished = finished(known.summary.places)
    return line


def _narrow(rows: Sequence[ZoneRow], campaign: str, zone: str, plain: bool) -> RenderableType:
    if zone:
        return zone_card(rows[0], campaign, plain=plain)
    if not rows:
        return Padding(Text("No zone is in that state."), (1, 2))
    parts: list[RenderableType] = [rows_table(rows[:MOST_ROWS], places=True)]
    if len(rows) > MOST_ROWS:
        parts.append(
            Text(f"… {counted(len(rows) - MOST_ROWS, 'more zone')}: --json, or report --csv", style="dim")
        )
    return Padding(Group(*parts), (1, 2))


def _whole(known: Known, rows: Sequence[ZoneRow], plain: bool) -> RenderableType:
    now = datetime.now(UTC)
    lists = Group(zone_lists(rows, known.start.name, plain=plain), _alarms(known, rows))
    if known.summary is None:
        return Group(Padding(Text(known.trouble, style="yellow"), (1, 2, 0, 2)), lists)
    seen = known.summary.now if known.closed else now
    progress = Pace().progress(known.summary, seen)
    return Group(
        campaign_view(known.summary, progress, now, plain=plain, most_waiting=MOST_FINGERPRINTS), lists
    )


def _codes(known: Known, rows: Sequence[ZoneRow]) -> list[str]:
    """The codes of the campaign's alarms, as far as what is shown here tells of them."""
    facts = Facts(now=datetime.now(UTC), campaigns=(campaign_fact(known, rows),))
    return [alarm.code for alarm in alarms_of(facts)]


def _alarms(known: Known, rows: Sequence[ZoneRow]) -> RenderableType:
    if not (codes := _codes(known, rows)):
        return Text()
    text = Text("alarms: ", style="bold").append(", ".join(codes), style="default")
    text.append(f"\nwhat to do: edgeshift alarms {known.start.name}, docs/runbook.md", style="dim")
    return Padding(text, (0, 2, 1, 2))


def _json(
    known: Known, rows: Sequence[ZoneRow], some: Sequence[ZoneRow], narrowed: bool
) -> dict[str, object]:
    zones = list(some) if narrowed else [row for found in listed(rows).values() for row in found]
    return {
        "campaign": known.start.name,
        "trouble": known.trouble,
        "summary": known.summary,
        "alarms": _codes(known, rows),
        "zones": zones[:MOST_IN_JSON],
        "zones_left_out": max(0, len(zones) - MOST_IN_JSON),
    }


def _show(shell: Shell, shown: RenderableType, export_svg: Path | None, title: str) -> None:
    # A card leaves long words whole: a path that is broken cannot be copied.
    shell.console.print(shown, soft_wrap=isinstance(shown, Card))
    if export_svg:
        save_picture(export_svg, shown, title)
