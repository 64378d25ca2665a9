"""``python -m bench [WHAT …]``: tables for people, and out/bench-WHAT.json; everything if none is named."""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from rich.console import Console

from bench import authority, esc, evidence, log_fields, startup, waf
from edgeshift.model.fleet import Area
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal

MEASURES: dict[str, ModuleType] = {
    Area.WAF.value: waf,
    Area.ESC.value: esc,
    Area.LOG_FIELDS.value: log_fields,
    "authority": authority,
    "evidence": evidence,
    "startup": startup,
}
"""What is measured: of each area, of the checks at the door, of the evidence of validation windows, and of
the command line. Each is
a module with ``measure`` and ``tell``.
"""

OUT = Path("out")


async def measure(console: Console, areas: Sequence[str]) -> None:
    """Measure them, each on a server of its own; print and write what was found."""
    for area in areas:
        part = MEASURES[area]
        console.rule(area)
        with tempfile.TemporaryDirectory(prefix="edgeshift-bench-") as name:
            folder = Path(name)
            async with embedded_temporal(folder / "temporal") as server:
                client = await connect(TemporalSettings(address=server.address))
                found = await part.measure(console, client, folder)
        path = OUT / f"bench-{area}.json"
        path.write_text(json.dumps(found, indent=2) + "\n")
        part.tell(console, found)
        console.print(f"figures in {path}")


def main() -> None:
    """Read which areas are meant, and measure them."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the areas of edgeshift.")
    choices = list(MEASURES)
    parser.add_argument(
        "areas", nargs="*", metavar="AREA", help=f"{', '.join(choices)} or all; all if none is named"
    )
    named = parser.parse_args().areas or ["all"]
    if unknown := sorted(set(named) - {*choices, "all"}):
        parser.error(f"there is no area {unknown[0]!r}; the areas are {', '.join(choices)} and all")
    OUT.mkdir(exist_ok=True)
    areas = [area for area in MEASURES if "all" in named or area in named]
    asyncio.run(measure(Console(), areas))


if __name__ == "__main__":
    main()
