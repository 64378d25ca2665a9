"""``edgeshift demo``: a whole campaign over a generated fleet, here and now."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.shell import current, run


def demo(
    zones: Annotated[int, typer.Option(min=60, max=2000, help="Zones of the fleet.")] = 120,
    seed: Annotated[int, typer.Option(help="The seed of the fleet and of its faults.")] = 1,
    out: Annotated[Path, typer.Option(help="Where the report and demo.json go.")] = Path("out"),
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the stack's state, to look at it later.")
    ] = False,
) -> None:
    """Run a whole campaign on an embedded stack; check every rule by its witness. Exit 1 if one is broken."""
    from edgeshift.demo.main import run_demo
    from edgeshift.stack import StackError

    try:
        held = run(run_demo(current().console, zones=zones, seed=seed, out=out, keep=keep))
    except StackError as problem:
        first, *rest = str(problem).splitlines()
        raise CommandError(first, ExitCode.FAILED, details=tuple(rest)) from None
    if not held:
        raise typer.Exit(ExitCode.FAILED)
