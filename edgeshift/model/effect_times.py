"""How long changes take to show, learnt from those that have, and when one is to be looked for. Pure.

Every look costs a call of the service's limit. So nobody looks at a fixed beat: a change is looked for once
it is due, which is what the median of the ones before it says, and then ever less often. All numbers are
seconds since the change was sent.
"""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import dataclass, field
from statistics import median

MOST_KEPT = 15
"""Observations of which the median is taken: the last ones."""

SCOUTS = 3
"""Changes that are looked for early at a time, while nobody knows how long they take."""

SCOUTING = 1.1
"""By what the pauses grow between the looks of those."""

ONE_IN = 64
"""Of so many changes one is looked for earlier than it is due: else nobody would notice that they take less
time than they did.
"""

EARLIER = (0.5, 0.75, 0.9)
"""How much earlier: at one of these shares of the median."""

MARGIN = 0.05
"""By which share of the median the first look comes after it, and the second one after the first."""

AT_THE_END = 60.0
"""Seconds between looks once the time is over, of which the last one went wrong."""

SLOWING = 1.5
"""By what the pauses grow once a change is overdue."""

HELD_UP = 4
"""A look that comes later than so many beats, or this part of its time, says nothing of how long it takes."""

SHARE_OF_LIMIT = 12
"""The longest pause between two looks is this part of the time that a change may take: of an hour, five
minutes.
"""


@dataclass
class EffectTimes:
    """What is known of one kind of change: ``seen``, after which time the last ones showed. ``scouting``: how
    many are looked for early by now.
    """

    seen: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    scouting: int = 0

    @property
    def median(self) -> float | None:
        """How long it takes, or None where nobody knows."""
        return median(self.seen) if self.seen else None

    def observe(self, missed_at: float | None, seen_at: float) -> None:
        """One has shown. ``missed_at``: when it was last looked for in vain; None where it showed at the
        first look. One that shows when it was due says only that it took no longer than is known.
        """
        known = self.median
        if known is not None and missed_at is None and seen_at < known:
            # It was looked for early, and was there: what is known was too much.
            self.seen.clear()
        elif known is not None and (missed_at is None or missed_at < known):
            seen_at = min(seen_at, known)
        self.seen.append(max(0.0, seen_at))


@dataclass
class Looks:
    """When one change is to be looked for.

    ``name``: of the target, which spreads the looks of many. ``beat``: the shortest pause between two looks;
    ``limit``: after which time it can no longer be expected. ``soon``: it may show at any time, or never,
    since nobody knows whether it was made: what others took says little of it. Whoever is done with it calls
    ``end``.
    """

    times: EffectTimes
    name: str
    beat: float
    limit: float
    soon: bool = False
    missed_at: float | None = None
    """When it was last looked for in vain."""
    _looked_at: float = 0.0
    _looks: int = 0
    _due: float = 0.0
    _scout: int | None = None

    def due(self) -> float:
        """When the next look is due, by what is known now. Asked again, it may say another time."""
        self._due = self._next()
        return self._due

    def _next(self) -> float:
        known = self.times.median
        if self.soon:
            return self._early(0)
        if self._looks:
            return self._after_another(known)
        if known is not None:
            return self._within(known * (self._early_share() or 1 + MARGIN))
        if self._scout is None and self.times.scouting < SCOUTS:
            self._scout = self.times.scouting
            self.times.scouting += 1
        if self._scout is not None:
            return self._early(self._scout)
        # Others look early. Where they see nothing either, those that wait do not look all at once.
        return self._within(self.limit * (1 + 2 * self._drawn()) / SHARE_OF_LIMIT)

    @property
    def is_certain(self) -> bool:
        """Whether what is due does not depend on what others will have seen by then."""
        return self.soon or self._looks > 0 or self._scout is not None or self.times.median is not None

    def missed(self, at: float) -> None:
        """It was looked for in vain."""
        self.missed_at = at
        self.failed(at)

    def failed(self, at: float) -> None:
        """It was looked for, and the look itself went wrong."""
        self._looked_at, self._looks = at, self._looks + 1

    def showed(self, at: float) -> bool:
        """It has shown. Whether what it took is learnt: only where it is known when it was sent, and where
        nothing held the look up.
        """
        learnt = self._is_known(at)
        if learnt:
            self.times.observe(self.missed_at, at)
        return learnt

    def takes(self, at: float) -> float | None:
        """It has shown: how long it took, by itself. Where it was looked for late, as after an outage, or
        nobody knows when it was sent, that is what others took, or None.
        """
        known = self.times.median
        if not self._is_known(at):
            return known
        if known is not None and (self.missed_at is None or self.missed_at < known):
            # It was there when it was due: it took no longer than that.
            return min(at, known)
        return at

    def _is_known(self, at: float) -> bool:
        return not self.soon and at - self._due <= max(HELD_UP * self.beat, at / HELD_UP)

    def end(self) -> None:
        """It is looked for no more: somebody else may scout."""
        if self._scout is not None:
            self.times.scouting -= 1
            self._scout = None

    def _after_another(self, known: float | None) -> float:
        if known is None and self._scout is not None:
            return self._early(self._scout)
        if known is not None and self._looked_at < known:
            return self._within(known * (1 + MARGIN))
        first = self._longest() if known is None else max(self.beat, known * MARGIN)
        pause = min(first * SLOWING ** (self._looks - 1), self._longest())
        return self._within(self._looked_at + pause)

    def _early(self, scout: int) -> float:
        """At once, then after pauses that grow; two that scout look at different times."""
        first = self.beat * (1 + scout / SCOUTS / 10)
        if not self._looks:
            return scout * self.beat / SCOUTS
        pause = min(first * SCOUTING ** (self._looks - 1), self._longest())
        return self._within(self._looked_at + pause)

    def _longest(self) -> float:
        return max(self.beat, self.limit / SHARE_OF_LIMIT)

    def _within(self, at: float) -> float:
        """The last look is when the time is over: until then it counts as one that may come to show. After it
        only a look that went wrong is followed by another one, for which there is little time.
        """
        return min(at, self.limit if self._looked_at < self.limit else self._looked_at + AT_THE_END)

    def _drawn(self) -> float:
        """A number in [0, 1) that this target always draws."""
        return zlib.crc32(self.name.encode()) / 2**32

    def _early_share(self) -> float | None:
        """At which share of the median it is looked for early, if it is."""
        drawn = zlib.crc32(f"early {self.name}".encode())
        return EARLIER[drawn // ONE_IN % len(EARLIER)] if drawn % ONE_IN == 0 else None
