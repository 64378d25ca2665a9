"""Custom log fields rolled out while strangers write the same rulesets: a thousand interleavings, through a
whole campaign on a real server, against the simulator's service.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

from rich.console import Console
from temporalio.client import Client

from bench.figures import by_name, show, spread, told
from bench.stand import Ended, Stand, stand
from bench.strangers import Interleaving, draw, gaps
from edgeshift.model.counts import counted
from edgeshift.testbed.invariants.kept import PHASE, KeptLogFields
from edgeshift.testbed.invariants.log_history import ZoneRules, logged
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import RulesVersion
from edgeshift.testbed.invariants.service import load_journal
from edgeshift.testbed.simulator.fleet_file import Fleet

ROUNDS = 4
ZONES = 250
"""Zones of a round, each with an interleaving of its own."""

WINDOW = 20
SHARED = "x-request-id"
FIELDS: dict[str, Any] = {
    "request_headers": [SHARED, "user-agent"],
    "response_headers": ["content-type"],
    "cookies": ["Session"],
}
WANTED = {
    ("request_headers", SHARED),
    ("request_headers", "user-agent"),
    ("response_headers", "content-type"),
    ("cookies", "Session"),
}
TERMS: dict[str, Any] = {
    "area": "log-fields",
    "window": WINDOW,
    # No entries are looked at: what is measured is what becomes of the rules.
    "log_fields": {**FIELDS, "verify": "1s", "every": "1s", "effect_limit": "30s"},
    "commit": {"poll": "250ms"},
    "service": {"rate": {"requests": 1_000_000}},
    # What happens to one zone is to stop no other.
    "advance": {"percent": 1, "failures": ZONES},
}
OPTIONS = {"rate_limit": {"requests": 1_000_000}}


def fleet_of(number: int) -> Fleet:
    """Enterprise zones, each with a log job that lists no custom fields."""
    options = "fields=RayID,EdgeStartTimestamp&timestamps=rfc3339"
    zones = []
    for index in range(number):
        job = {"destination": f"s3://logs/{index}?region=eu-west-1", "logpull_options": options}
        zones.append({"name": f"z{index:05d}-logs.example", "plan": "enterprise", "logs": {"jobs": [job]}})
    return Fleet.model_validate({"zones": zones})


async def measure(console: Console, client: Client, folder: Path) -> dict[str, Any]:
    """Everything of the area, in one run on one server."""
    found: list[dict[str, Any]] = []
    seconds = []
    for number in range(ROUNDS):
        console.print(f"round {number + 1} of {ROUNDS}: {ZONES} zones, strangers write to each")
        took, zones = await _round(client, folder / f"fields{number}", seed=number)
        seconds.append(took)
        found += zones
    written = [zone["writes"] for zone in found]
    return {
        "interleavings": len(found),
        "writes_of_strangers": sum(written),
        "interleavings_with_a_write": sum(map(bool, written)),
        "outcomes": dict(Counter(zone["outcome"] for zone in found)),
        "reasons": dict(Counter(zone["reason"] for zone in found if zone["outcome"] != "settled")),
        "gaps_planted": sum(len(zone["gaps"]) for zone in found),
        "gaps_detected": sum(len(zone["gaps"] & zone["overwritten"]) for zone in found),
        "gaps_detected_that_are_none": sum(len(zone["overwritten"] - zone["gaps"]) for zone in found),
        "rules_of_others": sum(zone["others"] for zone in found),
        "rules_of_others_lost_or_changed": sum(len(zone["lost"]) for zone in found),
        "zones_without_our_fields": sum(not zone["ours"] for zone in found),
        "puts_per_zone": spread(zone["puts"] for zone in found),
        "puts_per_zone_by_gaps": {
            str(number): spread(zone["puts"] for zone in found if len(zone["gaps"]) == number)
            for number in sorted({len(zone["gaps"]) for zone in found})
        },
        "calls_per_zone": spread(sum(zone["calls"].values()) for zone in found),
        "calls_per_zone_by_name": by_name([zone["calls"] for zone in found]),
        "events_per_zone": spread(zone["events"] for zone in found),
        "seconds": round(sum(seconds), 1),
        "zones_per_second": round(mean(ZONES / one for one in seconds), 2),
        "window": WINDOW,
        "zones_that_lost": [zone["name"] for zone in found if zone["lost"]],
    }


async def _round(client: Client, folder: Path, seed: int) -> tuple[float, list[dict[str, Any]]]:
    """One campaign, and what became of each zone."""
    fleet, random = fleet_of(ZONES), Random(f"interleavings {seed}")
    drawn = {zone.id: draw(random, SHARED) for zone in fleet.zones}
    async with stand(client, folder, fleet, OPTIONS, TERMS) as campaign:
        for identifier, interleaving in drawn.items():
            await _arm(campaign, identifier, interleaving)
        await campaign.run()
        ended = await campaign.ended(list(drawn))
        calls = await campaign.calls()
        done = (await campaign.service.control.get("stranger-writes"))["done"]
        journal = await load_journal(campaign.service.control)
        kept = await asyncio.to_thread(KeptLogFields, campaign.service.data)
        counted = Counter(entry["zone"] for entry in done if not entry["refused"])
        requests: dict[str, list[Request]] = {zone: [] for zone in drawn}
        for request in journal:
            if request.zone in requests:
                requests[request.zone].append(request)
        zones = []
        for zone in fleet.zones:
            begun = int(drawn[zone.id].begins is not None)
            zones.append(
                {
                    "name": f"{seed}/{zone.name}",
                    "writes": counted[zone.id] - begun,
                    "calls": calls[zone.id],
                    **_of_rules(kept.rules_of(zone.id), requests[zone.id]),
                    **await _of_workflow(campaign, ended[zone.id]),
                }
            )
        return campaign.took, zones


async def _arm(campaign: Stand, zone: str, interleaving: Interleaving) -> None:
    """Write what the zone begins with, and let the strangers' writes wait for their moments."""
    path = f"zones/{zone}/rulesets/{PHASE}/write"
    if interleaving.begins is not None:
        await campaign.service.control.send("POST", path, {"rules": interleaving.begins})
    for write in interleaving.writes:
        await campaign.service.control.send("POST", path, write.document())


def _of_rules(versions: tuple[RulesVersion, ...], requests: list[Request]) -> dict[str, Any]:
    """What the service kept says. Versions of a ruleset that a stranger has deleted are gone with it."""
    history = ZoneRules(versions, requests)
    ruleset = history.last.ruleset if history.last else ""
    rules = history.last.rules if history.last else ()
    return {
        "gaps": {version for owner, version in gaps(requests) if owner == ruleset},
        "others": len(history.expected()),
        "lost": history.lost(),
        "ours": logged(rules) >= WANTED,
        "puts": sum(request.call == "rulesets.put" and request.took_effect for request in requests),
    }


async def _of_workflow(campaign: Stand, ended: Ended) -> dict[str, Any]:
    """What the campaign says."""
    found = ended.record.get("found")
    step = await campaign.archive.get_json(found) if found else {}
    return {
        "outcome": ended.result.outcome.value,
        "reason": ended.result.reason,
        "overwritten": set(step.get("overwritten", ())),
        "events": len(ended.history),
    }


def tell(console: Console, found: dict[str, Any]) -> None:
    """The figures as tables."""
    show(
        console,
        "Custom log fields while strangers write",
        [
            ("interleavings, one a zone", found["interleavings"]),
            ("writes of strangers that took place", found["writes_of_strangers"]),
            ("outcomes", found["outcomes"]),
            ("gaps between reading and PUT, planted", found["gaps_planted"]),
            ("  of them detected, and merged again", found["gaps_detected"]),
            ("  detected where there was none", found["gaps_detected_that_are_none"]),
            ("rules of others at the end", found["rules_of_others"]),
            ("  lost, brought back or changed", found["rules_of_others_lost_or_changed"]),
            ("zones without the campaign's fields", found["zones_without_our_fields"]),
            ("PUTs of a zone, min / median / max", told(found["puts_per_zone"])),
            ("API calls of a zone", told(found["calls_per_zone"])),
            ("history events of a zone", told(found["events_per_zone"])),
            ("seconds of all", found["seconds"]),
            ("zones a second", found["zones_per_second"]),
        ],
    )
    show(
        console,
        "PUTs of a zone by its gaps, min / median / max",
        (
            (counted(int(number), "gap"), told(each))
            for number, each in found["puts_per_zone_by_gaps"].items()
        ),
    )
    show(console, "Calls of a zone, mean", found["calls_per_zone_by_name"].items())
