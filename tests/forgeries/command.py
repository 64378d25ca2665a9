"""``run``: try forgeries of every kind, by themselves and two together, at the door of a Professional and of
an Enterprise zone; then see that what is signed rightly still goes through. Then attack running campaigns of
each area in every phase, and see them to their ends.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Plan
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.forgeries.attempts import FORGERIES, TOGETHER
from tests.forgeries.doors import Guarded, guarded
from tests.forgeries.running import playing
from tests.forgeries.running.listed import AREAS, some

FIGURES = Path("out/forgeries.json")

DEFAULT = 2_000
RUNNING = 0.75
"""How many are tried, and which share of them beside running campaigns: each kind there once in each area,
and as many again as there is room for in the other phases.
"""

AT_ONCE = 6
"""Zones of a running campaign that are attacked at the same time."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass
class Tried:
    """What was tried. ``counted``: led to a change; ``told_wrong``: led to none, and was not said to be
    unsigned.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    counted: list[str] = field(default_factory=list)
    told_wrong: list[str] = field(default_factory=list)
    goes_on: bool = True


@app.callback()
def _several() -> None:
    """Forgeries of starts, decisions, words and records."""


@app.command()
def run(
    count: Annotated[int, typer.Option(min=4, help="How many in all.")] = DEFAULT,
    running: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of them beside running campaigns; the rest at the door."),
    ] = RUNNING,
    seed: Annotated[int, typer.Option(min=0, help="Which ones.")] = 1,
) -> None:
    """Try them, write out/forgeries.json and print a table. Exit 1 where one counted, told people of an
    outcome that the service does not show, left no trace, or held a campaign up.
    """
    began = time.monotonic()
    beside = round(count * running / len(AREAS)) * len(AREAS)
    tried = asyncio.run(_all(count - beside, seed))
    there = asyncio.run(_running(beside // len(AREAS), seed))
    names = {name for kind in tried.kinds for name in kind.split(" + ")}
    figures = {
        "tried": sum(tried.kinds.values()) + sum(there.kinds.values()),
        "kinds": len(names) + len(there.kinds),
        "combinations": len(tried.kinds),
        "counted": len(tried.counted) + len(there.counted),
        "told_wrong": len(tried.told_wrong) + len(there.told_wrong),
        "goes_on": tried.goes_on and there.goes_on,
        "which": [*tried.counted, *tried.told_wrong, *there.counted, *there.told_wrong, *there.held_up],
        "at_the_door": {"tried": sum(tried.kinds.values()), "kinds": len(names)},
        "running": {
            "tried": sum(there.kinds.values()),
            "kinds": len(there.kinds),
            "areas": list(AREAS),
            "phases": dict(sorted(there.phases.items())),
            "on_record": dict(there.records),
            "unrecorded": there.unrecorded,
            "asked_of_the_enemy": there.asked,
        },
        "seconds": round(time.monotonic() - began, 1),
        "seed": seed,
    }
    FIGURES.parent.mkdir(exist_ok=True)
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n")
    table = Table(title="Forgeries", show_header=False)
    for name, value in figures.items():
        table.add_row(name, str(value))
    Console().print(table)
    if figures["which"] or there.unrecorded or not figures["goes_on"]:
        raise typer.Exit(1)


async def _running(count: int, seed: int) -> playing.Tried:
    """So many against running campaigns of each area, on a Temporal server of their own."""
    tried = playing.Tried()
    with tempfile.TemporaryDirectory(prefix="edgeshift-forgeries-") as folder:
        async with embedded_temporal(None) as server:
            client = await connect(TemporalSettings(address=server.address), identity="forgeries")
            for area in AREAS if count else ():
                chosen = some(area, count, seed)
                await playing.attacked(client, Path(folder) / area, area, chosen, tried, at_once=AT_ONCE)
    return tried


async def _all(count: int, seed: int) -> Tried:
    tried = Tried()
    half = count // 2
    for plan, number in ((Plan.PRO, count - half), (Plan.ENTERPRISE, half)):
        with tempfile.TemporaryDirectory(prefix="edgeshift-forgeries-") as folder:
            async with guarded(Path(folder), plan=plan) as door:
                await _at(door, number, random.Random(f"{seed}/{plan.value}"), tried)
    return tried


async def _at(door: Guarded, count: int, chance: random.Random, tried: Tried) -> None:
    kinds = list(FORGERIES)
    sent = await door.sent()
    for number in range(count):
        names = [kinds[number % len(kinds)]]
        if number >= len(kinds):
            names = chance.choices([[chance.choice(kinds)], chance.sample(TOGETHER, 2)], [1, 3])[0]
        found = await door.anew(f"gate-{number}")
        for name in names:
            found = await FORGERIES[name](found) or found
        result = await found.commit(permit=number + 1)
        said = " + ".join(names)
        tried.kinds[said] += 1
        if (now := await door.sent()) != sent:
            tried.counted.append(said)
            sent = now
        elif result.status is not ChangeStatus.NOTHING_HAPPENED or not result.unsigned:
            tried.told_wrong.append(f"{said}: {result.reason}")
    last = await door.anew("gate-last")
    await last.begin()
    evidence = await last.evidence(EvidenceVerdict.FAIL)
    await last.approve(evidence=evidence)
    result = await last.commit(permit=count + 1, evidence=evidence)
    tried.goes_on &= result.status is ChangeStatus.ANSWERED and await door.sent() == sent + 1


def main() -> int:
    """Run the command line."""
    app(standalone_mode=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
