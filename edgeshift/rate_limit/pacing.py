"""Waiting for one's turn to call the service: slots that a lease gives are spent, never saved up
(docs/service.md §8).

A pacer is shared by everything in a process that calls with the credentials of one user: activities, pages,
polls. It also learns what becomes of each call, and holds all of them where there is no sense in calling
(edgeshift/rate_limit/circuit.py).
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from edgeshift.rate_limit.breaker import Breaker, Fate
from edgeshift.rate_limit.circuit import OpenCircuit
from edgeshift.rate_limit.errors import BlockedForLonger, CircuitIsOpen, NoLease, TooLate, TurnRefused
from edgeshift.rate_limit.in_hand import InHand, patience, step_in_hand
from edgeshift.rate_limit.leased_slots import LeasedSlots, until_more
from edgeshift.rate_limit.others import FLOOR, Seen, Told, Window
from edgeshift.rate_limit.slots import Lease
from edgeshift.rate_limit.terms import LATEST, Lane
from edgeshift.rate_limit.waiting import Line, Waiting

LeaseSource = Callable[[int, Lane], Awaitable[Lease]]
"""Asks for at most so many slots in a lane. A lease of count 0 says when to ask again."""

_log = logging.getLogger(__name__)

_AHEAD = 1.0
"""Seconds before its slots run out at which a pacer asks for more, when there is work for them; where answers
are slow, twice as long as they took lately.
"""

_AHEAD_AT_MOST = 2.75
"""Seconds: before that the next block is not handed out (edgeshift/rate_limit/slots.py)."""

_UNUSED = 0.05
"""The part of the slots since the last lease that may pass without anybody who waits: more would be spent."""

_ELSEWHERE = 3
"""Calls that may have their slot and wait elsewhere still: they leave together with those of later slots."""

_HAIR = 1e-9

_ANSWERS = 16
"""Answers that tell how the clocks differ, and how long an answer takes."""


class Pacer(Protocol):
    """Whatever says when the next call may be made."""

    @property
    def turn_lasts(self) -> float:
        """Seconds after which a turn is over: whoever has not called by then waits for another one."""

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Return when one call may be made, with the credential of this reference; ``ended`` then tells
        what became of it. Cancelling it costs nobody a slot. Raises CircuitIsOpen where calls are held,
        NoLease where nobody can say, and BlockedForLonger where the user is blocked and whoever asks does
        not wait for that.
        """

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        """A call that had its turn is over. ``said``: what went wrong, short and without secrets."""

    def told(self, said: Told, took: float) -> None:
        """An answer says how much of the limit is left. ``took``: seconds since its call had its turn."""

    def blocked(self, seconds: float) -> None:
        """The service refuses every call of this user for so many seconds from now on."""


class SlotPacer:
    """Spends timed slots that come from leases. Who is next: edgeshift/rate_limit/waiting.py.

    ``lease_source`` may fail: whoever waits gets a NoLease, and the next one asks again. ``on_blocked`` is
    told of a block, so that other processes of the user hold back too; ``on_held``, that calls are held, and
    where it is not given they never are (edgeshift/rate_limit/breaker.py). ``clock``: monotonic seconds.

    Where others call as the same user, only a part of the slots is spent (edgeshift/rate_limit/others.py): as
    much as the last lease says, and less while hardly anything is left of the limit.
    """

    def __init__(
        self,
        lease_source: LeaseSource,
        *,
        on_blocked: Callable[[float], Coroutine[None, None, None]] | None = None,
        on_held: Callable[[OpenCircuit], Coroutine[None, None, None]] | None = None,
        minute: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        user: str = "",
    ) -> None:
        self._lease_source = lease_source
        self._on_blocked = on_blocked
        self._on_held = on_held
        self._breaker = Breaker(minute, clock, user)
        self._clock = clock
        self._line = Line()
        self._slots: list[LeasedSlots] = []
        self._blocked_until = 0.0
        self._ask_at: dict[Lane, float] = {lane: -1e9 for lane in Lane}
        self._too_few = False
        self._more_at = math.inf
        self._spent: deque[float] = deque(maxlen=1000)
        self._window = Window()
        self._keep = 1.0
        self._due = 0.0
        self._used = self._unused = 0
        self._elsewhere = 0
        self._late = LATEST
        self._differ: deque[float] = deque(maxlen=_ANSWERS)
        self._differ_at_most: deque[float] = deque(maxlen=_ANSWERS)
        self._took: deque[float] = deque(maxlen=_ANSWERS)
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Wait for a slot. Raises NoLease, CircuitIsOpen and BlockedForLonger; and TooLate, where it is the
        first of a step that would not come to its end in its time.
        """
        step = step_in_hand()
        if step is not None and not step.begun:
            async with step.first:
                if not step.begun:
                    await self._begin(step, lane, credential)
                    return
        await self._acquire(lane, credential, ahead=step is not None)

    async def _begin(self, step: InHand, lane: Lane, credential: str) -> None:
        if step.first_within() < self._closed_until(lane) - self._clock():
            raise TooLate
        try:
            async with asyncio.timeout(max(0.0, step.first_within())):
                await self._acquire(lane, credential)
        except TimeoutError:
            raise TooLate from None
        step.begin()

    def _closed_until(self, lane: Lane) -> float:
        """Until when there is no slot in a lane, by what is known: the user is blocked, or none is left."""
        without = -math.inf if any(slots.left for slots in self._slots) else self._ask_at[lane]
        return max(self._blocked_until, without)

    async def _acquire(self, lane: Lane, credential: str, *, ahead: bool = False) -> None:
        if self._breaker.stops(credential):
            await self._look_again(lane)
            if hold := self._breaker.stops(credential):
                raise CircuitIsOpen(hold)
        if self._is_blocked_for(seconds := patience()):
            raise BlockedForLonger
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = Waiting(turn, lane, credential, ahead, seconds)
        self._line.add(waiting)
        self._changed.set()
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._serve(), name="pace")
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.ended(Fate.NOT_MADE, credential=credential)
                self._give_turn()
            else:
                self._line.remove(waiting)
            raise

    @property
    def turn_lasts(self) -> float:
        """As long as a slot may be spent late, by the last lease."""
        return self._late

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """While a call that had its slot waits for something else: where several do, slots pass unused."""
        self._elsewhere += 1
        try:
            yield
        finally:
            self._elsewhere -= 1

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        """Learn what became of a call; calls may be held from now on."""
        self._changed.set()
        if self._on_held is None:
            return
        if hold := self._breaker.ended(fate, said, credential):
            self._refuse_held()
            self._tell(self._on_held(hold), "hold")

    def told(self, said: Told, took: float) -> None:
        """Learn how much of the limit is left."""
        self._window.hear(said, self._clock() - max(0.0, took))

    def seen(self) -> Seen | None:
        """What the service last told of the limit, or None."""
        return self._window.seen(self._clock())

    def _refuse_held(self) -> None:
        """Whoever waits for a call that is held now waits in vain."""

        stops = self._breaker.stops
        self._line.refuse(lambda one: CircuitIsOpen(hold) if (hold := stops(one.credential)) else None)

    def _is_blocked_for(self, seconds: float) -> bool:
        return self._blocked_until - self._clock() > seconds

    def _refuse_impatient(self) -> None:
        """Whoever does not wait for a user that is blocked for so long is told so."""
        self._line.refuse(lambda one: BlockedForLonger() if self._is_blocked_for(one.patience) else None)

    async def _look_again(self, lane: Lane) -> None:
        """Ask whether calls are still held; of many that want to know, one asks."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(lane), name="pace: still held?")
        await asyncio.shield(self._looking)

    async def _look(self, lane: Lane) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)
        asked, news = self._clock(), self._breaker.news
        self._keep_slots(await self._lease(1, lane), asked, 1, lane, news)

    async def _lease(self, want: int, lane: Lane) -> Lease:
        """Raises TurnRefused: whatever keeps a lease away keeps calls from being made, and that is what
        callers have to know.
        """
        try:
            return await self._lease_source(want, lane)
        except TurnRefused:
            raise
        except Exception as why:
            raise NoLease(why) from why

    def blocked(self, seconds: float) -> None:
        """Hold everything back for ``seconds``; a block that lasts longer already stays."""
        self._blocked_until = max(self._blocked_until, self._clock() + max(0.0, seconds))
        self._refuse_impatient()
        self._changed.set()
        if self._on_blocked is not None:
            self._tell(self._on_blocked(seconds), "block")

    async def aclose(self) -> None:
        """End the pacer's own tasks; whoever waits still is cancelled."""
        tasks = [task for task in (self._pump, self._asking, self._looking, *self._tasks) if task is not None]
        for task in tasks:
            task.cancel()
        self._line.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self) -> None:
        # What has passed until somebody came. Those that pass later, while somebody waits, are no spare ones.
        self._unused += sum(slots.drop_before(self._clock() - self._late) for slots in self._slots)
        while self._line:
            self._changed.clear()
            now = self._clock()
            if now < self._blocked_until:
                await self._sleep(self._blocked_until - now)
                continue
            if not self._line.any(self._may_go):
                await self._sleep(None)
                continue
            for slots in self._slots:
                slots.drop_before(now - self._late)
            self._slots = [slots for slots in self._slots if slots.left]
            first = min(self._slots, key=lambda slots: slots.next, default=None)
            if first is not None and first.next <= now:
                first.spend()
                self._used += 1
                if self._is_due(now):
                    self._spent.append(now)
                    self._window.spent(now)
                    self._give_turn()
                continue
            self._ask_if_short(now)
            marks = [first.next] if first is not None else []
            if self._asking is None:
                marks += [mark for mark in (*self._ask_at.values(), self._more_at) if now < mark < math.inf]
            await self._sleep(min(marks) - now if marks else None)

    def _is_due(self, now: float) -> bool:
        """Whether the slot that has come is spent; of those that are not, others have the room."""
        if self._elsewhere >= _ELSEWHERE:
            return False
        self._due += self._keep * self._window.share(now)
        if self._due < 1 - _HAIR:
            return False
        self._due = max(0.0, self._due - 1)
        return True

    def _ask_if_short(self, now: float) -> None:
        """Ask for slots where there are none, where they run out, or where there were too few a while ago."""
        waiting = len(self._line)
        held = sum(slots.left for slots in self._slots)
        soon = sum(slots.until(now + self._ahead()) for slots in self._slots)
        lane = Lane.URGENT if self._line.urgent and not soon else Lane.NORMAL
        if self._asking is not None or now < self._ask_at[lane]:
            return
        if held and lane is Lane.NORMAL:
            runs_out = soon == held and (waiting > soon * self._keep or self._too_few)
            # Whoever was given all that it asked for may still be lent what nobody else needs.
            more = now >= self._more_at and (self._too_few or self._uses_all())
            if not runs_out and not more:
                return
        recent = sum(1 for moment in self._spent if moment > now - 10)
        want = max(2, math.ceil((waiting + recent) / max(self._keep, FLOOR)) - held)
        if self._uses_all():
            want = max(want, waiting, recent // 4)
        self._asking = asyncio.create_task(self._ask(want, lane), name="pace: lease")

    def _uses_all(self) -> bool:
        """Whether there was hardly a slot since the last lease that nobody waited for."""
        return self._unused <= _UNUSED * self._used

    async def _ask(self, want: int, lane: Lane) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)
        asked, news = self._clock(), self._breaker.news
        try:
            answer = await self._lease(want, lane)
        except TurnRefused as failure:
            why = failure
            self._line.refuse(lambda one: why)
        else:
            self._keep_slots(answer, asked, want, lane, news)
        finally:
            self._asking = None
            self._changed.set()

    def _keep_slots(self, answer: Lease, asked: float, want: int, lane: Lane, news: int) -> None:
        """Slots keep their times by the clock of whoever handed them out, however slowly the lease came: of
        the last answers, the one that came most quickly says best how the clocks differ. It says too little
        rather than too much, so that no slot is spent before its time. By as much as it may say too little,
        slots may be spent late; where that is more than they may be, those at the lease's end are left out,
        so that none falls among those of the next one.

        What it says of holds counts unless calls were held since it was asked for.
        """
        now = self._clock()
        if news == self._breaker.news:
            self._breaker.learn(answer.holds)
            self._refuse_held()
        if answer.holds and not answer.count and not self._line:
            # Who asks next is to hear at once when they are held no longer.
            return
        self._ask_at[lane] = now if answer.count else now + answer.again_in
        if answer.closed:
            self._blocked_until = max(self._blocked_until, now + answer.first_in)
            self._refuse_impatient()
        self._too_few = answer.count < want
        self._more_at = now + until_more(answer)
        self._used = self._unused = 0
        self._differ.append(answer.at - now)
        self._differ_at_most.append(answer.at - asked)
        self._took.append(now - asked)
        self._late = answer.late
        self._keep = answer.keep
        if answer.count > 0:
            differ = max(self._differ)
            unsure = max(0.0, min(self._differ_at_most) - differ - answer.late)
            over = math.ceil(unsure / answer.interval) if answer.interval > 0 else 0
            first = answer.at + answer.first_in - differ
            left = max(0, answer.count - over)
            self._slots.append(LeasedSlots(next=first, interval=answer.interval, left=left))

    def _ahead(self) -> float:
        """Seconds ahead of a need that slots are asked for."""
        return min(max(_AHEAD, 2 * max(self._took, default=0.0)), _AHEAD_AT_MOST)

    def _may_go(self, waiting: Waiting) -> bool:
        return self._breaker.may_go(waiting.credential)

    def _give_turn(self) -> None:
        if (one := self._line.next(self._may_go)) is not None:
            self._breaker.goes(one.credential)
            one.turn.set_result(None)

    async def _sleep(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds is None else max(0.0, seconds)):
                await self._changed.wait()

    def _tell(self, telling: Coroutine[None, None, None], of: str) -> None:
        async def told() -> None:
            try:
                await telling
            except Exception as why:  # this process holds back until it hears otherwise
                _log.warning("other processes of this user were not told of a %s: %s", of, type(why).__name__)

        task = asyncio.create_task(told(), name=f"pace: a {of}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
