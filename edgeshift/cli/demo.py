"""``edgeshift demo``: a whole campaign over a generated fleet, here and now."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgeshift.areas import AREAS
from edgeshift.cli.errors import ExitCode
from edgeshift.cli.options import AsJson, checked_folder
from edgeshift.cli.shell import current, run
from edgeshift.model.fleet import DEFAULT_AREA

ALL = "all"
"""In place of one area's name: every demo, one after the other."""

CHOICES = [*(area.value for area, definition in AREAS.items() if "demo" in definition.parts), ALL]


def _known(name: str) -> str:
    if name not in CHOICES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, CHOICES))}.")
    return name


def demo(
    area: Annotated[
        str,
        typer.Option(
            help="What the campaigns change; all: one after the other.",
            metavar=f"<{'|'.join(CHOICES)}>",
            callback=_known,
            autocompletion=lambda: CHOICES,
        ),
    ] = DEFAULT_AREA.value,
    zones: Annotated[
        int | None,
        typer.Option(min=60, max=2000, help="Zones of the fleet; 120 of waf and 60 of others if absent."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the fleet and of its faults.")] = 1,
    out: Annotated[Path, typer.Option(help="Where the reports and results go.")] = Path("out"),
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the stack's state, to look at it later.")
    ] = False,
    ui: Annotated[
        bool, typer.Option("--ui", help="Serve Temporal's web pages meanwhile, on loopback.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a whole campaign on an embedded stack; check all twelve rules. Exit 1 if one is broken."""
    from edgeshift.testbed.demo.main import run_demo
    from edgeshift.testbed.demo.parts import PARTS

    chosen = [part for part in PARTS.values() if area in (part.area.value, ALL)]
    shell = current()
    checked_folder("--out", out)
    held: dict[str, bool] = {}
    for part in chosen:
        held[part.area.value] = run(
            run_demo(shell.console, part, zones=zones, seed=seed, out=out, keep=keep, ui=ui)
        )
    if as_json:
        results = {part.area.value: str(out / part.result) for part in chosen}
        areas = [{"area": area, "held": good, "result": results[area]} for area, good in held.items()]
        shell.print_json({"held": all(held.values()), "areas": areas})
    if not all(held.values()):
        raise typer.Exit(ExitCode.FAILED)
