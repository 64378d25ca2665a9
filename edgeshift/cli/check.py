"""``edgeshift check``: whether a changed zone is as it was signed, and whether campaigns tell what is so."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from edgeshift.cli import candidates
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import campaign_option
from edgeshift.cli.shell import Shell, current, run
from edgeshift.messages import Comparison, wrong_text
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Area
from edgeshift.views.checking import ZoneCheck, check_zone
from edgeshift.views.comparing import CampaignCheck, check_campaign
from edgeshift.views.words import moment, short


def check(
    zone: Annotated[
        str,
        typer.Argument(
            metavar="ZONE|CAMPAIGN",
            help="The zone's name or identifier; with --all, a campaign.",
            autocompletion=candidates.zones,
        ),
    ],
    campaign: Annotated[
        str | None,
        campaign_option("Against what this campaign did."),
    ] = None,
    area: Annotated[
        Area | None, typer.Option(help="In this area; needed where there are several.", show_default=False)
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Every outcome that a campaign tells, against what workers signed and the service."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/output.md).")] = False,
) -> None:
    """Read a migrated zone at the service, and say whether it still is as it was signed; with --all, whether
    each outcome is so that a campaign tells. Changes nothing.
    """
    shell = current()
    if everything:
        if campaign is not None or area is not None:
            raise CommandError(
                "--all takes a campaign, and neither --campaign nor --area",
                ExitCode.BAD_INPUT,
                hint=f"edgeshift check {campaign or 'CAMPAIGN'} --all",
            )
        _check_all(shell, zone, as_json)
        return

    async def ask() -> tuple[ZoneCheck, str]:
        async with shell.temporal() as client:
            told = await check_zone(client, shell.archive(), zone, campaign, area, shell.roots_file())
            return told, await shell.note_for(client, told.campaign)

    told, note = run(ask(), waiting=f"reading {zone}")
    if as_json:
        found = told.found.model_dump(mode="json")
        shell.print_json({**told.model_dump(mode="json", exclude={"found"}), **found, "note": note})
    else:
        _show(shell, told)
        shell.say_note(note)
    if not told.found.same:
        raise typer.Exit(ExitCode.FAILED)


def _check_all(shell: Shell, campaign: str, as_json: bool) -> None:
    async def ask() -> tuple[CampaignCheck, str]:
        async with shell.temporal() as client:
            told = await check_campaign(client, shell.archive(), campaign, shell.roots_file())
            return told, await shell.note_for(client, campaign)

    told, note = run(ask(), waiting=f"reading every zone of {campaign} that was changed")
    if as_json:
        shell.print_json({**told.model_dump(mode="json"), "note": note})
    else:
        shell.say_note(note)
        compared = Comparison(
            outcomes=told.outcomes - told.unnamed,
            read=told.read,
            unread=told.unread - told.unnamed,
            wrong=len(told.wrong),
        )
        style = "bold red" if told.wrong or told.unread else ""
        shell.console.print(Text(compared.text_for(signed=told.signed), style=style), soft_wrap=True)
        if told.unnamed:
            could = f"{counted(told.unnamed, 'outcome')} could not be compared"
            shell.console.print(Text(could, style=style), soft_wrap=True)
        for why, number in told.unread_for.items():
            shell.console.print(Text(f"  {counted(number, 'zone')}: {why}"), soft_wrap=True)
        for one in told.wrong:
            shell.console.print(Text(f"  {wrong_text(one)}"), soft_wrap=True)
    if told.wrong or told.unread:
        raise typer.Exit(ExitCode.FAILED)


def _show(shell: Shell, told: ZoneCheck) -> None:
    def say(text: str, style: str = "") -> None:
        shell.console.print(Text(text, style=style), soft_wrap=True)

    found = told.found
    signed = f"campaign {told.campaign}, digest {short(found.digest)}"
    if told.changed_at:
        signed += f", {moment(told.changed_at)}"
    if found.same:
        say(f"{told.name} is as signed ({signed}); {found.current}")
    else:
        say(f"{told.name} is not as signed ({signed}); {found.current or 'nothing is there'}", "bold red")
    for effect in found.effects:
        say(f"  {effect}")
    if found.differences:
        say("by rule, as signed → now:")
        for line in found.differences:
            say(f"  {line}")
    for note in found.notes:
        say(f"to know: {note}", "yellow")
