"""``edgeshift doctor``: check everything that a campaign stands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from edgeshift.cli.errors import ExitCode
from edgeshift.cli.shell import current, run

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
    from dataclasses import asdict

    from edgeshift.campaign_file.load import load_campaign
    from edgeshift.doctor.check import State
    from edgeshift.doctor.checks import check_all

    shell = current()
    spec = load_campaign(file) if file else None
    settings = shell.settings
    checks = run(check_all(settings, spec))
    failed = [check for check in checks if check.state is State.FAILED]
    if as_json:
        shell.print_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            mark = Text(f"{check.state.value:<8}", style=STYLES[check.state.value])
            shell.console.print(Text.assemble(mark, (check.name, "bold"), f": {check.text}"), soft_wrap=True)
            if check.fix:
                shell.console.print(Text(f"         fix: {check.fix}"), soft_wrap=True)
        if spec is not None:
            from edgeshift.campaign_file.warnings import warnings

            for warning in warnings(spec):
                shell.console.print(
                    Text.assemble(("warning ", "yellow"), f"campaign file: {warning}"), soft_wrap=True
                )
        shell.console.print(f"{len(failed)} of {len(checks)} failed" if failed else "no check failed")
    if failed:
        raise typer.Exit(ExitCode.FAILED)
