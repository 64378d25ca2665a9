"""The in-flight window that sizes itself (``window: auto``): it begins with few zones, takes some more with
each that succeeds, and ends at what the rate limit can use. Pure; times are passed in.
"""

from __future__ import annotations

import math
from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

FEW = 5
"""Zones with which a window begins. What is wrong with every zone shows on these."""

MORE = 7
"""Zones that each success makes room for: with every migration's duration the window is eight times as large.
One more for each only doubles it, and with migrations of five minutes a fleet waits half an hour for a full
window.
"""

MORE_BOUNDED = 63
"""The same where a change cannot be taken back. What may fail at once is bounded there by the failures that
are allowed, however fast the window grows: the zones with which it begins open what 1,200 calls in five
minutes can use.
"""

LEARNS = 0.1
"""The weight of the latest duration in the mean. Ten zones make most of it, so that one odd zone does not."""

ROOM = 1.5
"""How much more than rate times duration is taken: durations differ, and a window that is short leaves calls
unused, while one that is long only lets zones wait for their turn.
"""


class Growth(BaseModel):
    """How a window has grown. ``size``: zones that may be in flight by success alone. ``takes``: seconds from
    a zone's commit until the service showed it, the mean of late; 0 while that is not known of any. What a
    zone waited for its turn in the rate limit, or for the end of an outage, is not in it: a window that
    counted that would grow by its own length.
    """

    model_config = ConfigDict(frozen=True)

    size: int = Field(default=FEW, ge=1)
    takes: float = Field(default=0.0, ge=0.0)

    def succeeded(self, took: timedelta | None, zones_a_second: float, more: int = MORE) -> Growth:
        """After a zone whose commit took so long to show; None: nobody knows how long by itself.
        ``zones_a_second``: what the rate limit allows. ``more``: zones that it makes room for.
        """
        takes = self.takes
        if took is not None:
            seconds = max(0.0, took.total_seconds())
            takes = seconds if not takes else takes + LEARNS * (seconds - takes)
        elif not takes:
            return Growth(size=self.size + more)
        size = min(self.size + more, max(self.size, enough(zones_a_second, takes)))
        return Growth(size=size, takes=takes)

    def at_most(self, zones_a_second: float) -> int:
        """How many zones the rate limit can keep busy, as far as the window has grown."""
        return min(self.size, enough(zones_a_second, self.takes)) if self.takes else self.size


def enough(zones_a_second: float, takes: float) -> int:
    """Zones in flight beyond which no more of them end in a second: Little's law, with some room. Never fewer
    than a window begins with.
    """
    return max(FEW, math.ceil(zones_a_second * takes * ROOM))
