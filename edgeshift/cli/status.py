"""``edgeshift status``: a campaign as it stands, or all campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from temporalio.client import Client, WorkflowExecution

from edgeshift.alarms import Facts, alarms_of
from edgeshift.cli import candidates
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import OnlyWave, OnlyZone, checked_campaign, checked_duration
from edgeshift.cli.picture import save_picture
from edgeshift.cli.shell import Shell, current, run
from edgeshift.cli.until import Until, wait_until
from edgeshift.model.campaign_phase import SIGNABLE
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Area, campaign_name
from edgeshift.operations.archives import campaign_here
from edgeshift.operations.errors import NotFound, TemporalTrouble, Unreadable
from edgeshift.operations.proof import UNHEEDED, together
from edgeshift.operations.zones import check_wave, near_zone
from edgeshift.stores.archive import ArchiveError, ArchiveUnavailable
from edgeshift.views.alarming import campaign_fact
from edgeshift.views.chosen import as_chosen
from edgeshift.views.figures import Pace
from edgeshift.views.finding import campaigns
from edgeshift.views.gathering import Known, each, known_campaign, summary_of, zone_rows
from edgeshift.views.lists import CampaignLine, campaigns_table, rows_table, zone_card, zone_lists
from edgeshift.views.live import campaign_view
from edgeshift.views.rows import ZoneRow, chosen, is_phase, listed, near_phase
from edgeshift.views.waves import summary_data
from edgeshift.views.widths import Card
from edgeshift.views.words import finished

MOST_CAMPAIGNS = 50
MOST_UNREAD = 5
MOST_FINGERPRINTS = 50
MOST_ROWS = 200
MOST_IN_JSON = 1_000


def status(
    campaign: Annotated[
        str | None,
        typer.Argument(
            help="The campaign's name; none: list all.",
            callback=checked_campaign,
            autocompletion=candidates.campaigns,
        ),
    ] = None,
    zone: OnlyZone = "",
    wave: OnlyWave = None,
    phase: Annotated[
        str,
        typer.Option(
            help="Only zones there, such as failed.", show_default=False, autocompletion=candidates.phases
        ),
    ] = "",
    until: Annotated[
        Until | None, typer.Option(help="Wait until the campaign is that.", show_default=False)
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How long --until waits at most.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/output.md).")] = False,
    export_svg: Annotated[Path | None, typer.Option("--export-svg", hidden=True)] = None,
) -> None:
    """Show a campaign, with the zones that wait, failed or need somebody by name; or list all campaigns."""
    shell = current()
    if campaign is None:
        _check_timeout("CAMPAIGN", until, timeout)
        if zone or wave or phase or until:
            raise CommandError(
                "--until needs a campaign" if until else "--zone, --wave and --phase need a campaign",
                ExitCode.BAD_INPUT,
                hint=f"edgeshift status CAMPAIGN {'--until ' + until if until else '--zone ZONE'};"
                " `edgeshift status` lists the campaigns",
            )
        lines, unread, left_out = run(_all(shell), waiting="asking Temporal for its campaigns")
        _tell_unread(shell, unread)
        if left_out:
            said = f"and {counted(left_out, 'more campaign')}, begun earlier: "
            said += as_chosen("`edgeshift status CAMPAIGN`")
            shell.errors.print(said, markup=False, soft_wrap=True)
        if as_json:
            shell.print_json({"campaigns": lines, "left_out": left_out})
        else:
            _show(shell, campaigns_table(lines), export_svg, "edgeshift status")
            shell.say_note(*together({line.name: line.note for line in lines}))
        return
    _check_phase(phase)
    _check_timeout(campaign, until, timeout)
    if until is not None:
        run(_wait(shell, campaign, until, checked_duration("--timeout", timeout) if timeout else None))
    narrowed = bool(zone or wave or phase)
    asking = f"asking for campaign {campaign}"
    known, rows, note, unnamed = run(_one(shell, campaign, named=narrowed), waiting=asking)
    _check_phase(phase, known.start.area)
    if wave is not None:
        check_wave(campaign, wave - 1, len(known.start.waves))
    some = chosen(rows, zone=zone, wave=wave - 1 if wave else None, phase=phase)
    if zone and not some:
        raise _no_zone(campaign, zone, rows, there=bool(wave or phase))
    if as_json:
        shell.print_json({**_json(known, rows, some, narrowed), "note": note, "unreadable": unnamed})
        _tell_unnamed(shell, unnamed)
        return
    plain = not shell.console.encoding.lower().startswith("utf")
    shown: RenderableType
    if zone:
        shown = Group(*_cards(known, rows, some, plain, note))
    else:
        shown = _narrow(some) if narrowed else _whole(known, rows, note, plain)
    _show(shell, shown, export_svg, f"edgeshift status {campaign}", cards=bool(zone))
    _tell_unnamed(shell, unnamed)


def _check_timeout(campaign: str, until: Until | None, timeout: str | None) -> None:
    if timeout and not until:
        raise CommandError(
            "--timeout needs --until",
            ExitCode.BAD_INPUT,
            hint=f"edgeshift status {campaign} --until finished --timeout {timeout}",
        )


def _check_phase(phase: str, area: Area | None = None) -> None:
    if phase and not is_phase(phase, area):
        near = near_phase(phase, area)
        raise CommandError(
            f"--phase {phase!r} is not a phase or an outcome",
            ExitCode.BAD_INPUT,
            hint=f"did you mean {near}?" if near else "docs/output.md lists them, such as awaiting or failed",
        )


def _no_zone(campaign: str, zone: str, rows: Sequence[ZoneRow], *, there: bool) -> CommandError:
    names = [row.name for row in rows]
    if there and chosen(rows, zone=zone):
        text = f"zone {zone} of campaign {campaign} is not in that wave or phase"
        hint = f"see where it is: edgeshift status {campaign} --zone {quote(zone)}"
    else:
        near = near_zone(zone, names)
        text = f"campaign {campaign} has no zone {zone!r}"
        hint = f"did you mean {near}?" if near else f"list its zones: edgeshift report {campaign} --json"
    return CommandError(text, ExitCode.NOTHING, hint=hint)


async def _one(shell: Shell, campaign: str, *, named: bool) -> tuple[Known, list[ZoneRow], str, str]:
    """What is known of a campaign, its zones, what holds for all of it, and why no zone is named, where the
    archive cannot be read. ``named``: some zones are asked for, and nothing is shown without them.
    """
    async with shell.temporal() as client:
        known = await known_campaign(client, campaign)
        if known.summary is None and not known.trouble:
            summary_of(known)
        note = await shell.note_of(campaign, known.start.spec)
        try:
            return known, await zone_rows(client, shell.archive(), known), note, ""
        except ArchiveError as why:
            if named or known.summary is None:
                raise
            return known, [], note, str(why)


def _tell_unnamed(shell: Shell, why: str) -> None:
    """Say what is missing where the archive could not be read, and end with 1."""
    if why:
        said = f"the archive cannot be read, so zones and their alarms are not listed: {why}"
        shell.errors.print(said, markup=False, soft_wrap=True)
        shell.errors.print(as_chosen("`edgeshift doctor` checks it"), markup=False, soft_wrap=True)
        raise typer.Exit(ExitCode.FAILED)


async def _wait(shell: Shell, campaign: str, until: Until, within: timedelta | None) -> None:
    async with shell.temporal() as client:
        # With another archive nothing would be shown in the end; where this one or Temporal is away for now,
        # that is waited for as well.
        with suppress(TemporalTrouble, ArchiveUnavailable):
            await campaign_here(client, shell.archive(), campaign)
        said = shell.at_ctrl_c
        await wait_until(shell, client, campaign, until, within)
        # It may have finished.
        shell.at_ctrl_c = said


async def _all(shell: Shell) -> tuple[list[CampaignLine], list[str], int]:
    """A line for each of the newest campaigns, the names of those that cannot be read, and how many there are
    beyond, which nobody has looked at.
    """
    lines: list[CampaignLine] = []
    unread: list[str] = []
    left_out = 0
    async with shell.temporal() as client:

        async def read(some: list[WorkflowExecution]) -> None:
            for execution, line in zip(
                some, await each(some, lambda item: _line(shell, client, item)), strict=True
            ):
                if line is None:
                    unread.append(execution.id)
                else:
                    lines.append(line)

        found: list[WorkflowExecution] = []
        async for execution in campaigns(client):
            if len(lines) == MOST_CAMPAIGNS:
                left_out += 1
                continue
            found.append(execution)
            # What cannot be read takes no campaign's place in the list.
            if len(lines) + len(found) == MOST_CAMPAIGNS:
                await read(found)
                found = []
        await read(found)
    return lines, unread, left_out


def _tell_unread(shell: Shell, unread: Sequence[str]) -> None:
    if unread:
        named = ", ".join(unread[:MOST_UNREAD])
        more = f" and {len(unread) - MOST_UNREAD:,} more" if len(unread) > MOST_UNREAD else ""
        many = counted(len(unread), "execution")
        said = f"{many} that cannot be read (of another version, or not edgeshift's): {named}{more}"
        shell.errors.print(said, markup=False, soft_wrap=True)


async def _line(shell: Shell, client: Client, execution: WorkflowExecution) -> CampaignLine | None:
    """Of one campaign; None where it cannot be read, or is gone meanwhile."""
    name = campaign_name(execution.id)
    state = execution.status.name.lower() if execution.status else "unknown"
    line = CampaignLine(
        name=name, state=state, started_at=execution.start_time, closed_at=execution.close_time
    )
    try:
        known = await known_campaign(client, name)
    except (NotFound, Unreadable):
        return None
    line.started_by, line.zones = known.start.started_by, known.start.count
    line.note = await shell.note_of(name, known.start.spec, known.start.archive)
    if known.summary is not None:
        line.state, line.started_at = known.summary.state, known.summary.started_at
        line.finished = finished(known.summary.places)
    return line


def _cards(
    known: Known, rows: Sequence[ZoneRow], some: Sequence[ZoneRow], plain: bool, note: str = ""
) -> list[Card]:
    """A card for each zone that was named: several accounts may each have one of that name."""
    signable = known.summary is not None and known.summary.state in SIGNABLE and note != UNHEEDED
    return [
        zone_card(
            row,
            known.start.name,
            plain=plain,
            signable=signable,
            typed="" if len(chosen(rows, zone=row.name)) == 1 else row.id,
        )
        for row in some
    ]


def _narrow(rows: Sequence[ZoneRow]) -> RenderableType:
    if not rows:
        return Padding(Text("No zone is in that state."), (1, 2))
    parts: list[RenderableType] = [rows_table(rows[:MOST_ROWS], places=True)]
    if len(rows) > MOST_ROWS:
        parts.append(
            Text(f"… {counted(len(rows) - MOST_ROWS, 'more zone')}: --json, or report --csv", style="dim")
        )
    return Padding(Group(*parts), (1, 2))


def _whole(known: Known, rows: Sequence[ZoneRow], note: str, plain: bool) -> RenderableType:
    now = datetime.now(UTC)
    lists = Group(zone_lists(rows, known.start.name, plain=plain), _alarms(known, rows))
    if known.summary is None:
        return Group(Padding(Text(known.trouble, style="yellow"), (1, 2, 0, 2)), lists)
    seen = known.summary.now if known.closed else now
    progress = Pace().progress(known.summary, seen)
    return Group(
        campaign_view(
            known.summary,
            progress,
            now,
            plain=plain,
            note=note,
            most_waiting=MOST_FINGERPRINTS,
            names={row.index: row.name for row in rows},
        ),
        lists,
    )


def _codes(known: Known, rows: Sequence[ZoneRow]) -> list[str]:
    """The codes of the campaign's alarms, as far as what is shown here tells of them."""
    facts = Facts(now=datetime.now(UTC), campaigns=(campaign_fact(known, rows),))
    return [alarm.code for alarm in alarms_of(facts)]


def _alarms(known: Known, rows: Sequence[ZoneRow]) -> RenderableType:
    if not (codes := _codes(known, rows)):
        return Text()
    text = Text("alarms: ", style="bold").append(", ".join(codes), style="default")
    text.append(as_chosen(f"\nwhat to do: edgeshift alarms {known.start.name}, docs/runbook.md"), style="dim")
    return Padding(text, (0, 2, 1, 2))


def _json(
    known: Known, rows: Sequence[ZoneRow], some: Sequence[ZoneRow], narrowed: bool
) -> dict[str, object]:
    zones = list(some) if narrowed else [row for found in listed(rows).values() for row in found]
    return {
        "campaign": known.start.name,
        "trouble": known.trouble,
        "summary": summary_data(known.summary),
        "alarms": _codes(known, rows),
        "zones": zones[:MOST_IN_JSON],
        "zones_left_out": max(0, len(zones) - MOST_IN_JSON),
    }


def _show(
    shell: Shell, shown: RenderableType, export_svg: Path | None, title: str, *, cards: bool = False
) -> None:
    # A card leaves long words whole: a path that is broken cannot be copied.
    shell.console.print(shown, soft_wrap=cards)
    if export_svg:
        save_picture(export_svg, shown, title)
