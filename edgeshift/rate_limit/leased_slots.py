"""What is left of a lease of slots (docs/service.md §8)."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class LeasedSlots:
    """What is left of a lease: the next slot's time by the pacer's clock, the distance of slots, how many."""

    next: float
    interval: float
    left: int

    def drop_before(self, moment: float) -> None:
        """Those that have passed are missed."""
        if self.next < moment and self.left:
            missed = math.ceil((moment - self.next) / self.interval) if self.interval > 0 else self.left
            self.next += missed * self.interval
            self.left = max(0, self.left - missed)

    def spend(self) -> None:
        """The next one is taken."""
        self.next += self.interval
        self.left -= 1

    def until(self, moment: float) -> int:
        """How many slots come up to the moment."""
        if self.next > moment:
            return 0
        return min(self.left, int((moment - self.next) // self.interval) + 1 if self.interval > 0 else 1)
