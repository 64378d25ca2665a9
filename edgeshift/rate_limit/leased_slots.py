"""What is left of a lease of slots (docs/service.md §8)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgeshift.rate_limit.slots import Lease

_SOONEST = 0.1
"""Seconds between two leases at least, where the second is for more than the first has brought."""


@dataclass
class LeasedSlots:
    """What is left of a lease: the next slot's time by the pacer's clock, the distance of slots, how many."""

    next: float
    interval: float
    left: int

    def drop_before(self, moment: float) -> int:
        """Those that have passed are missed; how many."""
        if self.next >= moment or not self.left:
            return 0
        passed = math.ceil((moment - self.next) / self.interval) if self.interval > 0 else self.left
        missed = min(passed, self.left)
        self.next += passed * self.interval
        self.left -= missed
        return missed

    def spend(self) -> None:
        """The next one is taken."""
        self.next += self.interval
        self.left -= 1

    def until(self, moment: float) -> int:
        """How many slots come up to the moment."""
        if self.next > moment:
            return 0
        return min(self.left, int((moment - self.next) // self.interval) + 1 if self.interval > 0 else 1)


def until_more(answer: Lease) -> float:
    """Seconds after which asking again may bring more slots. What is lent beside a share is lent shortly
    before it comes: at once after the lease of a share, and then when what was lent is spent, but not much
    sooner than usual: of many processes that share what is lent, each has little of it.
    """
    covers = answer.first_in + answer.count * answer.interval
    if not answer.count:
        return answer.again_in
    is_share = covers > 2 * answer.again_in
    return _SOONEST if is_share else min(answer.again_in, max(covers, answer.again_in / 2))
