"""A campaign's looks, played without a clock: zones begin one after the other, and each is looked for when
it is due.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from edgeshift.model.effect_times import EffectTimes, Looks

BEAT, LIMIT = 20.0, 3600.0

A_SECOND = 0.79
"""Zones that begin: what a user's limit lets pass, of five calls each."""

Draw = Callable[[random.Random], float]
"""How long a zone's change takes."""


@dataclass
class Played:
    """``calls`` and ``late``: how often each was looked for, and how long after it showed it was found.
    ``known``: the median, each time that one was found; ``took``: how long each took, as it is told.
    """

    calls: list[int]
    late: list[float]
    known: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)


def played(draw: Draw, zones: int, seed: int = 1) -> Played:
    """So many zones; all are found in time."""
    chance = random.Random(seed)
    takes = [draw(chance) for _ in range(zones)]
    times, found = EffectTimes(), Played([0] * zones, [0.0] * zones)
    looks = [Looks(times, f"zone {seed} {number}", beat=BEAT, limit=LIMIT) for number in range(zones)]
    turns = [(number / A_SECOND, number) for number in range(zones)]
    while turns:
        now, number = heapq.heappop(turns)
        one, age = looks[number], now - number / A_SECOND
        if (left := one.due() - age) > 1e-3:
            # As a worker waits: what others see decides, as long as nobody knows.
            heapq.heappush(turns, (now + (left if one.is_certain else min(left, BEAT)), number))
            continue
        found.calls[number] += 1
        if age < takes[number]:
            one.missed(age)
            heapq.heappush(turns, (now, number))
            continue
        found.took.append(one.takes(age) or 0.0)
        one.showed(age)
        one.end()
        found.late[number] = age - takes[number]
        found.known.append(times.median or 0.0)
    return found
