"""Seeded campaigns of each area: every zone with troubles of its own, while workers die."""

from __future__ import annotations

from functools import partial
from typing import get_args

from tests.harness.campaigns import judge
from tests.harness.cases import Case, World
from tests.harness.schedules import Area, schedule
from tests.harness.verdict import Verdict

AREAS: tuple[Area, ...] = get_args(Area)
SEEDS = range(1, 9)
ZONES = 80


def cases() -> list[Case]:
    """Those of the full run."""
    return [_case(area, seed) for area in AREAS for seed in SEEDS]


def case_of(identifier: str) -> Case | None:
    """The case of any seed, such as ``esc/17``."""
    named, _, seed = identifier.partition("/")
    area = next((one for one in AREAS if one == named), None)
    return _case(area, int(seed)) if area is not None and seed.isdecimal() else None


def _case(area: Area, seed: int) -> Case:
    return Case(f"{area}/{seed}", area, ZONES, partial(_play, area, seed))


async def _play(area: Area, seed: int, world: World) -> Verdict:
    return await judge(schedule(seed, area, ZONES), world)
