"""Seeded schedules: what goes wrong for which zone at which call, and where workers die. Pure data, so that a
failure is told by its seed and played again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.faults_worker import Kill
from tests.harness.service_faults import FAULTS

Area = Literal["esc", "log-fields"]

CALLS: dict[Area, dict[str, int]] = {
    "esc": {"esc.get": 9, "esc.set": 2, "esc.delete": 1},
    "log-fields": {
        "rulesets.list": 5,
        "rulesets.get": 5,
        "rulesets.create": 1,
        "rulesets.put": 3,
        "logpush.jobs.list": 5,
        "logpush.jobs.get": 3,
        "logpush.jobs.update": 3,
        "logpush.jobs.create": 1,
        "logpush.ownership": 1,
        "logpush.ownership.validate": 1,
    },
}
"""The calls that can go wrong, each with how often one zone may make it."""

SHAPES: dict[Area, tuple[str, ...]] = {
    "esc": ("plain", "plain", "plain", "own", "worse", "off"),
    "log-fields": ("bare", "foreign", "foreign", "jobless", "unseen", "unseen"),
}
"""What zones are like when the campaign begins."""

ACTIVITIES: dict[Area, tuple[str, ...]] = {
    "esc": ("prepare_esc_scope", "change_zone", "probe_esc_scope", "settle_esc_scope", "watch_esc_scope"),
    "log-fields": (
        "prepare_log_fields_zone",
        "change_zone",
        "settle_log_fields_zone",
        "watch_log_fields_zone",
    ),
}
"""Where workers die; whatever else they do at that moment dies with them."""

MOST_FAULTS = 4
UNTROUBLED = 0.2
"""The share of zones for which nothing goes wrong."""


@dataclass(frozen=True)
class Trouble:
    """One fault: at the ``nth`` request of a call that is made for a zone."""

    call: str
    fault: str
    nth: int

    def spec(self, zone: str) -> dict[str, Any]:
        """The fault as the simulator takes it. ``zone``: the zone's identifier."""
        return {**FAULTS[self.fault], "match": {"call": self.call, "zone": zone, "nth": self.nth}, "times": 1}


@dataclass(frozen=True)
class ZonePlan:
    """One zone: what it is like, what goes wrong for it, and when somebody else writes its rules."""

    name: str
    shape: str
    troubles: tuple[Trouble, ...]
    stranger: Literal["", "before_put", "after_put"] = ""


@dataclass(frozen=True)
class Schedule:
    """One campaign. ``kills``: one for each worker process in turn. ``delays``: options of the simulator,
    in real seconds.
    """

    seed: int
    area: Area
    zones: tuple[ZonePlan, ...]
    kills: tuple[Kill, ...]
    delays: Mapping[str, float]


def schedule(
    seed: int, area: Area, zones: int, kills: int = 3, faults: Sequence[str] = tuple(FAULTS)
) -> Schedule:
    """The schedule of a seed: the same one each time."""
    chance = random.Random(f"{area}/{seed}")
    delays = {}
    if area == "esc":
        delays = {
            "esc_effect_seconds": chance.choice([0.0, 0.2, 1.0]),
            "esc_visibility_seconds": chance.choice([0.0, 0.3, 1.5]),
        }
    return Schedule(
        seed=seed,
        area=area,
        zones=tuple(_zone(chance, area, number, faults) for number in range(zones)),
        kills=tuple(
            Kill(chance.choice(ACTIVITIES[area]), chance.randint(1, max(1, zones // 3)), moment)
            for moment in chance.choices(("before", "after"), k=kills)
        ),
        delays=delays,
    )


def _zone(chance: random.Random, area: Area, number: int, faults: Sequence[str]) -> ZonePlan:
    shape = chance.choice(SHAPES[area])
    count = 0 if chance.random() < UNTROUBLED else chance.randint(1, MOST_FAULTS)
    troubles: list[Trouble] = []
    for _ in range(count):
        call = chance.choice(list(CALLS[area]))
        if call == "esc.set" and any(one.call == call for one in troubles):
            # A scope is turned off again once at most after an outcome that nobody knows (rule 2).
            continue
        troubles.append(Trouble(call, chance.choice(faults), chance.randint(1, CALLS[area][call])))
    stranger: Literal["", "before_put", "after_put"] = ""
    if area == "log-fields" and chance.random() < 0.2:
        stranger = chance.choice(("before_put", "after_put"))
    return ZonePlan(f"{shape}-{number}", shape, tuple(troubles), stranger)
