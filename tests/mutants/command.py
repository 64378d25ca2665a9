"""The command of the mutants: ``run`` and ``list``."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

from edgeshift.testbed.temporal_server.binaries import temporal_cli
from tests.harness.families.every import all_cases
from tests.harness.running.kept import code_digest
from tests.mutants.catalogue import MUTANTS, mutant_of
from tests.mutants.mutant import Mutant
from tests.mutants.playing import Caught, Control, Try, hunted
from tests.mutants.report import table, told
from tests.mutants.trees import ROOT, check_origin, copied

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

OUT = Path("out/mutants.json")
DOCUMENT = ROOT / "docs" / "reliability.md"
SMALL = 4
"""Zones at most of a case that is played where a mutant's own do not find it."""


@app.command("list")
def list_mutants() -> None:
    """Every mutant: its name, the rule that it breaks, and what is wrong with it."""
    for one in MUTANTS:
        print(f"{one.name}  rule {one.rule}: {one.wrong}")


@app.command()
def run(
    only: Annotated[list[str] | None, typer.Option(help="Only this mutant; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many are played at a time.")] = 3,
    further: Annotated[int, typer.Option(min=0, help="Cases of all families after a mutant's own.")] = 6,
    seed: Annotated[int, typer.Option(help="Of these further cases.")] = 1,
    json_file: Annotated[Path, typer.Option("--json", help="Write the figures there.")] = OUT,
    docs: Annotated[bool, typer.Option(help="Write the table into docs/reliability.md too.")] = False,
) -> None:
    """Let the harness find every mutant. Exit 1 where one survives, or where the unchanged project is
    complained of.
    """
    try:
        chosen = [mutant_of(name) for name in only] if only else list(MUTANTS)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    began = time.monotonic()
    control, found = hunt(chosen, jobs, sampled(further, seed))
    figures = {
        "mutants_total": len(found),
        "mutants_caught": sum(one.caught for one in found),
        "control_cases": len(control),
        "control_complaints": [
            f"{one.case}: {text}" for one in control for text in filter(None, [*one.complaints, one.trouble])
        ],
        "code": code_digest(),
        "whole": not only,
        "seed": seed,
        "seconds": round(time.monotonic() - began, 1),
        "mutants": [one.model_dump() for one in found],
    }
    json_file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write_text(json.dumps(figures, indent=2) + "\n")
    if docs:
        write_table(DOCUMENT, found, control)
    print(told(found, figures))
    passed = figures["mutants_caught"] == len(found) and not figures["control_complaints"]
    sys.exit(0 if passed else 1)


def hunt(chosen: Sequence[Mutant], jobs: int, more: Sequence[str]) -> tuple[list[Try], list[Caught]]:
    """The unchanged project over the cases that found something, and what came of each mutant."""
    environment = {**os.environ, "EDGESHIFT_TEMPORAL_CLI": str(temporal_cli())}
    with (
        tempfile.TemporaryDirectory(prefix="mutant-") as folder,
        ThreadPoolExecutor(jobs) as pool,
    ):
        tree = copied(Path(folder) / "tree")
        check_origin(tree, environment)
        control = Control(tree, environment)
        found = list(pool.map(lambda one: said(hunted(one, more, environment, control.passes)), chosen))
        return control.tries, found


def said(found: Caught) -> Caught:
    """Tell of a mutant as soon as it is known."""
    if found.caught:
        print(f"{found.name}: caught by {found.by} in {found.seconds:.0f} s", flush=True)
    else:
        troubles = [f"{one.case}: {one.trouble}" for one in found.tried if one.trouble]
        print("\n  ".join([f"{found.name}: SURVIVES {len(found.tried)} cases", *troubles]), flush=True)
    return found


def sampled(most: int, seed: int) -> list[str]:
    """A seeded sample of small cases, one of a family."""
    families: dict[str, list[str]] = {}
    for case in all_cases():
        if case.zones <= SMALL:
            families.setdefault(case.family, []).append(case.id)
    chance = random.Random(seed)
    sample = [chance.choice(ids) for _, ids in sorted(families.items())]
    return chance.sample(sample, min(most, len(sample)))


def write_table(document: Path, found: Iterable[Caught], control: Sequence[Try]) -> None:
    """Replace what stands between the document's markers. Raises ValueError where they are not there."""
    text = document.read_text(encoding="utf-8")
    begin, end = "<!-- mutants:begin -->\n", "<!-- mutants:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{document.name} is to have {begin.strip()} and {end} once each")
    head, _, rest = text.partition(begin)
    tail = rest.partition(end)[2]
    document.write_text(f"{head}{begin}{table(found, control)}{end}{tail}", encoding="utf-8")


def main() -> Any:
    """The command."""
    return app()
