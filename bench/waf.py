"""The migration: how fast beside a bare workflow, how many history events, how many calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from rich.console import Console
from rich.table import Table
from temporalio.client import Client

from bench.bare import measure_bare
from bench.figures import Spread, show, spread, told
from bench.stand import stand
from edgeshift.testbed.simulator.fleet_file import Fleet

ZONES = 60
ENTERPRISE_ZONES = 20
WINDOW = 20
ROUNDS = 3
SCALE = 1_000_000.0
"""So that neither windows nor the rate limit wait: what is measured is edgeshift and its engine."""

MINIMUM = {
    "pro": {
        "waf.config": 1,
        "pagerules.list": 1,
        "entrypoint.put": 1,
        "waf.status": 1,
        "entrypoint.get": 1,
    },
    "enterprise": {
        "zones.get": 1,
        "waf.config": 2,
        "pagerules.list": 1,
        "entrypoint.put validation": 1,
        "entrypoint.put": 1,
        "waf.status": 1,
        "entrypoint.get": 2,
    },
}
"""What a zone costs after a plan (docs/calls.md)."""

EVENTS = [
    ("workflow started", 1, 1, "the zone exists, with its campaign, wave and plan"),
    ("first workflow task", 3, 3, "the zone begins with the plan's reading"),
    ("tell the campaign, local activity", 1, 0, "what is proposed waits for a sign-off"),
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
    (
        "search attributes",
        0,
        1,
        "people find what waits; set at the start where it waits at once",
    ),
    ("permit signal", 1, 1, "the sign-off and the permit, in one message"),
    ("workflow task", 3, 3, "checks the sign-off"),
    ("commit, remote activity", 3, 3, "the irreversible step: one attempt, fenced"),
    ("workflow task", 3, 3, "decides what its answer means"),
    ("verify, remote activity", 3, 3, "looks when the effect is due, reads the rules back"),
    ("workflow task", 3, 3, "decides the outcome"),
    ("search attributes, at the end", 1, 1, "people find outcomes in Temporal's own list"),
    ("tell the campaign, local activity", 1, 1, "frees its slot"),
    ("workflow completed", 1, 1, "the outcome, for good"),
]
"""What each history event buys: name, number for a Professional zone, for an Enterprise zone, purpose."""


@dataclass(frozen=True)
class Measured:
    """Of one campaign: zones per second, history events of each zone, calls of each zone by name."""

    rate: float
    events: list[int]
    calls: list[Counter[str]]


async def measure(console: Console, client: Client, folder: Path) -> dict[str, Any]:
    """Everything of the area, in one run on one server."""
    ratios, rates, bares = [], [], []
    await measure_bare(client, ZONES, WINDOW)
    for number in range(ROUNDS):
        console.print(
            f"round {number + 1} of {ROUNDS}: {ZONES} Professional zones, then {ZONES} bare workflows"
        )
        pro = await _campaign(client, folder / f"pro{number}", "pro", ZONES)
        bare = await measure_bare(client, ZONES, WINDOW)
        rates.append(pro.rate)
        bares.append(bare)
        ratios.append(pro.rate / bare)
    console.print(f"{ENTERPRISE_ZONES} Enterprise zones")
    enterprise = await _campaign(client, folder / "ent", "enterprise", ENTERPRISE_ZONES)
    return {
        "ratio_to_bare": round(median(ratios), 3),
        "ratios_to_bare": [round(ratio, 3) for ratio in ratios],
        "zones_per_second": round(median(rates), 2),
        "bare_per_second": round(median(bares), 2),
        "events_per_zone": {"pro": spread(pro.events), "enterprise": spread(enterprise.events)},
        "calls_per_zone": {"pro": _calls(pro, "pro"), "enterprise": _calls(enterprise, "enterprise")},
        "zones": ZONES,
        "enterprise_zones": ENTERPRISE_ZONES,
        "window": WINDOW,
    }


def equal_zones(plan: str, number: int) -> Fleet:
    """Zones of one plan and one shape."""
    names = [f"z{index:05d}-{plan}.example" for index in range(number)]
    return Fleet.model_validate({"zones": [{"name": name, "plan": plan} for name in names]})


async def _campaign(client: Client, folder: Path, plan: str, zones: int) -> Measured:
    """A campaign over equal zones. Raises RuntimeError where one is not migrated."""
    fleet = equal_zones(plan, zones)
    options = {"time_scale": SCALE, "migration_seconds": 0, "visibility_seconds": 0}
    terms = {"window": WINDOW, "time_scale": SCALE}
    async with stand(client, folder, fleet, options, terms) as campaign:
        result = await campaign.run()
        if result.outcomes != {"migrated": zones}:
            raise RuntimeError(f"not every zone was migrated: {result.outcomes}")
        ended = await campaign.ended([zone.id for zone in fleet.zones])
        calls = await campaign.calls()
    return Measured(
        rate=zones / campaign.took,
        events=[len(one.history) for one in ended.values()],
        calls=list(calls.values()),
    )


def _calls(measured: Measured, plan: str) -> dict[str, Any]:
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


def tell(console: Console, found: dict[str, Any]) -> None:
    """The figures as tables."""
    rows = [
        ("edgeshift, Professional zones a second", found["zones_per_second"]),
        ("bare workflows with as many activities a second", found["bare_per_second"]),
        ("ratio, median of the rounds", f"{found['ratio_to_bare']}  {found['ratios_to_bare']}"),
    ]
    show(console, "Throughput, one run, same server", rows)
    events = Table("events", "pro", "enterprise", "what they buy", title="History events of a zone")
    for name, pro, enterprise, purpose in EVENTS:
        events.add_row(name, str(pro or ""), str(enterprise or ""), purpose)
    measured: dict[str, Spread] = found["events_per_zone"]
    least = "measured, min / median / max; goals: 24 and 40"
    events.add_row("measured", told(measured["pro"]), told(measured["enterprise"]), least, style="bold")
    console.print(events)
    calls = Table("calls of a zone", "pro", "enterprise", title="API calls of a zone")
    both = found["calls_per_zone"]
    for key in ("minimum", "of_the_minimum", "repeated_and_polls", "other_readings", "total"):
        calls.add_row(key.replace("_", " "), str(both["pro"][key]), str(both["enterprise"][key]))
    console.print(calls)
