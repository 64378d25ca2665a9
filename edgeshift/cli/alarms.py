"""``edgeshift alarms``: what needs a person now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from edgeshift.alarms import Alarm, Facts, Severity, alarms_of
from edgeshift.alarms.kinds import RANK
from edgeshift.cli import candidates
from edgeshift.cli.errors import ExitCode
from edgeshift.cli.options import checked_campaign
from edgeshift.cli.shell import current, run
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.counts import agreed, counted
from edgeshift.views.chosen import as_chosen
from edgeshift.views.widths import Command, Paragraph

STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.NOTICE: "magenta"}

FEW_NAMES = 8


def alarms(
    campaign: Annotated[
        str | None,
        typer.Argument(
            help="Only this campaign; none: all that run or have closed lately.",
            callback=checked_campaign,
            autocompletion=candidates.campaigns,
        ),
    ] = None,
    least: Annotated[
        Severity, typer.Option(help="Only alarms of this severity, and more severe ones.")
    ] = Severity.NOTICE,
    service: Annotated[
        bool, typer.Option("--service", help="Also check the service and each credential from here.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/output.md).")] = False,
) -> None:
    """List what needs a person now, each with what to look at and what to do. Exit 7 if there is anything."""
    from edgeshift.operations.proof import UNHEEDED, together
    from edgeshift.views.alarming import gather

    shell = current()
    shell.check_stack()

    async def look() -> tuple[Facts, list[str]]:
        facts = await gather(shell.settings, campaign, service=service, roots=shell.roots_file())
        known = [one for one in facts.campaigns if one.spec]
        notes = {one.name: await shell.note_of(one.name, one.spec, one.archive) for one in known}
        campaigns = tuple(
            one.model_copy(update={"heeded": notes.get(one.name) != UNHEEDED}) for one in facts.campaigns
        )
        told = [*together(notes), *_unchecked(facts)]
        return facts.model_copy(update={"campaigns": campaigns}), told

    facts, notes = run(look(), waiting="looking at every part")
    found = [_typed(alarm) for alarm in alarms_of(facts) if RANK[alarm.severity] <= RANK[least]]
    if as_json:
        left_out = {one.name: one.left_out for one in facts.campaigns if one.left_out > 0}
        shell.print_json({"alarms": found, "left_out": left_out, "note": "\n".join(notes)})
    else:
        for alarm in found:
            # Whoever reads it line by line, in a pipe, gets each line whole.
            shown = paragraphs(alarm) if shell.console.is_terminal else alarm_text(alarm)
            shell.console.print(shown, soft_wrap=True)
        shell.console.print(
            f"{counted(len(found), 'alarm')}; docs/runbook.md has each by its code" if found else "no alarms"
        )
        shell.say_note(*_left_out(facts), *notes)
    if found:
        raise typer.Exit(ExitCode.ALARMS)


def _left_out(facts: Facts) -> Iterator[str]:
    """How many open zones of each campaign were not asked, and what is not known of them."""
    for one in facts.campaigns:
        if one.left_out > 0:
            zones, were = counted(one.left_out, "open zone"), agreed(one.left_out, "was", "were")
            yield (
                f"{zones} of campaign {one.name} {were} not asked: whether any is stuck, or its sign-off"
                " expires soon, is not known here"
            )


def _unchecked(facts: Facts) -> Iterator[str]:
    """Of which campaigns the service was to be checked, and was not; of others, where tickets were not."""
    skipped = [one for one in facts.checks if one.campaign and one.state == "skipped"]
    service = {one.campaign for one in skipped if one.code is CheckCode.SERVICE}
    for one in skipped:
        if one.code is CheckCode.SERVICE:
            yield f"the service of campaign {one.campaign} was not checked: {one.text}"
        elif one.code is CheckCode.TICKETS and one.campaign not in service:
            yield f"the tickets of campaign {one.campaign} were not checked: {one.text}"


def _typed(alarm: Alarm) -> Alarm:
    """The alarm with commands as they are to be typed after this call."""
    commands = {"look_at": alarm.look_at, "do": alarm.do}
    return alarm.model_copy(update={field: tuple(map(as_chosen, some)) for field, some in commands.items()})


def alarm_text(alarm: Alarm) -> Text:
    """One alarm, on a few lines."""
    text = _head(alarm)
    for words in _words(alarm):
        text.append(f"\n  {words}")
    for title, command in _commands(alarm):
        text.append(f"\n  {title}: ", style="dim").append(command)
    return text.append("\n")


def paragraphs(alarm: Alarm) -> RenderableType:
    """One alarm for a terminal of any width: neither a name nor a command is broken."""
    parts: list[RenderableType] = [_head(alarm)]
    parts += [Paragraph(Text("  "), words, hang=2) for words in _words(alarm)]
    parts += [
        Command(Text(f"  {title}: ", style="dim"), command, hang=4) for title, command in _commands(alarm)
    ]
    return Group(*parts, Text())


def _head(alarm: Alarm) -> Text:
    text = Text.assemble((f"{alarm.severity.value:<9}", STYLES[alarm.severity]), (alarm.code, "bold"))
    return text.append(f"  {alarm.campaign}", style="dim") if alarm.campaign else text


def _words(alarm: Alarm) -> Iterator[str]:
    yield alarm.what
    if alarm.text:
        yield alarm.text
    if alarm.zones:
        more = f" and {alarm.count - FEW_NAMES} more" if alarm.count > FEW_NAMES else ""
        yield f"{counted(alarm.count, 'zone')}: {', '.join(alarm.zones[:FEW_NAMES])}{more}"


def _commands(alarm: Alarm) -> Iterator[tuple[str, str]]:
    for title, commands in (("look at", alarm.look_at), ("do", alarm.do)):
        for command in commands:
            yield title, command
