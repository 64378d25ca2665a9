"""What is done to a campaign and its workers, and when: drawn by a seed, the same each time. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

from tests.harness.campaigns.schedules import Area, Schedule, schedule

Kind = Literal[
    "kill",
    "kill-and-ask",
    "all-dead",
    "freeze",
    "freeze-and-ask",
    "busy",
    "ask",
    "pause",
    "decide",
    "repeat",
    "forge",
    "assess",
]

OFTEN: dict[Kind, int] = {
    "kill": 2,
    "kill-and-ask": 6,
    "all-dead": 1,
    "freeze": 3,
    "freeze-and-ask": 3,
    "busy": 2,
    "ask": 4,
    "pause": 3,
    "decide": 2,
    "repeat": 3,
    "forge": 1,
    "assess": 1,
}
"""How often each is drawn."""

AREAS: tuple[Area, ...] = ("waf", "esc", "log-fields")
STEPS = (4, 8)
GAP_SECONDS = (0.1, 2.5)
CACHED = (2_000, 2_000, 2, 1)
"""Workflows that a worker keeps in its cache."""
TASKS_AT_A_TIME = (100, 2)
MANNERS = ("prompt", "prompt", "late", "twice")


@dataclass(frozen=True)
class Step:
    """Something that is done ``gap`` seconds after the step before was begun; ``seconds``: how long it
    lasts, where it does.
    """

    kind: Kind
    gap: float
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"+{self.gap:.1f} s {self.kind}" + (f" {self.seconds:.1f} s" if self.seconds else "")


@dataclass(frozen=True)
class Plan:
    """One schedule. ``cached``, ``tasks``: of each worker, the workflows in its cache and the workflow tasks
    at a time.
    """

    seed: int
    campaign: Schedule
    steps: tuple[Step, ...]
    cached: int
    tasks: int

    @property
    def told(self) -> str:
        """On one line."""
        area = "esc of the account" if self.campaign.account else self.campaign.area
        workers = f"{self.campaign.processes} workers, {self.cached} cached, {self.tasks} tasks"
        return f"{area}, {len(self.campaign.zones)} zones, {workers}{', paced' * self.campaign.paced}"


def plan(seed: int) -> Plan:
    """The plan of a seed."""
    chance = random.Random(f"schedule/{seed}")
    area = AREAS[seed % len(AREAS)]
    drawn = schedule(seed, area, chance.randint(2, 4), kills=0)
    campaign = replace(
        drawn,
        zones=tuple(replace(one, troubles=(), stranger="") for one in drawn.zones),
        expires=False,
        manners=MANNERS,
        processes=chance.choice((1, 2)),
        paced=chance.random() < 0.5,
        account=area == "esc" and chance.random() < 0.4,
    )
    return Plan(
        seed=seed,
        campaign=campaign,
        steps=tuple(_step(chance, campaign.account) for _ in range(chance.randint(*STEPS))),
        cached=chance.choice(CACHED),
        tasks=chance.choice(TASKS_AT_A_TIME),
    )


def _step(chance: random.Random, account: bool) -> Step:
    # Whoever forges, forges a zone's words; of an account there is none.
    often = {kind: 0 if kind == "forge" and account else number for kind, number in OFTEN.items()}
    kind = chance.choices(tuple(often), weights=tuple(often.values()))[0]
    seconds = {
        "freeze": min(15.0, 1.0 + chance.expovariate(1 / 3)),
        "freeze-and-ask": min(15.0, 1.0 + chance.expovariate(1 / 3)),
        "all-dead": chance.uniform(0.2, 3.0),
        "busy": chance.uniform(1.0, 3.0),
        "pause": chance.uniform(0.0, 2.0),
        "ask": chance.uniform(0.0, 1.5),
    }
    gap, lasts = chance.uniform(*GAP_SECONDS), seconds.get(kind, 0.0)
    return Step(kind, round(gap, 2), round(lasts, 2))
