"""``edgeshift doctor``: check everything that a campaign stands on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from edgeshift.cli.errors import ExitCode
from edgeshift.cli.shell import current, run
from edgeshift.views.chosen import as_chosen
from edgeshift.views.widths import Paragraph

if TYPE_CHECKING:
    from edgeshift.doctor.check import Check

STYLES = {"ok": "green", "warning": "yellow", "failed": "bold red", "skipped": "dim"}


def doctor(
    file: Annotated[
        Path | None, typer.Argument(help="A campaign file: its service, credentials and tickets too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/cli.md).")] = False,
) -> None:
    """Check Temporal, worker, archive, tickets; with a campaign file the service and each credential.
    Exit 1 if one failed.
    """
    from dataclasses import asdict, replace

    from edgeshift.campaign_file.load import load_campaign
    from edgeshift.doctor.check import State
    from edgeshift.doctor.checks import check_all

    shell = current()
    spec = load_campaign(file) if file else None
    shell.check_stack()
    settings = shell.settings
    found = run(check_all(settings, spec), waiting="checking every part")
    checks = [replace(check, fix=as_chosen(check.fix)) for check in found]
    failed = [check for check in checks if check.state is State.FAILED]
    if as_json:
        shell.print_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        told = [line for check in checks for line in lines_of(check)]
        if spec is not None:
            from edgeshift.cli.approvers import warnings_here

            # Whose word counts is said above, of the workers' own roots.
            told += [
                (Text.assemble(("warning ", "yellow"), "campaign file: "), warning)
                for warning in warnings_here(shell, spec, signed=True)
            ]
        for lead, words in told:
            # Whoever reads it line by line, in a pipe, gets each line whole.
            whole = lead + Text(words)
            shown = Paragraph(lead, words, hang=9) if shell.console.is_terminal else whole
            shell.console.print(shown, soft_wrap=True)
        shell.console.print(f"{len(failed)} of {len(checks)} failed" if failed else "no check failed")
    if failed:
        raise typer.Exit(ExitCode.FAILED)


def lines_of(check: Check) -> list[tuple[Text, str]]:
    """What is printed of a check: what stands before, and the words."""
    mark = Text(f"{check.state.value:<8}", style=STYLES[check.state.value])
    lines = [(Text.assemble(mark, (check.name, "bold"), ": "), check.text)]
    return [*lines, (Text("         fix: "), check.fix)] if check.fix else lines
