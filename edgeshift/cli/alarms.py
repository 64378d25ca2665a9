"""``edgeshift alarms``: what needs a person now."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from edgeshift.alarms import Alarm, Severity, alarms_of
from edgeshift.alarms.kinds import RANK
from edgeshift.cli.errors import ExitCode
from edgeshift.cli.shell import current, run
from edgeshift.model.counts import counted

STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.NOTICE: "magenta"}

FEW_NAMES = 8


def alarms(
    campaign: Annotated[
        str | None, typer.Argument(help="Only this campaign; none: all that run or have closed lately.")
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
    from edgeshift.views.alarming import gather

    shell = current()
    facts = run(gather(shell.settings, campaign, service=service))
    found = [alarm for alarm in alarms_of(facts) if RANK[alarm.severity] <= RANK[least]]
    if as_json:
        shell.print_json({"alarms": found})
    else:
        for alarm in found:
            shell.console.print(told(alarm), soft_wrap=True)
        shell.console.print(
            f"{counted(len(found), 'alarm')}; docs/runbook.md has each by its code" if found else "no alarms"
        )
    if found:
        raise typer.Exit(ExitCode.ALARMS)


def told(alarm: Alarm) -> Text:
    """One alarm, on a few lines."""
    text = Text.assemble((f"{alarm.severity.value:<9}", STYLES[alarm.severity]), (alarm.code, "bold"))
    if alarm.campaign:
        text.append(f"  {alarm.campaign}", style="dim")
    text.append(f"\n  {alarm.what}")
    if alarm.text:
        text.append(f"\n  {alarm.text}")
    if alarm.zones:
        more = f" and {alarm.count - FEW_NAMES} more" if alarm.count > FEW_NAMES else ""
        text.append(f"\n  {counted(alarm.count, 'zone')}: {', '.join(alarm.zones[:FEW_NAMES])}{more}")
    for title, commands in (("look at", alarm.look_at), ("do", alarm.do)):
        for command in commands:
            text.append(f"\n  {title}: ", style="dim").append(command)
    return text.append("\n")
