"""A campaign of each area by the command line, with a canary for every secret, and much that goes wrong:
afterwards no canary is anywhere but where it belongs.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial

from edgeshift.model.fleet import Area
from tests.harness.cases import Case, World
from tests.harness.verdict import Verdict
from tests.journeys.canary_courses import PLAYS, zone_ids
from tests.journeys.canary_kit import rehearsal

FAMILY = "canaries"

SEEDS = {Area.WAF: (1, 2), Area.ESC: (3, 4), Area.LOG_FIELDS: (5, 6)}
EVERYTHING = 7
"""The seed of the case in which one stack has a campaign of each area."""

WITHIN = 1800.0


def cases() -> list[Case]:
    """Each area twice on a stack of its own, and all three on one."""
    single = [
        Case(f"{FAMILY}/{area.value}/{seed}", FAMILY, 5, partial(_played, (area,), seed), within=WITHIN)
        for area, seeds in SEEDS.items()
        for seed in seeds
    ]
    every = partial(_played, tuple(PLAYS), EVERYTHING)
    return [*single, Case(f"{FAMILY}/all/{EVERYTHING}", FAMILY, 5 * len(PLAYS), every, within=2 * WITHIN)]


async def _played(areas: tuple[Area, ...], seed: int, world: World) -> Verdict:
    """The stack is a process tree of its own; the world gives the folder alone."""
    return await asyncio.to_thread(_play, areas, seed, world)


def _play(areas: tuple[Area, ...], seed: int, world: World) -> Verdict:
    began = time.monotonic()
    with rehearsal(world.folder, seed) as play:
        for area in areas:
            PLAYS[area](play)
        found = play.searched()
        zones = len(zone_ids(play)) * len(areas)
    complaints = [f"{one.place}: holds {', '.join(one.leaks)}" for one in found if one.leaks]
    complaints += [f"{one.place}: could not be searched" for one in found if not one.sighted]
    complaints += play.failures
    if play.proxy.passed == 0:
        complaints.append("nothing went through the proxy")
    return Verdict(
        zone_schedules=zones,
        complaints=complaints,
        faults={"places searched": len(found), "commands": play.said},
        seconds=time.monotonic() - began,
    )
