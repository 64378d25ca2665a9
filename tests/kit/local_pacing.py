"""Pacing without Temporal: for one process by itself (docs/service.md §8)."""

from __future__ import annotations

import time
from collections.abc import Callable

from edgeshift.rate_limit.pacing import SlotPacer
from edgeshift.rate_limit.slots import Lease, SlotBook, block, lease
from edgeshift.rate_limit.terms import Lane, PaceTerms


class LocalPacer(SlotPacer):
    """Paces one process by itself, for use without Temporal: the same arithmetic, the book kept in memory."""

    def __init__(self, terms: PaceTerms, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._book = SlotBook(terms=terms)

        async def from_own_book(want: int, lane: Lane) -> Lease:
            self._book, found = lease(self._book, clock(), "this process", lane, want)
            return found

        super().__init__(from_own_book, clock=clock)

    @classmethod
    def per_second(cls, rate: float, *, clock: Callable[[], float] = time.monotonic) -> LocalPacer:
        """A pacer of about ``rate`` calls a second (99 % of it, at least one in 15 s)."""
        window = max(60.0, 20 / rate)
        return cls(PaceTerms(limit=max(10, round(rate * window)), window=window), clock=clock)

    def blocked(self, seconds: float) -> None:
        """Hold everything back for ``seconds``."""
        super().blocked(seconds)
        self._book = block(self._book, self._clock(), seconds)
