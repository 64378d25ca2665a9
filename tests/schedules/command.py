"""``run``: play the schedules of many seeds, several at a time, and say what came of their histories."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from tests.harness.cases import Case
from tests.harness.running.kept import Kept
from tests.harness.running.progress import Progress
from tests.harness.running.run import Run
from tests.harness.verdict import Verdict
from tests.kit.interrupted import heed_interrupts
from tests.schedules.play import Record, case, record_of

FOLDER = Path("out/schedules")
FIGURES = Path("out/schedules.json")
EACH = 10_000
"""Seeds of one seed of the run: 10000, 10001, … are those of 1."""

LOST = ("Namespace default is not found", "shard status unknown")
"""What a Temporal server says that has lost its database in memory, as it does on an overloaded machine: such
schedules do not count as played, and no more are begun.
"""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def _several() -> None:
    """Seeded schedules of kills, freezes, overload, queries, updates and signals; every history replayed."""


@app.command()
def run(
    count: Annotated[int, typer.Option(min=1, help="How many schedules.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Which ones.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, each with a Temporal server.")] = 2,
    zones: Annotated[int, typer.Option(min=1, help="Zones that each process plays at a time.")] = 16,
    plain: Annotated[
        bool, typer.Option("--plain", help="With workers as the SDK has them, which histories are to show.")
    ] = False,
    minutes: Annotated[float, typer.Option(help="Begin nothing after so many minutes; 0: no limit.")] = 0,
) -> None:
    """Play them, write out/schedules.json and print a table. Exit 1 on any complaint."""
    began = time.monotonic()
    kept = Kept(FOLDER)
    cases = [case(seed * EACH + place, plain=plain) for place in range(count)]
    for one in cases:
        record_of(kept.folder_of(one.id)).unlink(missing_ok=True)
    (kept.folder / "played").mkdir(parents=True, exist_ok=True)
    verdicts: dict[Case, Verdict] = {}
    with Progress(sum(one.zones for one in cases)) as progress:

        def told(one: Case, verdict: Verdict) -> None:
            progress.ended(one, verdict)
            if any(words in text for text in verdict.complaints for words in LOST):
                # Every other schedule of that process fails alike, and none says anything of edgeshift.
                playing.until = 0
            else:
                verdicts[one] = verdict

        playing = Run(cases, kept, told, jobs=jobs, most=zones)
        if minutes:
            playing.until = began + 60 * minutes
        stopped = False
        try:
            asyncio.run(playing.play())
        except KeyboardInterrupt:
            stopped = True
    records = [
        Record.model_validate_json(path.read_bytes())
        for one in verdicts
        if (path := record_of(kept.folder_of(one.id))).exists()
    ]
    found = figures(records, verdicts, asked=count, seed=seed, plain=plain, seconds=time.monotonic() - began)
    FIGURES.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))
    sys.exit(130 if stopped else 1 if found["complaints"] else 0)


def figures(
    records: list[Record],
    verdicts: dict[Case, Verdict],
    *,
    asked: int,
    seed: int,
    plain: bool,
    seconds: float,
) -> dict[str, Any]:
    """All of it, as JSON has it. ``seconds``: of the whole run."""
    runs, done = Counter[str](), Counter[str]()
    for one in records:
        runs.update(one.replayed.runs)
        done.update(one.done)
    return {
        "asked": asked,
        "played": len(verdicts),
        "seed": seed,
        "plain": plain,
        "seconds": round(seconds, 1),
        "runs_replayed": sum(runs.values()),
        "runs_by_type": dict(sorted(runs.items())),
        "events": sum(one.replayed.events for one in records),
        "done": dict(sorted(done.items())),
        "divergences": [
            {"seed": one.seed, **found.model_dump()} for one in records for found in one.replayed.divergences
        ],
        "stuck": {str(one.seed): one.stuck for one in records if one.stuck},
        "complaints": {
            one.id: list(verdict.complaints) for one, verdict in verdicts.items() if verdict.complaints
        },
        "schedules": [one.model_dump() for one in sorted(records, key=lambda one: one.seed)],
    }


def table(found: dict[str, Any]) -> str:
    """What people are to see of it."""
    rows = [
        ("schedules played", f"{found['played']} of {found['asked']}, in {found['seconds']:,.0f} s"),
        ("histories replayed", f"{found['runs_replayed']:,}, of {found['events']:,} events"),
        *((f"  {kind}", f"{number:,}") for kind, number in found["runs_by_type"].items()),
        *((f"  {kind}", f"{number:,}") for kind, number in found["done"].items()),
        ("seen to be stuck", ", ".join(found["stuck"]) or "none"),
        ("schedules with a complaint", ", ".join(found["complaints"]) or "none"),
        ("divergences", str(len(found["divergences"]))),
    ]
    lines = [f"{name:<32} {value}" for name, value in rows]
    for one in found["divergences"]:
        how = (
            "raised as an alarm"
            if one["alarmed"]
            else "closed all the same"
            if one["closed"]
            else "unnoticed"
        )
        lines.append(f"  seed {one['seed']}: {one['workflow']} ({how}): {one['why']}")
    for identifier, texts in found["complaints"].items():
        lines += [f"{identifier}: {text}" for text in texts]
        lines.append(f"  again: .venv/bin/python -m tests.harness play '{identifier}'")
    return "\n".join(lines)


def main() -> int:
    """The command."""
    heed_interrupts()
    app()
    return 0
