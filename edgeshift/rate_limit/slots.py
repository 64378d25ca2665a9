"""The arithmetic of pace: which holder may send when, so that a user's rate limit is never crossed. Pure.

Time is cut into slots that stand on two fixed grids, evenly spaced: one for the normal lane and, for an
eighth of the rate, one for the urgent lane. A slot is handed out once. So any window of the limit's length
holds at most as many slots as the budget says, whoever asks and whenever (docs/service.md §8, observed).

Slots are leased in blocks of about ten seconds. The holders seen in one block are expected in the next, and
each has every n-th slot of it; what a holder has not taken by the middle of a block is anybody's. Urgent
slots that nobody needed are lent to the normal lane shortly before they come, so that the limit is used up
when there is work for it.

All times are seconds since the epoch; the caller passes them in.
"""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict

from edgeshift.rate_limit.circuit import OpenCircuit
from edgeshift.rate_limit.terms import LATEST, Lane, PaceTerms

_MICRO = 1_000_000

LONGEST_BLOCK = 3600.0
"""Seconds for which the service is believed at most when it refuses every call; then it may say so again."""

WINDOWS = 12
"""Windows of the limit for which a user's calls are stopped by one word, at most; the usual limit's are an
hour.
"""

MOST_HOLDERS = 500
"""Holders that have a share of a block of their own. Others have what is left."""

LEAD = 0.3
"""The part of a block before the next one from which on that one is handed out too."""

MOST_SLOTS = 10_000
"""Slots of one lease, whatever the limit."""

CLOCKS_APART = 1.0
"""Seconds by which the clocks of the server's machines may differ, of which each tells a quota the time."""


class Lease(BaseModel):
    """Slots to spend: ``count`` of them, the first in ``first_in`` seconds, then one every ``interval``
    seconds. They count from ``at``, seconds since the epoch by the clock of whoever keeps the book.

    ``count`` of 0: nothing now, ask again in ``first_in`` seconds. ``again_in``: where the slots are fewer
    than the work, asking again after so many seconds may bring more. ``late``: seconds by which a slot may
    be spent late. ``keep``: the part of all slots that may be spent beside what others use
    (edgeshift/rate_limit/others.py). ``holds``: calls that are not to be made at all for now. ``closed``:
    the service refuses every call until then, also those whose slots are out.
    """

    model_config = ConfigDict(frozen=True)

    first_in: float
    interval: float
    count: int
    again_in: float
    at: float = 0.0
    late: float = LATEST
    keep: float = 1.0
    holds: tuple[OpenCircuit, ...] = ()
    closed: bool = False

    @classmethod
    def wait(cls, seconds: float) -> Lease:
        """No slots, and when to ask again."""
        return cls(first_in=max(seconds, 0.01), interval=0.0, count=0, again_in=max(seconds, 0.01))


class Share(BaseModel):
    """A holder's part of a block; ``next`` is the number of its next slot on the normal grid."""

    holder: str
    next: int


class Block(BaseModel):
    """What has been handed out of one block. ``seen``: who asked in it, and is expected in the next one."""

    index: int
    shares: list[Share]
    urgent_next: int
    seen: list[str]


class SlotBook(BaseModel):
    """The state: terms, blocks that are open, and until when every call is refused. ``opens_at``: when
    handing out begins, since slots are out that it does not know of, which are spent. ``now``: the latest
    time seen; ``asked``: when somebody last asked by these terms.
    """

    terms: PaceTerms = PaceTerms()
    now: float = 0.0
    asked: float = 0.0
    blocked_until: float = 0.0
    opens_at: float = 0.0
    blocks: list[Block] = []


def lease(book: SlotBook, now: float, holder: str, lane: Lane, want: int) -> tuple[SlotBook, Lease]:
    """Hand out at most ``want`` slots to ``holder``; the new state and the lease (of count 0 where it has to
    wait).

    Urgent requests take the earliest slot there is of the urgent grid or of the holder's share; normal ones
    the holder's share, then what others left, then urgent slots that are about to pass unused. Shares are
    equal; what is left or lent goes to whoever asks first.
    """
    book = _set_right(book, now).model_copy(deep=True)
    book.now = now = max(now, book.now)
    found = _leased(book, now, holder, lane, min(max(1, want), MOST_SLOTS))
    return book, found.model_copy(update={"at": now, "late": book.terms.late})


def _leased(book: SlotBook, now: float, holder: str, lane: Lane, want: int) -> Lease:
    if now < book.blocked_until:
        return Lease.wait(book.blocked_until - now).model_copy(update={"closed": True})
    if now < book.opens_at:
        return Lease.wait(book.opens_at - now)
    grid = _Grid(book.terms)
    index = grid.block_at(now)
    current = _open(book, grid, index, holder)
    found = _from_block(current, grid, now, holder, lane, want)
    lead = grid.length * LEAD
    if found is None and now >= grid.start(index + 1) - lead:
        found = _from_block(_open(book, grid, index + 1, holder), grid, now, holder, lane, want)
    if found is None:
        marks = [grid.start(index + 1) - lead, grid.start(index) + grid.length / 2]
        if (slot := grid.urgent_from(current, now)) is not None:
            marks.append(grid.urgent_time(slot) - grid.horizon)
        ahead = [mark - now for mark in marks if mark > now]
        return Lease.wait(min(ahead, default=lead / 4))
    return found


def block(book: SlotBook, now: float, seconds: float) -> SlotBook:
    """The state after the service has refused every call for ``seconds`` from ``now`` on. It never shortens a
    block.
    """
    book = _set_right(book, now)
    until = max(book.blocked_until, now + min(max(0.0, seconds), longest_stop(book.terms)))
    return book.model_copy(update={"blocked_until": until, "now": max(now, book.now)})


def longest_stop(terms: PaceTerms) -> float:
    """Seconds for which one word may stop every call, at most."""
    return min(LONGEST_BLOCK, max(60.0, WINDOWS * terms.window))


def begun_again(terms: PaceTerms, now: float) -> SlotBook:
    """The state where an earlier one is lost, of which slots may be out: those of the block of ``now`` and,
    shortly before its end, of the next one. Handing out begins after them.
    """
    grid = _Grid(terms)
    open_until = grid.start(grid.block_at(now + grid.length * LEAD + CLOCKS_APART) + 1)
    return SlotBook(terms=terms, now=now, opens_at=open_until)


def bounded(book: SlotBook, now: float) -> SlotBook:
    """The state as an earlier run has left it, or as somebody has made it up: no later than now, but for what
    clocks differ and a block, and stopped no longer than by a word of now.
    """
    book = _set_right(book, now)
    latest = now + longest_stop(book.terms)
    stops = {"blocked_until": min(book.blocked_until, latest), "opens_at": min(book.opens_at, latest)}
    last = _Grid(book.terms).block_at(max(now, book.now)) + 1
    blocks = [item for item in book.blocks if item.index <= last]
    return book.model_copy(update={**stops, "asked": min(book.asked, now), "blocks": blocks})


def _set_right(book: SlotBook, now: float) -> SlotBook:
    """The state for ``now``, where the time that it was told last was ahead of that. By up to a block, and
    what clocks differ by, its time stands still. By more it was wrong, and nobody is to wait until it comes:
    the seconds that were left, of a block of every call or until handing out begins, count from now. Slots
    that are out stand on the grid of that other time, so handing out begins after them, and an interval
    later.
    """
    grid = _Grid(book.terms)
    if not book.now - now > grid.length + CLOCKS_APART:
        return book
    out = grid.length * (1 + LEAD) + CLOCKS_APART + max(grid.interval, grid.urgent_interval)
    longest = longest_stop(book.terms)
    return SlotBook(
        terms=book.terms,
        now=now,
        asked=min(book.asked, now),
        blocked_until=now + min(max(0.0, book.blocked_until - book.now), longest),
        opens_at=now + min(max(out, book.opens_at - book.now), longest),
    )


def with_terms(book: SlotBook, now: float, terms: PaceTerms) -> SlotBook:
    """The state for somebody who asks by these terms. Of several that are asked by, those with the fewest
    slots a second count: evenly spaced as they are, they keep every window of the others too. Laxer ones
    count once nobody has asked by the stricter for a window, and for two blocks.

    Where the terms change, slots that are out stay out, so handing out begins again after the last of them.
    Whatever somebody asks by, after ``longest_stop`` without them others have slots by their own.

    Raises ValueError or ArithmeticError for terms that cannot be reckoned with, before they count for others.
    """
    book = _set_right(book, now)
    now = max(now, book.now)
    if terms == book.terms:
        return book.model_copy(update={"now": now, "asked": now})
    longest = longest_stop(terms)
    quiet = min(max(book.terms.window, 2 * book.terms.block_length), longest / 2)
    stricter = terms.rate < book.terms.rate
    if not stricter and now < book.asked + quiet:
        return book
    if not _Grid(terms).is_numbered:
        raise ValueError("a window or a block is shorter than a microsecond")
    grid = _Grid(book.terms)
    open_until = max((grid.start(item.index + 1) for item in book.blocks), default=now)
    # A book that was kept before it said when somebody asked: just now, since its slots are out all the same.
    asked = now if stricter or not book.asked else book.asked
    open_until = min(open_until, asked + longest)
    opens_at, blocked_until = max(book.opens_at, open_until), book.blocked_until
    return SlotBook(terms=terms, now=now, asked=now, blocked_until=blocked_until, opens_at=opens_at)


class _Grid:
    """Slots and blocks of some terms, numbered from the epoch; numbers are exact, in whole microseconds."""

    def __init__(self, terms: PaceTerms) -> None:
        self._window = round(terms.window * _MICRO)
        self._block = round(terms.block_length * _MICRO)
        self._normal = terms.budget - terms.urgent_budget
        self._urgent = terms.urgent_budget
        self.length = self._block / _MICRO
        self.interval = terms.window / self._normal
        self.urgent_interval = terms.window / self._urgent
        self.horizon = max(self.length / 4, self.urgent_interval)

    @property
    def is_numbered(self) -> bool:
        """Whether windows and blocks last a microsecond at least, as their numbers need it."""
        return bool(self._window and self._block)

    def block_at(self, now: float) -> int:
        return math.floor(now * _MICRO) // self._block

    def start(self, index: int) -> float:
        return index * self._block / _MICRO

    def first(self, index: int) -> int:
        """The first normal slot of a block; that of the next one ends it."""
        return -(-index * self._block * self._normal // self._window)

    def urgent_first(self, index: int) -> int:
        return -(-index * self._block * self._urgent // self._window)

    def time(self, slot: int) -> float:
        return slot * self._window / self._normal / _MICRO

    def urgent_time(self, slot: int) -> float:
        return slot * self._window / self._urgent / _MICRO

    def not_before(self, now: float) -> int:
        """The first normal slot that has not passed."""
        slot = math.floor(now * _MICRO) * self._normal // self._window
        while self.time(slot) < now:
            slot += 1
        return slot

    def urgent_from(self, block: Block, now: float) -> int | None:
        """The first urgent slot of the block that is free and has not passed."""
        slot = max(block.urgent_next, math.floor(now * _MICRO) * self._urgent // self._window)
        while self.urgent_time(slot) < now:
            slot += 1
        return slot if slot < self.urgent_first(block.index + 1) else None

    def urgent_until(self, moment: float) -> int:
        """The first urgent slot after the moment."""
        return math.floor(moment * _MICRO) * self._urgent // self._window + 1

    def share_from(self, block: Block, share: Share, now: float) -> tuple[int, int]:
        """The first slot of a share that is free and has not passed, and how many there are from it on."""
        stride = len(block.shares)
        slot = share.next
        if (missed := self.not_before(now) - slot) > 0:
            slot += -(-missed // stride) * stride
        return slot, max(0, -(-(self.first(block.index + 1) - slot) // stride))


def _open(book: SlotBook, grid: _Grid, index: int, holder: str) -> Block:
    """The block, opened if it is not, with the holder among those seen in it. Forgets blocks that have
    passed.
    """
    found = next((item for item in book.blocks if item.index == index), None)
    if found is None:
        before = next((item for item in book.blocks if item.index == index - 1), None)
        expected = sorted({holder, *(before.seen[: MOST_HOLDERS - 1] if before else ())})
        # Turned by one each block, so that nobody always has the first slot.
        turn = index % len(expected)
        first = grid.first(index)
        shares = [
            Share(holder=name, next=first + at) for at, name in enumerate(expected[turn:] + expected[:turn])
        ]
        found = Block(index=index, shares=shares, urgent_next=grid.urgent_first(index), seen=[])
        book.blocks = [item for item in book.blocks if item.index >= index - 1] + [found]
    if holder not in found.seen and len(found.seen) < MOST_HOLDERS:
        found.seen = sorted([*found.seen, holder])
    return found


def _from_block(block: Block, grid: _Grid, now: float, holder: str, lane: Lane, want: int) -> Lease | None:
    own = next((share for share in block.shares if share.holder == holder), None)
    urgent = grid.urgent_from(block, now)
    if lane is Lane.URGENT and urgent is not None:
        at, left = grid.share_from(block, own, now) if own else (0, 0)
        if not left or grid.urgent_time(urgent) <= grid.time(at):
            return _take_urgent(block, grid, now, urgent, min(want, 2))
    if own is not None and (taken := _take(block, grid, own, now, want)):
        return taken
    if now >= grid.start(block.index) + grid.length / 2:
        richest = max(block.shares, key=lambda share: grid.share_from(block, share, now)[1])
        if taken := _take(block, grid, richest, now, want):
            return taken
    if urgent is not None and (lent := grid.urgent_until(now + grid.horizon) - urgent) > 0:
        return _take_urgent(block, grid, now, urgent, min(want, lent))
    return None


def _take(block: Block, grid: _Grid, share: Share, now: float, want: int) -> Lease | None:
    slot, left = grid.share_from(block, share, now)
    if not left:
        return None
    count, stride = min(left, want), len(block.shares)
    share.next = slot + count * stride
    return _lease(grid, grid.time(slot) - now, grid.interval * stride, count)


def _take_urgent(block: Block, grid: _Grid, now: float, slot: int, want: int) -> Lease:
    count = min(want, grid.urgent_first(block.index + 1) - slot)
    block.urgent_next = slot + count
    return _lease(grid, grid.urgent_time(slot) - now, grid.urgent_interval, count)


def _lease(grid: _Grid, first_in: float, interval: float, count: int) -> Lease:
    return Lease(first_in=max(0.0, first_in), interval=interval, count=count, again_in=grid.horizon * 0.75)
