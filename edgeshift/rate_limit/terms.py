"""The terms of a user's rate limit, and the lanes of its calls (docs/service.md §8). Pure."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from edgeshift.profiles import SPECIFICATION

LATEST = 0.05
"""Seconds by which a slot may always be spent late; one that passed longer ago was missed, and is dropped."""

MOST_REQUESTS = 1_000_000
LONGEST_WINDOW = 86_400.0
"""Of a limit: no service has a larger one, and whoever reaches the quota may send one."""


class Lane(StrEnum):
    """``URGENT`` is for commits, their verification, and stopping; it never waits behind ``NORMAL``."""

    NORMAL = "normal"
    URGENT = "urgent"


class PaceTerms(BaseModel):
    """A user's limit: ``limit`` requests in any ``window`` seconds, of which people keep the share
    ``people``.

    ``block``: seconds that are leased at a time. ``urgent``: the part of the slots that is kept for the
    urgent lane. ``minute``: how often at most a call is made while they are held
    (edgeshift/rate_limit/circuit.py), and for how long they have to fail before it is an outage.
    """

    model_config = ConfigDict(frozen=True)

    limit: Annotated[int, Field(ge=10, le=MOST_REQUESTS)] = SPECIFICATION.rate.requests
    window: Annotated[float, Field(gt=0, le=LONGEST_WINDOW, allow_inf_nan=False)] = float(
        SPECIFICATION.rate.window_seconds
    )
    people: Annotated[float, Field(ge=0, lt=1)] = 0.0
    block: Annotated[float, Field(gt=0, le=60, allow_inf_nan=False)] = 10.0
    urgent: Annotated[float, Field(gt=0, lt=1)] = 1 / 8
    minute: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] = 60.0

    @property
    def budget(self) -> int:
        """Slots in a window: 99 % of the limit, two requests less at least, and less the people's share.
        Where a window is so short that slots which may always be spent late (``LATEST``) would fill it beyond
        the limit, so many less that they do not.
        """
        budget = min(math.floor(self.limit * 0.99 - self.limit * self.people), self.limit - 2)
        late = LATEST / self.window
        budget = min(budget, math.floor(self.limit * (1 - self.people) / (1 + late)))
        while budget > 2 and budget + self._spent_late(budget, late) > self.limit:
            budget -= 1
        return max(2, budget)

    def _spent_late(self, budget: int, late: float) -> int:
        """How many slots a window has at most of those before it. Each lane's may begin just so that one more
        fits. ``late``: by which part of a window they may be late.
        """
        urgent = self._urgent_of(budget)
        return math.ceil((budget - urgent) * late) + math.ceil(urgent * late)

    @property
    def urgent_budget(self) -> int:
        """The urgent lane's part of ``budget``: at least one slot, and at least one less than there are."""
        return self._urgent_of(self.budget)

    def _urgent_of(self, budget: int) -> int:
        return max(1, min(budget - 1, round(budget * self.urgent)))

    @property
    def rate(self) -> float:
        """Slots a second, both lanes together."""
        return self.budget / self.window

    @property
    def late(self) -> float:
        """Seconds by which a slot may be spent late: half of what the budget leaves of the limit. The other
        half is for calls that reach the service sooner than others did.
        """
        spare = self.limit * (1 - self.people) - self.budget - 1
        return max(LATEST, spare / 2 / self.rate)

    @property
    def block_length(self) -> float:
        """Seconds in a block: ``block``, or longer where that would hold fewer than four slots."""
        return max(self.block, 4 * self.window / self.budget)
