"""Reading until a change shows, or may no longer be expected to: each time when it is due, and not at a fixed
beat (edgeshift/model/effect_times.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from temporalio import activity

from activities.boundary import refuse_held
from activities.connections import Connections
from edgeshift.messages import Confirm, Shown, ZoneStart
from edgeshift.model.effect_times import Looks
from edgeshift.service_api import ServiceError

LONGER = timedelta(minutes=4)
"""How much longer than a change may take is looked for it until it can be read, at most."""

A_MOMENT = 0.001
"""Seconds that nobody waits for: less than that no clock need tell apart."""


class Lookout:
    """The looks for one change, by the clock: ``turn`` returns when the next one is due.

    ``what``: the kind of change, of which each campaign learns how long it takes. ``soon``: nobody knows
    whether it was made. Used as a context manager.
    """

    def __init__(
        self,
        connections: Connections,
        start: ZoneStart,
        what: str,
        *,
        limit: timedelta,
        since: datetime | None,
        soon: bool = False,
    ) -> None:
        self._connections, self._start, self._what = connections, start, what
        self._clock = connections.clock
        self._began = self._clock.monotonic()
        # A first look may have been held up, or its worker lost: what was sent is older than this attempt.
        before = activity.info().started_time - since if since is not None else timedelta(0)
        self._before = max(0.0, before.total_seconds())
        self._limit = limit.total_seconds()
        self._longest = (limit + min(LONGER, start.policy.patience)).total_seconds()
        self._looks = Looks(
            connections.effects.of(start, what),
            start.target.zone.id,
            beat=start.policy.poll.total_seconds(),
            limit=self._before + self._limit,
            soon=soon,
        )

    def __enter__(self) -> Lookout:
        return self

    def __exit__(self, *_: object) -> None:
        self._looks.end()

    @property
    def age(self) -> float:
        """Seconds since the change was sent."""
        return self._before + self._clock.monotonic() - self._began

    async def turn(self) -> None:
        """Wait until the next look is due. As long as nobody knows when, what others see decides."""
        looks = self._looks
        while True:
            if not looks.is_certain:
                now = self._clock.monotonic()
                await self._connections.effects.ask(self._start, self._what, now=now, beat=looks.beat)
            left = looks.due() - self.age
            if left < A_MOMENT:
                return
            await self._clock.sleep(left if looks.is_certain else min(left, looks.beat))

    async def showed(self, age: float | None = None) -> timedelta | None:
        """The change has shown, at this ``age``; without one, just now. How long that took by itself, where
        somebody knows: without what the look waited for, be it a turn or the end of an outage.
        """
        age = self.age if age is None else age
        takes = self._looks.takes(age)
        if (learnt := self._looks.showed(age)) is not None:
            await self._connections.effects.record(self._start, self._what, learnt)
        return timedelta(seconds=takes) if takes is not None else None

    def is_over(self, trouble: str) -> bool:
        """A look was in vain. Whether the change can no longer be expected to show: later where the look
        itself went wrong, as ``trouble`` says, since one answer that did so at the very end is no reason to
        leave the target with a person.
        """
        (self._looks.failed if trouble else self._looks.missed)(self.age)
        passed = self._clock.monotonic() - self._began
        return passed >= (self._longest if trouble else self._limit) - A_MOMENT

    def is_too_late(self, window: timedelta) -> bool:
        """Whether the next look is due after this time alone, whatever went wrong in the last one."""
        return self._looks.due() - self._before >= window.total_seconds()


async def shown_in_time(
    connections: Connections, message: Confirm, look: Callable[[], Awaitable[Shown | None]]
) -> tuple[Shown | None, str]:
    """What ``look`` gives, once it gives something, or None when the limit has passed; and what the last look
    failed with, if it did.
    """
    what = "change" if message.wanted else "rollback"
    with Lookout(
        connections,
        message.start,
        what,
        limit=message.limit,
        since=message.since,
        soon=not message.answered,
    ) as lookout:
        while True:
            await lookout.turn()
            trouble = ""
            try:
                if (shown := await look()) is not None:
                    if shown.reached:
                        shown = shown.model_copy(update={"took": await lookout.showed()})
                    return shown, ""
            except ServiceError as failure:
                refuse_held(failure)
                trouble = str(failure)[:150]
            if lookout.is_over(trouble):
                return None, trouble
