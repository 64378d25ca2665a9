"""The harness's commands: ``list``, ``play ID`` and ``run``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from tests.harness.cases import Case
from tests.harness.families import all_cases, case_of
from tests.harness.played import alone
from tests.harness.verdict import Verdict, added

PLAYED = Path("out/faults/played")

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.command("list")
def list_cases(
    family: Annotated[list[str] | None, typer.Option(help="Only this family; may be repeated.")] = None,
) -> None:
    """Every case of the full run: its id and the zones that it plays."""
    for case in all_cases():
        if not family or case.family in family:
            print(f"{case.id}  {case.zones}")


@app.command()
def play(
    ids: Annotated[list[str], typer.Argument(help="Cases, as `list` shows them; also other seeds.")],
    json: Annotated[Path | None, typer.Option(help="Write the verdict there.")] = None,
    keep: Annotated[Path, typer.Option(help="Where each case leaves its folder.")] = Path(
        "out/faults/played"
    ),
) -> None:
    """Play cases here and now, one after the other. Exit 1 on any complaint."""
    verdicts = asyncio.run(alone(_cases(ids), keep.absolute()))
    total = added(verdicts.values())
    if json is not None:
        json.parent.mkdir(parents=True, exist_ok=True)
        json.write_text(total.model_dump_json(indent=2) + "\n")
    for identifier, verdict in verdicts.items():
        print(_told(identifier, verdict))
    sys.exit(1 if total.complaints else 0)


def _cases(ids: list[str]) -> list[Case]:
    try:
        return [case_of(identifier) for identifier in ids]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _told(identifier: str, verdict: Verdict) -> str:
    head = (
        f"{identifier}: {verdict.zone_schedules} zone-schedules in {verdict.seconds:.0f} s,"
        f" {verdict.outcomes}, met {verdict.faults}, {verdict.unknown_resolved} of {verdict.unknown_met}"
        " unknown outcomes resolved without a person"
    )
    return "\n".join([head, *(f"  waits: {one}" for one in verdict.not_final), *verdict.complaints])


def main() -> int:
    """The command."""
    app()
    return 0
