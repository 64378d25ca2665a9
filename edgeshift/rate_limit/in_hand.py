"""Steps that make several calls within a time: what has begun comes to its end before anything else begins.

Where more steps wait for their turns than the limit lets through in that time, each of them would otherwise
have a turn or two, run out of time, and have spent them for nothing.

Whoever calls for several users in one go does not wait for one whom the service refuses every call for longer
(``not_blocked_for``): the others would wait with it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class InHand:
    """A step that is in hand. ``first_within``: seconds in which its first call has to have its turn, so that
    there is time for the others. ``begins``: called once it has. ``begun``: whether it had: the others go
    before everybody else's from then on.
    """

    first_within: Callable[[], float]
    begins: Callable[[], None] = lambda: None
    begun: bool = False
    first: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Of calls that a step makes side by side one waits for the first turn; the others then go first, too."""

    def begin(self) -> None:
        """Its first call has its turn."""
        self.begun = True
        self.begins()


_IN_HAND: ContextVar[InHand | None] = ContextVar("in_hand", default=None)


@contextmanager
def in_hand(step: InHand) -> Iterator[None]:
    """Calls of this task, and of those that it begins within the block, are the step's."""
    before = _IN_HAND.set(step)
    try:
        yield
    finally:
        _IN_HAND.reset(before)


def step_in_hand() -> InHand | None:
    """The step that whoever asks works at, or None."""
    return _IN_HAND.get()


_PATIENCE: ContextVar[float] = ContextVar("patience", default=math.inf)


@contextmanager
def not_blocked_for(seconds: float) -> Iterator[None]:
    """Calls of this task within the block have no turn where their user is blocked for longer than that.
    However many wait before them, they wait for those.
    """
    before = _PATIENCE.set(seconds)
    try:
        yield
    finally:
        _PATIENCE.reset(before)


def patience() -> float:
    """Seconds for which a user may be blocked whom whoever asks calls for."""
    return _PATIENCE.get()
