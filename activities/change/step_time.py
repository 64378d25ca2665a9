"""How long a mutating step may take: until its first turn within the rate limit, and from then on."""

from __future__ import annotations

from datetime import datetime, timedelta

from temporalio import activity

from edgeshift.messages import Change, Step
from edgeshift.runtime.clock import Clock

BY_THE_SERVER = frozenset({Step.SET_SECRET, Step.ROLL_BACK})
"""Steps whose window a clock that is ahead does not shorten. They may not wait for their turn, which gives
other steps as much more time.
"""


class StepTime:
    """The time of one step. ``began``: this process's monotonic clock as it began, in seconds; that clock
    tells how long it has taken without trusting the wall clock of this machine.
    """

    def __init__(self, clock: Clock, change: Change, began: float) -> None:
        self._clock, self._began = clock, began
        self._step, self._window, self._waits = change.step, change.window, change.waits
        self._expires_at = change.permit.expires_at
        self._waited: timedelta | None = None

    def turn_comes(self) -> None:
        """The first call has its turn: from now on the window counts."""
        self._waited = min(self.now() - activity.info().started_time, self._waits)

    def first_turn_within(self) -> timedelta:
        """How long the first call may wait for its turn. What it leaves is enough for the others: half of the
        window, or all of it where the step may wait longer.
        """
        now = self.now()
        left = self._waits - (now - activity.info().started_time)
        return max(self.left() / 2, min(left, self._expires_at - now - self._window))

    def left(self) -> timedelta:
        """How long something may still be sent under the permit."""
        # Until its first turn it may take as long as it may wait.
        waits = self._waits if self._waited is None else self._waited
        until = min(self._expires_at, activity.info().started_time + waits + self._window)
        if self._step in BY_THE_SERVER:
            # A process that was stopped before its first line sends none of them long after either: the
            # permit expires by whichever clock is later.
            return min(until - self._by_server(), self._expires_at - self.now())
        return until - self.now()

    def now(self) -> datetime:
        """What time it is by the server's clock, or by this machine's where that is later.

        A process that was stopped before its first line has lost time that its own monotonic clock did not
        see. A wall clock that runs behind is not believed.
        """
        return max(self._by_server(), self._clock.now())

    def _by_server(self) -> datetime:
        passed = timedelta(seconds=self._clock.monotonic() - self._began)
        return activity.info().started_time + passed
