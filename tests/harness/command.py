"""The harness's commands: ``list``, ``play ID``, ``run``, ``keep`` and ``table``."""

from __future__ import annotations

import asyncio
import json as json_format
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from tests.harness.cases import Case
from tests.harness.families.every import all_cases, case_of
from tests.harness.running.figures import figures, missed, put_table, table
from tests.harness.running.kept import ROOT, Kept
from tests.harness.running.played import alone
from tests.harness.running.progress import Progress
from tests.harness.running.run import Run
from tests.harness.running.share import parse_share, stratified, time_of
from tests.harness.verdict import Verdict, added
from tests.kit.interrupted import heed_interrupts

FOLDER = Path("out/faults")
FIGURES = Path("out/faults.json")
MUTANTS = Path("out/mutants.json")
PAGE = ROOT / "docs" / "reliability.md"
VERDICTS = ROOT / "docs" / "reliability.jsonl"

BEGINS_FOR = 0.7
"""The part of a given time in which cases are begun; in the rest of it they end."""

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

Families = Annotated[list[str] | None, typer.Option("--family", help="Only this family; may be repeated.")]
Seed = Annotated[int, typer.Option(help="Which seeds, and which cases a share has.")]


@app.command("list")
def list_cases(family: Families = None, seed: Seed = 1) -> None:
    """Every case of the full run: its id and the zones that it plays."""
    for case in _of(family, seed):
        print(f"{case.id}  {case.zones}")


@app.command()
def play(
    ids: Annotated[list[str], typer.Argument(help="Cases, as `list` shows them; also other seeds.")],
    json: Annotated[Path | None, typer.Option(help="Write the verdict there.")] = None,
    keep: Annotated[Path, typer.Option(help="Where each case leaves its folder.")] = FOLDER / "played",
) -> None:
    """Play cases here and now, one after the other. Exit 1 on any complaint."""
    verdicts = asyncio.run(alone(_cases(ids), keep.absolute(), _tell))
    total = added(verdicts.values())
    if json is not None:
        json.parent.mkdir(parents=True, exist_ok=True)
        json.write_text(total.model_dump_json(indent=2) + "\n")
    sys.exit(1 if total.complaints else 0)


@app.command()
def run(
    share: Annotated[
        str, typer.Option(help="all, a part such as 0.05, or a time such as 5m or 300 (seconds).")
    ] = "all",
    seed: Seed = 1,
    family: Families = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, each with a Temporal server.")] = 2,
    zones: Annotated[int, typer.Option(min=1, help="Zones that each process plays at a time.")] = 120,
    fresh: Annotated[bool, typer.Option("--fresh", help="Play again what was played.")] = False,
) -> None:
    """Play all cases, or a share; those that were played on the same code are not played again.

    Exit 1 on any complaint, and where all is played and a goal missed. Ctrl-C leaves what was played.
    """
    began = time.monotonic()
    limit = _time_of(share)
    chosen = stratified(_of(family, seed), 1.0 if limit else _share(share), str(seed))
    kept = Kept(FOLDER, VERDICTS)
    verdicts = {} if fresh else {case: before for case in chosen if (before := kept.verdict(case.id))}
    print(
        f"{len(chosen)} cases of {len({case.family for case in chosen})} families, seed {seed},"
        f" {sum(case.zones for case in chosen):,} zone-schedules; {len(verdicts)} cases were played before"
    )
    due = [case for case in chosen if case not in verdicts]
    with Progress(sum(case.zones for case in due)) as progress:

        def told(case: Case, verdict: Verdict) -> None:
            verdicts[case] = verdict
            progress.ended(case, verdict)

        playing = Run(due, kept, told, jobs=jobs, most=zones)
        if limit:
            playing.until = began + BEGINS_FOR * limit.total_seconds()
        stopped = _until_stopped(playing)
    seconds = time.monotonic() - began
    whole = share == "all" and not family
    spent = kept.spent(seconds) if whole and not fresh else seconds
    found = figures(verdicts, seed=seed, share=share, seconds=spent, mutants=MUTANTS)
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json_format.dumps(found, indent=2) + "\n")
    print(table(found))
    for case, verdict in verdicts.items():
        for text in verdict.complaints:
            print(f"{case.id}: {text}\n  again: .venv/bin/python -m tests.harness play '{case.id}'")
    if playing.left:
        print(f"{len(playing.left)} cases were not begun")
    missing = missed(found) if whole and not playing.left else []
    for text in missing:
        print(f"missed: {text}")
    sys.exit(130 if stopped else 1 if found["complaints"] or missing else 0)


@app.command()
def keep(
    seed: Seed = 1, path: Annotated[Path, typer.Option(help="The file of verdicts.")] = VERDICTS
) -> None:
    """Put the verdicts on the code as it is that have no complaint into a file, from which a run goes on."""
    found = Kept(FOLDER, VERDICTS).to_bring(case.id for case in all_cases(seed))
    found.put(path)
    print(f"{len(found.verdicts)} verdicts: {path}")


@app.command("table")
def put(
    figures: Annotated[Path, typer.Option(help="The figures of a run.")] = FIGURES,
    page: Annotated[Path, typer.Option(help="The page.")] = PAGE,
) -> None:
    """Put the tables of a run into docs/reliability.md."""
    put_table(page, table(json_format.loads(figures.read_text())))


def _until_stopped(playing: Run) -> bool:
    """Whether Ctrl-C ended it."""
    try:
        asyncio.run(playing.play())
    except KeyboardInterrupt:
        return True
    return False


def _of(family: list[str] | None, seed: int) -> list[Case]:
    found = [case for case in all_cases(seed) if not family or case.family in family]
    if not found:
        known = ", ".join(dict.fromkeys(case.family for case in all_cases(seed)))
        raise typer.BadParameter(f"there is no family {' or '.join(family or [])}; there are {known}")
    return found


def _cases(ids: list[str]) -> list[Case]:
    try:
        return [case_of(identifier) for identifier in ids]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _time_of(share: str) -> timedelta | None:
    try:
        return time_of(share)
    except ValueError as error:
        raise typer.BadParameter(f"--share is {share!r}: {error}") from None


def _share(share: str) -> float:
    try:
        return parse_share(share, "--share")
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _tell(identifier: str, verdict: Verdict) -> None:
    print(_told(identifier, verdict), flush=True)


def _told(identifier: str, verdict: Verdict) -> str:
    head = (
        f"{identifier}: {verdict.zone_schedules} zone-schedules in {verdict.seconds:.0f} s,"
        f" {verdict.outcomes}, met {verdict.faults}, {verdict.unknown_resolved} of {verdict.unknown_met}"
        " unknown outcomes resolved without a person"
    )
    return "\n".join([head, *(f"  waits: {one}" for one in verdict.not_final), *verdict.complaints])


def main() -> int:
    """The command."""
    heed_interrupts()
    app()
    return 0
