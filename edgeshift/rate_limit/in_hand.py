"""Steps that make several calls within a time: what has begun comes to its end before anything else begins.

Where more steps wait for their turns than the limit lets through in that time, each of them would otherwise
have a turn or two, run out of time, and have spent them for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class InHand:
    """A step that is in hand. ``first_within``: seconds from now in which its first call has to have its
    turn, so that time is left for the others. ``begun``: whether it had it: its calls go first from then on.
    """

    first_within: Callable[[], float]
    begun: bool = False


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
