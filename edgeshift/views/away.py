"""Temporal that went away while somebody watches: how long it is, when it is tried again, what is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from edgeshift.model.durations import say_duration
from edgeshift.operations.errors import TemporalTrouble
from edgeshift.views.words import one_line

RECONNECT = timedelta(minutes=10)
"""How long Temporal is tried again before whoever waits is told that it stays away."""

LONGEST_PAUSE = 15.0
"""Seconds between two tries at most; the first ones follow sooner."""

STOPS_WITHIN = 10.0
"""Seconds for which a server that is stopping may say of what is there that it is not."""


@dataclass
class Away:
    """What is known of the absence. ``within``: how long it is put up with; None for ever. ``clock``: seconds
    of a clock that only goes forward.
    """

    clock: Callable[[], float]
    within: timedelta | None = RECONNECT
    since: float | None = None
    tries: int = 0
    seen: bool = False
    missed_since: float | None = None

    def missing(self) -> None:
        """Temporal says that what is watched is not there: returns where that is so. Raises TemporalTrouble
        where it was there a moment ago, as a server that is stopping says.
        """
        now = self.clock()
        self.missed_since = now if self.missed_since is None else self.missed_since
        if self.seen and now - self.missed_since < STOPS_WITHIN:
            raise TemporalTrouble("it does not find what was there, as a server that is stopping does")

    def failed(self, why: TemporalTrouble) -> str:
        """A try failed: what to say of it, the first time, else empty. Raises TemporalTrouble once it has
        lasted too long.
        """
        now = self.clock()
        first = self.since is None
        self.since = now if self.since is None else self.since
        self.tries += 1
        if self.within is not None and now - self.since >= self.within.total_seconds():
            raise TemporalTrouble(
                f"Temporal has not answered for {say_duration(self.within)}: {one_line(why.text, 120)}",
                "`edgeshift doctor` checks Temporal; the campaign goes on without anybody who watches",
            ) from why
        if not first:
            return ""
        limit = "" if self.within is None else f", for {say_duration(self.within)} at most"
        return f"no answer: {one_line(why.text, 120)}; trying again{limit}"

    def answered(self) -> str:
        """A try was answered: what to say of it where Temporal had been away, else empty."""
        self.seen, self.missed_since = True, None
        if self.since is None:
            return ""
        lasted = timedelta(seconds=round(self.clock() - self.since))
        self.since, self.tries = None, 0
        return f"Temporal answers again, after {say_duration(lasted)}"

    @property
    def lasts(self) -> float:
        """Seconds for which it has been away."""
        return 0.0 if self.since is None else self.clock() - self.since

    def pause(self, usual: float) -> float:
        """Seconds until the next try; ``usual`` where Temporal answers."""
        return min(LONGEST_PAUSE, usual * 2 ** min(self.tries - 1, 10)) if self.tries else usual
