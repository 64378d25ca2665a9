"""The migration: how fast beside a bare workflow and beside a naive flow that makes the same calls, how many
history events, how many calls; and a campaign at the rate limit (bench.fleet).
"""

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
from bench.fleet.campaign import measured
from bench.fleet.goals import verdicts_of_bench
from bench.fleet.kept import code_digest, described
from bench.fleet.parts import KEYS, PACED
from bench.fleet.tables import show_course, show_goals
from bench.naive import measure_naive
from bench.stand import simulator, stand
from edgeshift.testbed.simulator.fleet_file import Fleet

ZONES = 120
ENTERPRISE_ZONES = 20
WINDOW = 20
ROUNDS = 3
SCALE = 1_000_000.0
"""So that neither windows nor the rate limit wait: what is measured is edgeshift and its engine."""

STATE = Path("out") / "bench-paced"
"""Of the campaign at the limit, while it is measured."""

INSTANT = {"time_scale": SCALE, "migration_seconds": 0, "visibility_seconds": 0}
"""The simulator's options."""

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
        "pagerules.list": 2,
        "entrypoint.put validation": 1,
        "entrypoint.put": 1,
        "waf.status": 1,
        "entrypoint.get": 3,
    },
}
"""What a zone costs after a plan (docs/calls.md)."""

EVENTS = [
    ("workflow started", 1, 1, "the zone exists, with its campaign, wave and plan"),
    ("first workflow task", 3, 3, "the zone begins with the plan's reading"),
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
    ("evidence, remote activity", 0, 3, "what the window saw; tells the campaign"),
    ("workflow task after it", 0, 3, "waits for the sign-off"),
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
    ratios, rates, bares, naive = [], [], [], []
    await measure_bare(client, ZONES, WINDOW)
    for number in range(ROUNDS):
        console.print(
            f"round {number + 1} of {ROUNDS}: {ZONES} Professional zones, {ZONES} bare workflows,"
            f" {ZONES} zones without gates"
        )
        pro = await _campaign(client, folder / f"pro{number}", "pro", ZONES)
        bare = await measure_bare(client, ZONES, WINDOW)
        rates.append(pro.rate)
        bares.append(bare)
        ratios.append(pro.rate / bare)
        naive.append(await _naive(client, folder / f"naive{number}"))
    console.print(f"{ENTERPRISE_ZONES} Enterprise zones")
    enterprise = await _campaign(client, folder / "ent", "enterprise", ENTERPRISE_ZONES)
    console.print(f"{PACED.zones} zones at the rate limit")
    # Not in the folder of the others: after an error, what is there is kept.
    paced = await measured(PACED, STATE, lambda text: console.print(text, markup=False))
    of_naive = [one / other for one, other in zip(rates, naive, strict=True)]
    found = {
        "ratio_to_bare": round(median(ratios), 3),
        "ratios_to_bare": [round(ratio, 3) for ratio in ratios],
        "zones_per_second": round(median(rates), 2),
        "bare_per_second": round(median(bares), 2),
        "ratio_to_naive": round(median(of_naive), 3),
        "ratios_to_naive": [round(ratio, 3) for ratio in of_naive],
        "naive_per_second": round(median(naive), 2),
        "events_per_zone": {"pro": spread(pro.events), "enterprise": spread(enterprise.events)},
        "calls_by_name": {"pro": _calls(pro, "pro"), "enterprise": _calls(enterprise, "enterprise")},
        "engine_zones": ZONES,
        "enterprise_zones": ENTERPRISE_ZONES,
        "window": WINDOW,
        **{key: paced[key] for key in KEYS},
        **described(code_digest()),
        "paced": paced,
    }
    return found | {"goals": [one.plain() for one in verdicts_of_bench(found)]}


def equal_zones(plan: str, number: int) -> Fleet:
    """Zones of one plan and one shape."""
    names = [f"z{index:05d}-{plan}.example" for index in range(number)]
    return Fleet.model_validate({"zones": [{"name": name, "plan": plan} for name in names]})


async def _naive(client: Client, folder: Path) -> float:
    """The naive flow over as many Professional zones, of a simulator of its own; zones a second."""
    fleet = equal_zones("pro", ZONES)
    async with simulator(fleet, folder, INSTANT) as service:
        token, zones = fleet.credentials[0].value, [zone.id for zone in fleet.zones]
        return await measure_naive(client, service.base_url, token, zones, WINDOW)


async def _campaign(client: Client, folder: Path, plan: str, zones: int) -> Measured:
    """A campaign over equal zones, after a plan, which is not part of its time. Raises RuntimeError where one
    is not migrated.
    """
    fleet = equal_zones(plan, zones)
    terms = {"window": WINDOW, "time_scale": SCALE}
    async with stand(client, folder, fleet, INSTANT, terms) as campaign:
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
        ("edgeshift after a plan, Professional zones a second", found["zones_per_second"]),
        ("bare workflows with as many activities a second", found["bare_per_second"]),
        ("ratio, median of the rounds", f"{found['ratio_to_bare']}  {found['ratios_to_bare']}"),
        ("the same calls without gates, zones a second", found["naive_per_second"]),
        ("ratio, median of the rounds", f"{found['ratio_to_naive']}  {found['ratios_to_naive']}"),
    ]
    show(console, "Throughput, one run, same server", rows)
    events = Table("events", "pro", "enterprise", "what they buy", title="History events of a zone")
    for name, pro, enterprise, purpose in EVENTS:
        events.add_row(name, str(pro or ""), str(enterprise or ""), purpose)
    measured: dict[str, Spread] = found["events_per_zone"]
    least = "measured, min / median / max; goals: 23 and 36"
    events.add_row("measured", told(measured["pro"]), told(measured["enterprise"]), least, style="bold")
    console.print(events)
    calls = Table("calls of a zone", "pro", "enterprise", title="API calls of a zone, after a plan")
    both = found["calls_by_name"]
    for key in ("minimum", "of_the_minimum", "repeated_and_polls", "other_readings", "total"):
        calls.add_row(key.replace("_", " "), str(both["pro"][key]), str(both["enterprise"][key]))
    console.print(calls)
    show_course(console, found["paced"])
    show_goals(console, found["goals"])
