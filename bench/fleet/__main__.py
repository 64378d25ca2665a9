"""``python -m bench.fleet run [PART …]`` and ``table``: fleets, in hours, part by part."""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.fleet.campaign import Course, measured
from bench.fleet.kept import Kept, described
from bench.fleet.labels import slug
from bench.fleet.many import Many, measured_many
from bench.fleet.page import PAGE, put
from bench.fleet.parts import PARTS, Part, chosen, in_order, labelled, summed_up
from bench.fleet.processes import Processes, measured_processes
from bench.fleet.stuck import Stuck, measured_stuck
from bench.fleet.tables import show_course, show_goals, show_processes, show_stuck

OUT = Path("out")
FOLDER = OUT / "bench-fleet"
FIGURES = OUT / "bench-fleet.json"
ENGINE = OUT / "bench-waf.json"


async def measure(console: Console, kept: Kept, parts: Sequence[Part]) -> None:
    """Measure the parts that were not measured on this code, and write what there is after each."""
    for part in parts:
        label = labelled(part)
        if (found := kept.figures(label, part)) is None:
            console.rule(label)
            found = await _one(part, kept, lambda text: console.print(text, markup=False))
            kept.keep(label, part, found)
        else:
            console.print(f"{label}: measured before on this code")
        if isinstance(part, Course):
            show_course(console, found)
        if isinstance(part, Processes):
            show_processes(console, found)
        if isinstance(part, Stuck):
            show_stuck(console, found)
        show_goals(console, [one for one in write(kept)["goals"] if one["part"] == label])


async def _one(part: Part, kept: Kept, say: Any) -> dict[str, Any]:
    folder = FOLDER / f"state-{slug(labelled(part))}"
    if isinstance(part, Many):
        return await measured_many(part, folder, kept.code, say)
    if isinstance(part, Processes):
        return await measured_processes(part)
    if isinstance(part, Stuck):
        return await measured_stuck(part, folder, say)
    return await measured(part, folder, say)


def write(kept: Kept, file: Path = FIGURES) -> dict[str, Any]:
    """Sum up all that was measured on this code, by whatever course; what the file says."""
    found = {**summed_up(in_order(kept.all())), **described(kept.code)}
    file.write_text(json.dumps(found, indent=2) + "\n")
    return found


def missed_by(missed: Sequence[str], parts: Sequence[Part]) -> list[str]:
    """Of the goals that were missed, those of these parts."""
    own = tuple(f"{labelled(part)}: " for part in parts)
    return [text for text in missed if text.startswith(own)]


def of_one_code(
    fleet: dict[str, Any] | None, engine: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The figures of both files for the page. Raises ValueError where there are none, or of two codes."""
    if fleet is None and engine is None:
        raise ValueError(f"neither {FIGURES} nor {ENGINE} is there: measure first")
    if fleet is None:
        about = {key: (engine or {})[key] for key in ("code", "commit", "cores", "measured_at")}
        return {**summed_up({}), **about}, engine
    if engine is not None and engine["code"] != fleet["code"]:
        raise ValueError(
            f"{FIGURES} and {ENGINE} are of different code: measure again, or remove one of them"
        )
    return fleet, engine


def _read(path: Path) -> dict[str, Any] | None:
    found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
    return found


def main() -> None:
    """Measure parts, or put the tables of what was measured into the page. Exit 1 where one of the parts that
    were asked for misses a goal.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description="Measure fleets.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="Measure what was not measured on this code.")
    run.add_argument("parts", nargs="*", metavar="PART", help=", ".join(part.name for part in PARTS))
    run.add_argument("--short", action="store_true", help="In minutes each, with fewer zones.")
    run.add_argument("--zones", type=int, help="So many zones in place of the part's own number.")
    run.add_argument("--workers", type=int, help="So many worker processes in place of the part's own.")
    run.add_argument("--scale", type=float, help="The time scale of the parts at the limit, at most 10.")
    table = verbs.add_parser("table", help="Put the tables and pictures into the page.")
    table.add_argument("--page", type=Path, default=PAGE, help="The page.")
    given = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    if given.verb == "table":
        try:
            put(given.page, *of_one_code(_read(FIGURES), _read(ENGINE)))
        except ValueError as error:
            parser.error(str(error))
        return
    try:
        parts = chosen(
            given.parts, zones=given.zones, workers=given.workers, scale=given.scale, short=given.short
        )
    except ValueError as error:
        parser.error(str(error))
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            parser.error(f"another run measures in {FOLDER}: wait for its end")
        asyncio.run(measure(Console(), Kept(FOLDER), parts))
    missed = missed_by(json.loads(FIGURES.read_text())["missed"], parts)
    for text in missed:
        print(f"missed: {text}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
