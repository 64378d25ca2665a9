"""How much of a large matrix of cases is played: a small, fixed share as a rule, all of it where asked for.

``EDGESHIFT_SHARE``: ``all``, or a number between 0 and 1. ``EDGESHIFT_SHARE_SEED``: other cases than
the usual ones.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Collection
from datetime import timedelta
from typing import TypeVar

from edgeshift.model.durations import parse_duration
from tests.harness.cases import Case as HarnessCase

Case = TypeVar("Case")

USUAL = "0.05"


def share_of(environment: dict[str, str]) -> tuple[float, str]:
    """The share, between 0 and 1, and its seed. Raises ValueError where it is neither ``all`` nor a share."""
    text = environment.get("EDGESHIFT_SHARE", USUAL)
    return parse_share(text, "EDGESHIFT_SHARE"), environment.get("EDGESHIFT_SHARE_SEED", "1")


def seed_of() -> str:
    """The seed of the share that is played."""
    return share_of(dict(os.environ))[1]


def parse_share(text: str, what: str) -> float:
    """The share that a text says. Raises ValueError where it is neither ``all`` nor a share."""
    if text == "all":
        return 1.0
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise ValueError(f"{what} is {text!r}; it is to be all, or a number above 0, at most 1")
    return share


def time_of(text: str) -> timedelta | None:
    """The time that a share such as ``5m`` or ``90`` (seconds) says; None where it says another share."""
    if text == "all" or (text.replace(".", "", 1).isdigit() and float(text) <= 1):
        return None
    return timedelta(seconds=float(text)) if text.isdigit() else parse_duration(text)


def stratified(cases: Collection[HarnessCase], share: float, seed: str) -> list[HarnessCase]:
    """A share of every family, one case of each at the least; each family's turn comes as often as another's,
    measured by its size, so that whoever stops early has seen of all.
    """
    families: dict[str, list[HarnessCase]] = {}
    for case in cases:
        families.setdefault(case.family, []).append(case)
    placed: list[tuple[float, str, HarnessCase]] = []
    for family, listed in families.items():
        chance = random.Random(f"{seed}/{family}")
        count = max(1, math.ceil(share * len(listed)))
        chosen = chance.sample(listed, count)
        placed += [(place / count, f"{chance.random()}", case) for place, case in enumerate(chosen)]
    return [case for _, _, case in sorted(placed, key=lambda one: one[:2])]


def shared(what: str, cases: Collection[Case], least: int = 1) -> list[Case]:
    """The cases of a matrix that are played, in their order: evenly spaced ones, always the same, so that a
    run can be compared with the one before; where ``EDGESHIFT_SHARE_SEED`` is set, others, by that.
    """
    share, seed = share_of(dict(os.environ))
    listed = list(cases)
    count = min(len(listed), max(least, math.ceil(share * len(listed))))
    if "EDGESHIFT_SHARE_SEED" not in os.environ:
        return [listed[place * len(listed) // count] for place in range(count)]
    chosen = random.Random(f"{seed}/{what}").sample(range(len(listed)), count)
    return [listed[place] for place in sorted(chosen)]


def sized(small: int, whole: int) -> int:
    """How large a case is: ``whole`` where everything is played, else ``small``."""
    return whole if share_of(dict(os.environ))[0] == 1.0 else small


def told() -> str:
    """What is played, for the head of a test run."""
    share, seed = share_of(dict(os.environ))
    which = f"seed {seed}" if "EDGESHIFT_SHARE_SEED" in os.environ else "the usual cases"
    return f"share of the fault matrices: {share:g}, {which} (EDGESHIFT_SHARE, EDGESHIFT_SHARE_SEED)"
