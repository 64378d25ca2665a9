"""Outcomes that nobody can know: the answer to one of each zone's changes says nothing for certain, while one
in a hundred readings goes wrong. How many need no person?
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

from tests.harness.campaigns.play import judge
from tests.harness.campaigns.schedules import Area, Schedule, Trouble, ZonePlan, schedule, shown_in
from tests.harness.campaigns.service_faults import UNCERTAIN
from tests.harness.cases import Case, World, seeds_of
from tests.harness.verdict import Verdict

FAMILY = "unknown"
Change = tuple[str, int]
"""A call, and at which of a zone's requests of it."""

CAMPAIGNS: dict[Area, int] = {"waf": 9, "esc": 3, "log-fields": 3}
"""How many campaigns of each area the full run plays."""

ZONES = 100
RATE = 0.01
"""The share of readings that goes wrong."""

SHAPES: dict[Area, tuple[str, ...]] = {
    "waf": ("pro", "pro", "business", "bypass", "enterprise"),
    "esc": ("plain", "own", "worse"),
    "log-fields": ("bare", "foreign", "jobless", "unseen"),
}

CHANGES: dict[str, tuple[Change, ...]] = {
    "enterprise": (("entrypoint.put", 1), ("entrypoint.put", 2)),
    "plain": (("esc.set", 1), ("esc.set", 2)),
    "own": (("esc.set", 1),),
    "worse": (("esc.set", 1), ("esc.set", 2), ("esc.delete", 1)),
    "bare": (("rulesets.create", 1), ("rulesets.put", 1), ("logpush.jobs.update", 1)),
    "foreign": (("rulesets.put", 1), ("logpush.jobs.update", 1)),
    "jobless": (("rulesets.create", 1), ("rulesets.put", 1), ("logpush.jobs.create", 1)),
    "unseen": (("rulesets.put", 1), ("logpush.jobs.update", 1)),
}
"""What changes a zone of a shape, where that is more than one commit."""


def cases(seed: int) -> list[Case]:
    """Those of the full run."""
    return [_case(area, one) for area, count in CAMPAIGNS.items() for one in seeds_of(seed, count)]


def case_of(identifier: str) -> Case | None:
    """The case of any seed, such as ``unknown/waf/17``, or of fewer zones, such as ``unknown/waf/17/24``."""
    family, named, seed, zones = (*identifier.split("/"), str(ZONES), "", "")[:4]
    area = next((one for one in CAMPAIGNS if one == named), None)
    if family != FAMILY or not area or not (seed.isdecimal() and zones.isdecimal()):
        return None
    return _case(area, int(seed), int(zones))


def _case(area: Area, seed: int, zones: int = ZONES) -> Case:
    identifier = f"{FAMILY}/{area}/{seed}" + (f"/{zones}" if zones != ZONES else "")
    return Case(identifier, FAMILY, zones, partial(_play, area, seed, zones))


async def _play(area: Area, seed: int, zones: int, world: World) -> Verdict:
    return await judge(uncertain(area, seed, zones), world)


def uncertain(area: Area, seed: int, zones: int = ZONES) -> Schedule:
    """The schedule of a seed: one change of every zone is answered so that nobody knows what came of it."""
    chance = random.Random(f"{FAMILY}/{area}/{seed}")
    return replace(
        schedule(seed, area, 0, kills=0),
        zones=tuple(_zone(chance, area, number) for number in range(zones)),
        processes=1,
        manners=("prompt",),
        expires=False,
        random_faults=RATE,
        shows=shown_in(f"{FAMILY}/{area}/{seed}"),
    )


def _zone(chance: random.Random, area: Area, number: int) -> ZonePlan:
    shape = chance.choice(SHAPES[area])
    fault = chance.choice(UNCERTAIN)
    call, nth = chance.choice(CHANGES.get(shape, (("entrypoint.put", 1),)))
    late = round(chance.uniform(0, 2.0), 2) if area == "waf" else None
    return ZonePlan(f"{shape}-{number}", shape, (Trouble(call, fault, nth),), late_seconds=late)
