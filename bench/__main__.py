"""``make bench``: a table for people, and out/bench.json."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from pathlib import Path
from statistics import mean, median

from rich.console import Console
from rich.table import Table

from bench.bare import measure_bare
from bench.campaign import Measured, measure_campaign
from edgeshift.embedded import embedded_temporal
from edgeshift.settings import TemporalSettings
from edgeshift.temporal import connect

ZONES = 60
ENTERPRISE_ZONES = 20
WINDOW = 20
ROUNDS = 3
OUT = Path("out/bench.json")

MINIMUM = {
    "pro": {"waf.check": 1, "waf.config": 2, "entrypoint.put": 1, "waf.status": 1},
    "enterprise": {
        "waf.check": 1,
        "waf.config": 2,
        "entrypoint.put validation": 1,
        "entrypoint.put": 1,
        "waf.status": 2,
    },
}
"""The fewest calls that the steps of the migration can do with (docs/service.md §4.3)."""

EVENTS = [
    ("workflow started", 1, 1, "the zone exists, with its campaign, wave and plan"),
    ("first workflow task", 3, 3, "the zone reads, archives, proposes"),
    ("prepare, local activity", 1, 1, "what was read and proposed; tells the campaign"),
    (
        "validation PUT, remote activity",
        0,
        3,
        "the reversible step, fenced, under the permit it was started with",
    ),
    ("workflow task after it", 0, 3, "decides what its answer means"),
    ("tell the campaign, local activity", 0, 1, "frees its slot while the window passes"),
    ("timer", 0, 2, "the validation window"),
    ("workflow task after it", 0, 3, "the window is over"),
    ("evidence, local activity", 0, 1, "what the window saw; tells the campaign"),
    ("search attributes", 1, 1, "people find what waits, by fingerprint"),
    ("permit signal", 1, 1, "the sign-off and the permit, in one message"),
    ("workflow task", 3, 3, "checks the sign-off"),
    ("commit, remote activity", 3, 3, "the irreversible step: one attempt, fenced"),
    ("workflow task", 3, 3, "decides what its answer means"),
    ("verify, remote activity", 3, 3, "polls until the effect shows, reads the rules back"),
    ("workflow task", 3, 3, "decides the outcome"),
    ("tell the campaign, local activity", 1, 1, "frees its slot"),
    ("workflow completed", 1, 1, "the outcome, for good"),
]
"""What each history event buys: name, number for a Professional zone, for an Enterprise zone, purpose."""


async def measure(console: Console) -> dict[str, object]:
    """Everything that is measured, in one run on one server."""
    with tempfile.TemporaryDirectory(prefix="edgeshift-bench-") as name:
        folder = Path(name)
        async with embedded_temporal(folder / "temporal") as server:
            client = await connect(TemporalSettings(address=server.address))
            ratios, rates, bares = [], [], []
            await measure_bare(client, ZONES, WINDOW)
            for number in range(ROUNDS):
                console.print(
                    f"round {number + 1} of {ROUNDS}: {ZONES} Professional zones, then {ZONES} bare workflows"
                )
                pro = await measure_campaign(client, folder / f"pro{number}", "pro", ZONES, WINDOW)
                bare = await measure_bare(client, ZONES, WINDOW)
                rates.append(pro.rate)
                bares.append(bare)
                ratios.append(pro.rate / bare)
            console.print(f"{ENTERPRISE_ZONES} Enterprise zones")
            enterprise = await measure_campaign(
                client, folder / "ent", "enterprise", ENTERPRISE_ZONES, WINDOW
            )
    return {
        "ratio_to_bare": round(median(ratios), 3),
        "ratios_to_bare": [round(ratio, 3) for ratio in ratios],
        "zones_per_second": round(median(rates), 2),
        "bare_per_second": round(median(bares), 2),
        "events_per_zone": {"pro": pro.typical_events, "enterprise": enterprise.typical_events},
        "calls_per_zone": {"pro": _calls(pro, "pro"), "enterprise": _calls(enterprise, "enterprise")},
        "zones": ZONES,
        "enterprise_zones": ENTERPRISE_ZONES,
        "window": WINDOW,
    }


def main() -> None:
    """Measure, print, write."""
    console = Console()
    found = asyncio.run(measure(console))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(found, indent=2) + "\n")
    _print(console, found)
    console.print(f"figures in {OUT}")


def _calls(measured: Measured, plan: str) -> dict[str, object]:
    """Calls per zone: the minimum's, how many more of the same (polls), the other readings, the total."""
    total: Counter[str] = Counter()
    for calls in measured.calls:
        total.update(calls)
    zones = len(measured.calls)
    minimum = MINIMUM[plan]
    least = sum(minimum.values())
    needed = sum(min(total[name] / zones, number) for name, number in minimum.items())
    repeated = sum(max(0.0, total[name] / zones - number) for name, number in minimum.items())
    other = {name: round(number / zones, 2) for name, number in sorted(total.items()) if name not in minimum}
    return {
        "minimum": least,
        "of_the_minimum": round(needed, 2),
        "repeated_and_polls": round(repeated, 2),
        "other_readings": other,
        "total": round(mean(sum(calls.values()) for calls in measured.calls), 2),
    }


def _print(console: Console, found: dict[str, object]) -> None:
    speed = Table("measure", "value", title="Throughput, one run, same server")
    speed.add_row("edgeshift, Professional zones a second", str(found["zones_per_second"]))
    speed.add_row("bare workflows with as many activities a second", str(found["bare_per_second"]))
    speed.add_row("ratio, median of the rounds", f"{found['ratio_to_bare']}  {found['ratios_to_bare']}")
    console.print(speed)
    events = Table("events", "pro", "enterprise", "what they buy", title="History events of a zone")
    for name, pro, enterprise, purpose in EVENTS:
        events.add_row(name, str(pro or ""), str(enterprise or ""), purpose)
    measured = found["events_per_zone"]
    assert isinstance(measured, dict)
    events.add_row(
        "measured (median)",
        str(measured["pro"]),
        str(measured["enterprise"]),
        "goals: 24 and 40",
        style="bold",
    )
    console.print(events)
    calls = Table("calls of a zone", "pro", "enterprise", title="API calls of a zone")
    both = found["calls_per_zone"]
    assert isinstance(both, dict)
    for key in ("minimum", "of_the_minimum", "repeated_and_polls", "other_readings", "total"):
        calls.add_row(key.replace("_", " "), str(both["pro"][key]), str(both["enterprise"][key]))
    console.print(calls)


if __name__ == "__main__":
    main()
