"""How much of a large matrix of cases is played: a small, seeded share as a rule, all of it where asked for.

``EDGESHIFT_SHARE``: ``all``, or a number between 0 and 1. ``EDGESHIFT_SHARE_SEED``: which cases a share has.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Collection
from typing import TypeVar

Case = TypeVar("Case")

USUAL = "0.05"


def share_of(environment: dict[str, str]) -> tuple[float, str]:
    """The share, between 0 and 1, and its seed. Raises ValueError where it is neither ``all`` nor a share."""
    text = environment.get("EDGESHIFT_SHARE", USUAL)
    seed = environment.get("EDGESHIFT_SHARE_SEED", "1")
    if text == "all":
        return 1.0, seed
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise ValueError(f"EDGESHIFT_SHARE is {text!r}; it is to be all, or a number above 0, at most 1")
    return share, seed


def shared(what: str, cases: Collection[Case], least: int = 1) -> list[Case]:
    """The cases of a matrix that are played, in their order; the same ones in every process of a run."""
    share, seed = share_of(dict(os.environ))
    listed = list(cases)
    count = min(len(listed), max(least, math.ceil(share * len(listed))))
    chosen = random.Random(f"{seed}/{what}").sample(range(len(listed)), count)
    return [listed[place] for place in sorted(chosen)]


def sized(small: int, whole: int) -> int:
    """How large a case is: ``whole`` where everything is played, else ``small``."""
    return whole if share_of(dict(os.environ))[0] == 1.0 else small


def told() -> str:
    """What is played, for the head of a test run."""
    share, seed = share_of(dict(os.environ))
    return f"share of the fault matrices: {share:g}, seed {seed} (EDGESHIFT_SHARE, EDGESHIFT_SHARE_SEED)"
