"""In which order a sweep looks at targets, and where the next one goes on. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence


def in_lap(indexes: Iterable[int], cursor: int) -> list[int]:
    """These targets in the order in which a sweep looks at them: from the cursor on, then those below it."""
    found = sorted(set(indexes))
    place = bisect_left(found, cursor)
    return found[place:] + found[:place]


def next_cursor(left: Sequence[int], cursor: int, end: int) -> int:
    """From which target the next sweep goes on. ``left``: those that a sweep from ``cursor`` on has not
    looked at, in their order; ``end``: where its lap was to end. What is left below the cursor comes last in
    the next one too, until the lap comes round: else that would begin with the same ones for ever.
    """
    return left[0] if left and left[0] >= cursor else end
