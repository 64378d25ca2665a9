"""How many calls a piece of work makes: whoever wants to know counts around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Made:
    """``calls``: requests that went to the service, also those that nobody answered."""

    calls: int = 0


_MADE: ContextVar[Made | None] = ContextVar("made", default=None)


@contextmanager
def counting() -> Iterator[Made]:
    """Count the calls that this task, and those that it begins, make within the block."""
    made = Made()
    before = _MADE.set(made)
    try:
        yield made
    finally:
        _MADE.reset(before)


def count_call() -> None:
    """A call is sent."""
    if (made := _MADE.get()) is not None:
        made.calls += 1
