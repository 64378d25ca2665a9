"""A pacer that holds nobody back."""

from __future__ import annotations

import math

from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.others import Told
from edgeshift.rate_limit.terms import Lane


class Unpaced:
    """Every call at once: for tests, and for services without a limit."""

    turn_lasts = math.inf

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Return at once."""

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        """Nothing is held back."""

    def told(self, said: Told, took: float) -> None:
        """Nothing is left to anybody."""

    def blocked(self, seconds: float) -> None:
        """Nothing to hold back."""
