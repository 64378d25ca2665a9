"""How long changes take to show, learnt from those that have, and when one is to be looked for. Pure.

Every look costs a call of the service's limit. So nobody looks at a fixed beat: a change is looked for once
it is due, which is what the median of the ones before it says, and then ever less often. All numbers are
seconds since the change was sent.

A first look that finds its change says only that it took no longer. So two things are counted. Where most
first looks at changes that are due are in vain, the median is raised, to what the late ones say. And a few
changes are looked for early, on purpose: where most of these looks find theirs, the median is lowered to the
time of the look. No look decides anything by itself, and each counts only for its own time: hundreds of
changes may be under way whose looks were due by an earlier median.
"""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import dataclass, field
from statistics import median

MOST_KEPT = 15
"""Observations that are recorded for others, and of which the first median is taken."""

LAST = 41
"""Looks by which what is known is raised, and times to which: the last ones."""

ENOUGH = 21
"""Fewer looks raise nothing."""

MOST_LATE = 0.6
"""It is raised where more than this share of the changes did not show when they were due. With half, chance
alone would raise it again and again.
"""

SCOUTS = 3
"""Changes that are looked for early at a time, while nobody knows how long they take."""

SCOUTING = 1.1
"""By what the pauses grow between the looks of those."""

ONE_IN = 64
"""Of so many changes one is looked for earlier than it is due: else nobody would notice that they take less
time than is known.
"""

ONE_IN_DOUBT = 8
"""And of so many where one of the last early looks has found its change."""

DOUBT = 3
"""Early looks that count as the last ones."""

EARLIER = (0.5, 0.8, 0.95)
"""How much earlier: at one of these shares of the median."""

EARLY = 24
"""Early looks that are remembered."""

AGREE = 4
"""So many of them have to find their change at a time before that is taken for the median; and so many late
ones have to be known.
"""

NEAR = 0.03
"""Looks whose times differ by no more than this share are at the same time."""

SAME_MEDIAN, SAME_SECONDS = 0.08, 5.0
"""A first look that comes later than the median, this share of it and so many seconds was due by a higher
one. What it misses says nothing of what shows between the two.
"""

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
    """What is known of one kind of change. ``median``: how long it takes, or None where nobody knows.
    ``scouting``: how many are looked for early by now.
    """

    median: float | None = None
    scouting: int = 0
    _told: list[float] = field(default_factory=list)
    """How long it took as far as scouts and other workers saw, until others have looked."""
    _due: deque[tuple[float, bool]] = field(default_factory=lambda: deque(maxlen=LAST))
    """When the last ones were first looked for, being due, and whether they were there."""
    _early: deque[tuple[float, bool]] = field(default_factory=lambda: deque(maxlen=EARLY))
    """The same of those that were looked for early."""
    _late: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=LAST))
    """When the last ones that were not there when they were due were looked for then, and how long each
    took.
    """

    def observe(
        self,
        missed_at: float | None,
        seen_at: float,
        *,
        scouted: bool = False,
        was_due_at: float | None = None,
    ) -> float:
        """One has shown; how long it took, as far as that is known. ``missed_at``: when it was last looked
        for in vain; None where it showed at the first look. ``scouted``: it was looked for while nobody knew
        when. Of these the look's time counts: their pauses are wide, and who comes too early pays a call.
        ``was_due_at``: when it was looked for in vain though it was due.
        """
        known, seen_at = self.median, max(0.0, seen_at)
        if known is None or scouted:
            expected = known is not None and (missed_at or 0.0) < known
            took = min(seen_at, known) if known is not None and expected else seen_at
            self.learn(took)
            return took
        if missed_at is None or missed_at < known:
            return min(seen_at, known)
        took = (missed_at + seen_at) / 2
        if was_due_at is not None:
            self._late.append((was_due_at, took))
            self._raise()
        return took

    def learn(self, took: float) -> None:
        """A scout, or another worker, has seen how long one took."""
        if self.median is None or (not self._due and len(self._told) < MOST_KEPT):
            self._told.append(took)
            self.median = median(self._told)

    def looked(self, at: float, shown: bool) -> None:
        """One was looked for the first time, when it was due or before; whether it was there."""
        if self.median is None:
            return
        if at >= self.median:
            self._due.append((at, shown))
            self._raise()
            return
        self._early.append((at, shown))
        near = [found for when, found in self._early if abs(when - at) <= NEAR * at]
        if sum(near) >= AGREE and 2 * sum(near) > len(near):
            self.median = at

    def _raise(self) -> None:
        """To the median, where the looks of when it was due were mostly in vain."""
        known = self.median or 0.0
        looks = [shown for at, shown in self._due if shown or at >= known]
        due = known * (1 + SAME_MEDIAN) + SAME_SECONDS
        late = sorted(took for at, took in self._late if at <= due and took > known)
        in_vain = looks.count(False)
        if len(looks) < ENOUGH or in_vain <= MOST_LATE * len(looks) or len(late) < AGREE:
            return
        # Of all, those that were there come before the late ones.
        self.median = late[int((in_vain - len(looks) / 2) / in_vain * len(late))]
        self._due.clear()

    def later(self, than: float) -> float | None:
        """How long those take that have not shown by then; None where too few are known."""
        late = [took for _, took in self._late if took > than]
        return median(late) if len(late) >= AGREE else None

    @property
    def one_in(self) -> int:
        """Of how many changes one is to be looked for early."""
        doubted = any(found for _, found in list(self._early)[-DOUBT:])
        return ONE_IN_DOUBT if doubted else ONE_IN


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
    _was_due_at: float | None = None

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
        self._note_first(at, False)
        known = self.times.median
        if self._was_due_at is None and known is not None and at >= known:
            self._was_due_at = at
        self.missed_at = at
        self.failed(at)

    def failed(self, at: float) -> None:
        """It was looked for, and the look itself went wrong."""
        self._looked_at, self._looks = at, self._looks + 1

    def showed(self, at: float) -> float | None:
        """It has shown. What is learnt of that, how long it took: only where it is known when it was sent,
        and where nothing held the look up; else None.
        """
        if not self._is_known(at):
            return None
        self._note_first(at, True)
        scouted = self._scout is not None
        return self.times.observe(self.missed_at, at, scouted=scouted, was_due_at=self._was_due_at)

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
        return at if self.missed_at is None else (self.missed_at + at) / 2

    def _note_first(self, at: float, shown: bool) -> None:
        if not self._looks and self._scout is None and self._is_known(at):
            self.times.looked(at, shown)

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
        pause = first * SLOWING ** (self._looks - 1)
        if (later := self.times.later(self._looked_at)) is not None:
            pause = max(first, later - self._looked_at)
        pause = min(pause, self._longest())
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
        return EARLIER[drawn // ONE_IN % len(EARLIER)] if drawn % self.times.one_in == 0 else None
