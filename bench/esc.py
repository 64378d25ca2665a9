"""Edge Side Code turned off over generated fleets: what the probe finds of what is planted, and how long a
roll-back takes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from temporalio.client import Client

from bench.events import OF_LOOK, table
from bench.figures import by_name, show, spread, told
from bench.planted import Compared, compared, found_in, made_noisy, made_worse, planted_in
from bench.roll_back import RollBack, looks, roll_back
from bench.stand import Ended, Stand, stand
from bench.visitor import METHOD, visiting
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.testbed.simulator.generate import generate_fleet

SEEDS = (11, 12, 13)
ZONES = 36
SHARE = 0.67
"""Of the zones with Edge Side Code."""

EVERY = 3
"""One in so many of these gets worse once it is off."""

WINDOW = 8
EFFECT = 3.0
"""Seconds that the simulator takes from a call to its effect at the edge."""

TERMS: dict[str, Any] = {
    "area": "esc",
    "window": WINDOW,
    "esc": {
        "observe": "12s",
        "every": "4s",
        "secret_takes": "4s",
        "effect_limit": "60s",
        # As a campaign has it by default, but for the pace: the edge is this machine's.
        "probe": {"per_second": 1000},
    },
    "commit": {"poll": "1s"},
    "service": {"rate": {"requests": 1_000_000}},
    "advance": {"percent": 1, "failures": ZONES},
}
OPTIONS = {
    "clock": "2023-10-02T08:00:00Z",
    "esc_effect_seconds": EFFECT,
    "rate_limit": {"requests": 1_000_000},
}
PAGE = 10_000


async def measure(console: Console, client: Client, folder: Path) -> dict[str, Any]:
    """Everything of the area, in one run on one server."""
    found: list[dict[str, Any]] = []
    seconds = 0.0
    for number, seed in enumerate(SEEDS):
        console.print(f"round {number + 1} of {len(SEEDS)}: {ZONES} zones of seed {seed}")
        took, zones = await _round(client, folder / f"esc{seed}", seed)
        seconds += took
        found += zones
    probed = [zone for zone in found if zone["compared"]]
    each: list[Compared] = [zone["compared"] for zone in probed]
    backs: list[RollBack] = [zone["roll_back"] for zone in found if zone["roll_back"]]
    settled = [zone for zone in found if zone["outcome"] == "settled"]
    rolled = [zone for zone in found if zone["outcome"] == "rolled_back"]
    return {
        "seeds": list(SEEDS),
        "zones": len(found),
        "zones_probed": len(probed),
        "outcomes": dict(Counter(zone["outcome"] for zone in found)),
        "reasons": dict(
            Counter(zone["reason"] for zone in found if zone["outcome"] not in ("settled", "rolled_back"))
        ),
        "differences_planted": sum(one.planted for one in each),
        "differences_found": sum(one.found for one in each),
        "differences_mapped_right": sum(one.mapped for one in each),
        "differences_not_planted": sum(one.strange for one in each),
        "planted_by_feature": dict(sum((zone["planted_by_feature"] for zone in probed), Counter())),
        "zones_without_behaviours": sum(one.planted == 0 for one in each),
        "alarms_on_zones_without_behaviours": sum(one.strange for one in each if not one.planted),
        "pairs_of_like_with_like": sum(zone["pairs"] for zone in probed),
        "alarms_on_pairs": sum(zone["alarms"] for zone in probed),
        "probe_requests_per_zone": spread(zone["probe_requests"] for zone in probed),
        "requests_per_look": spread(
            zone["watch_requests"] / zone["looks"] for zone in settled if zone["looks"]
        ),
        "calls_per_zone": {
            "settled": spread(sum(zone["calls"].values()) for zone in settled),
            "rolled_back": spread(sum(zone["calls"].values()) for zone in rolled),
        },
        "calls_per_zone_by_name": by_name([zone["calls"] for zone in settled]),
        "events_per_zone": {
            "settled": spread(zone["events"] for zone in settled),
            "rolled_back": spread(zone["events"] for zone in rolled),
        },
        "events_but_those_of_looks": {
            "settled": spread(
                zone["events"] - OF_LOOK * zone["looks"] for zone in settled if not zone["own_secret"]
            ),
            "settled_with_a_secret_of_their_own": spread(
                zone["events"] - OF_LOOK * zone["looks"] for zone in settled if zone["own_secret"]
            ),
        },
        "looks_per_zone": {
            "settled": spread(zone["looks"] for zone in settled),
            "rolled_back": spread(zone["looks"] for zone in rolled),
        },
        "zones_made_worse": sum(zone["worse"] for zone in found),
        "zones_made_worse_rolled_back": sum(zone["worse"] for zone in rolled),
        "zones_rolled_back_that_were_not_worse": sum(not zone["worse"] for zone in rolled),
        "zones_signed_by_themselves": sum(zone["by_itself"] for zone in found),
        "seconds_of_roll_back": {
            name: spread(getattr(one, name) for one in backs)
            for name in ("sent", "shown", "edge", "known", "outage")
        },
        "effect_delay": EFFECT,
        "edge_as_before_to_effect_delay": spread(one.edge / EFFECT for one in backs),
        "roll_backs": [{name: round(value, 2) for name, value in asdict(one).items()} for one in backs],
        "seconds": round(seconds, 1),
        "window": WINDOW,
    }


async def _round(client: Client, folder: Path, seed: int) -> tuple[float, list[dict[str, Any]]]:
    """One campaign over one fleet, and what became of each zone."""
    fleet = generate_fleet(ZONES, seed, accounts=1, esc=SHARE)
    made_noisy(fleet)
    worse = made_worse(fleet, EVERY)
    async with stand(client, folder, fleet, OPTIONS, TERMS, to_edge=True) as campaign:
        control = campaign.service.control
        async with visiting(campaign.service.edge, worse) as sightings:
            await campaign.run()
            ended = await campaign.ended([zone.id for zone in fleet.zones])
        calls = await campaign.calls()
        journal = await control.journal()
        visits = await _visits(campaign)
        zones = []
        for zone in fleet.zones:
            one = ended[zone.id]
            lines = [line for line in journal if line["zone"] == zone.id and line["call"].startswith("esc.")]
            backed = zone.name in worse and one.result.outcome.value == "rolled_back"
            own = [at for host, at in visits if host == zone.name]
            off = next((line["time"] for line in lines if line["call"] == "esc.set" and _turns_off(line)), "")
            zones.append(
                {
                    "outcome": one.result.outcome.value,
                    "reason": one.result.reason,
                    "worse": zone.name in worse,
                    "own_secret": zone.esc.with_secret is not None,
                    "by_itself": zone.id in campaign.by_itself,
                    "calls": calls.get(zone.id, Counter()),
                    "events": len(one.history),
                    "looks": looks(one.history),
                    "probe_requests": sum(not off or at < off for at in own),
                    "watch_requests": sum(bool(off) and at >= off for at in own),
                    "roll_back": roll_back(one.history, lines, sightings[zone.name]) if backed else None,
                    **await _of_probe(campaign, one, await control.get(f"edge/zones/{zone.id}")),
                }
            )
        return campaign.took, zones


def _turns_off(line: dict[str, Any]) -> bool:
    return "always" in line["esc"].get("asked", ())


async def _of_probe(campaign: Stand, ended: Ended, oracle: dict[str, Any]) -> dict[str, Any]:
    """What the probe of a zone found of what is planted there; nothing where it was not probed."""
    if "proposal" not in ended.record:
        return {"compared": None}
    proposal = await campaign.archive.get_json(ended.record["proposal"])
    report = ProbeReport.model_validate(await campaign.archive.get_json(proposal["report"]))
    planted = planted_in(oracle)
    by_feature: Counter[str] = Counter()
    for (_, feature), number in planted.items():
        by_feature[feature] += number
    return {
        "compared": compared(planted, found_in(report)),
        "planted_by_feature": by_feature,
        "pairs": report.controls.pairs,
        "alarms": report.controls.alarms,
    }


async def _visits(campaign: Stand) -> list[tuple[str, str]]:
    """Host and time (the simulator's) of every request that a probe made."""
    found: list[tuple[str, str]] = []
    after: int | None = 0
    while after is not None:
        page = await campaign.service.control.get("edge/requests", after=after, limit=PAGE)
        found += [(one["host"], one["time"]) for one in page["requests"] if one["method"] != METHOD]
        after = page["next"]
    return found


def tell(console: Console, found: dict[str, Any]) -> None:
    """The figures as tables."""
    planted = found["differences_planted"]
    show(
        console,
        "Edge Side Code: the probe over generated fleets with every kind of noise",
        [
            ("zones, and those probed", f"{found['zones']}, {found['zones_probed']}"),
            ("outcomes", found["outcomes"]),
            ("differences planted in these", planted),
            ("  of them found", found["differences_found"]),
            ("  of them mapped to the right feature", found["differences_mapped_right"]),
            ("differences found where none is planted", found["differences_not_planted"]),
            (
                "  of them in zones without behaviours",
                f"{found['alarms_on_zones_without_behaviours']} in {found['zones_without_behaviours']} zones",
            ),
            (
                "alarms on pairs of like with like",
                f"{found['alarms_on_pairs']} of {found['pairs_of_like_with_like']}",
            ),
            ("requests of a zone's probe, min / median / max", told(found["probe_requests_per_zone"])),
            ("requests of one look afterwards", told(found["requests_per_look"])),
        ],
    )
    rows = []
    for part in ("calls", "events", "looks"):
        for outcome in ("settled", "rolled_back"):
            name = f"{part} of a zone, {outcome.replace('_', ' ')}"
            rows.append((name, told(found[f"{part}_per_zone"][outcome])))
    but = found["events_but_those_of_looks"]
    rows.append(("events but those of looks, settled", told(but["settled"])))
    own = told(but["settled_with_a_secret_of_their_own"])
    rows.append(("  the same of zones with a secret of their own", own))
    show(console, "API calls, history events and looks, min / median / max", rows)
    table(console)
    back = found["seconds_of_roll_back"]
    show(
        console,
        f"Roll-back of {back['edge']['count']} zones, min / median / max;"
        f" the service's own delay is {found['effect_delay']:g} s",
        [
            ("zones that got worse, and were rolled back", _of(found)),
            ("from the worse look's end to the call sent", told(back["sent"], "s")),
            ("  to the service showing esc on", told(back["shown"], "s")),
            ("  to the edge answering as before", told(back["edge"], "s")),
            ("  the same in delays of the service", told(found["edge_as_before_to_effect_delay"])),
            ("  to edgeshift having seen that", told(back["known"], "s")),
            ("how long visitors saw the URL fail", told(back["outage"], "s")),
        ],
    )


def _of(found: dict[str, Any]) -> str:
    return f"{found['zones_made_worse']}, {found['zones_made_worse_rolled_back']}"
