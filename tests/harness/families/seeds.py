"""Seeded campaigns of each area: every zone with troubles of its own, while workers die and more is done."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tests.harness.campaigns.play import judge
from tests.harness.campaigns.schedules import Area, schedule
from tests.harness.cases import Case, World, seeds_of
from tests.harness.disturbances import DISTURBANCES
from tests.harness.verdict import Verdict

CAMPAIGNS: Mapping[Area, int] = {"waf": 20, "esc": 7, "log-fields": 7}
"""How many campaigns of each area the full run plays."""

ZONES = 100


def cases(seed: int) -> list[Case]:
    """Those of the full run."""
    return [_case(area, one) for area, count in CAMPAIGNS.items() for one in seeds_of(seed, count)]


def case_of(identifier: str) -> Case | None:
    """The case of any seed, such as ``esc/17``, or of fewer zones, such as ``esc/17/24``."""
    named, seed, zones = (*identifier.split("/"), str(ZONES), "")[:3]
    area = next((one for one in CAMPAIGNS if one == named), None)
    return _case(area, int(seed), int(zones)) if area and seed.isdecimal() and zones.isdecimal() else None


def _case(area: Area, seed: int, zones: int = ZONES) -> Case:
    identifier = f"{area}/{seed}" + (f"/{zones}" if zones != ZONES else "")
    return Case(identifier, area, zones, partial(_play, area, seed, zones))


async def _play(area: Area, seed: int, zones: int, world: World) -> Verdict:
    beside = [one.name for one in DISTURBANCES.values() if area in one.areas]
    return await judge(schedule(seed, area, zones, disturbances=beside), world)
