"""Who waits for a turn to call, and who is next."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from edgeshift.rate_limit.errors import TurnRefused
from edgeshift.rate_limit.terms import Lane

IN_A_ROW = 7
"""Turns that others have at most, one after the other, before one who waits and is not urgent. At full pace
somebody urgent always waits, and a plan, a list or the readings of a campaign would wait until its end.
"""


@dataclass(frozen=True, eq=False)
class Waiting:
    """Who waits for a turn, in which lane, and with which credential. ``ahead``: for a step that has begun;
    ``patience``: seconds for which the user may be blocked (edgeshift/rate_limit/in_hand.py).
    """

    turn: asyncio.Future[None]
    lane: Lane
    credential: str
    ahead: bool = False
    patience: float = math.inf


class Line:
    """Whoever waits: steps that have begun first, then the urgent ones, then all others, each in the order of
    its arrival; of eight turns in a row, these others have one.
    """

    def __init__(self) -> None:
        self._ahead: deque[Waiting] = deque()
        self._lanes: dict[Lane, deque[Waiting]] = {Lane.URGENT: deque(), Lane.NORMAL: deque()}
        self._in_a_row = 0
        """Turns that went by since somebody waits who is not urgent, or since the last one of these."""

    def __len__(self) -> int:
        return sum(map(len, self._all()))

    @property
    def urgent(self) -> bool:
        """Whether anybody waits whom slots of the urgent lane are for."""
        return bool(self._ahead or self._lanes[Lane.URGENT])

    def add(self, one: Waiting) -> None:
        """Somebody comes."""
        (self._ahead if one.ahead else self._lanes[one.lane]).append(one)

    def remove(self, one: Waiting) -> None:
        """Somebody leaves, who may have been called up meanwhile."""
        with suppress(ValueError):
            (self._ahead if one.ahead else self._lanes[one.lane]).remove(one)

    def any(self, may_go: Callable[[Waiting], bool]) -> bool:
        """Whether anybody waits who may go."""
        return any(may_go(one) for waiting in self._all() for one in waiting)

    def next(self, may_go: Callable[[Waiting], bool]) -> Waiting | None:
        """Whose turn it is, of those who may go; it waits no longer, nor do those who have left."""
        normal = self._lanes[Lane.NORMAL]
        order = self._all() if self._in_a_row < IN_A_ROW else (normal, *self._all())
        for waiting in order:
            if (one := _first(waiting, may_go)) is not None:
                self._in_a_row = self._in_a_row + 1 if normal and waiting is not normal else 0
                return one
        return None

    def refuse(self, why: Callable[[Waiting], TurnRefused | None]) -> None:
        """Those for whom there is a reason wait in vain."""
        for waiting in self._all():
            here = tuple(waiting)
            waiting.clear()
            for one in here:
                if (reason := why(one)) is None:
                    waiting.append(one)
                elif not one.turn.done():
                    one.turn.set_exception(reason)

    def cancel(self) -> None:
        """Nobody waits any longer."""
        for waiting in self._all():
            for one in waiting:
                one.turn.cancel()

    def _all(self) -> tuple[deque[Waiting], ...]:
        return (self._ahead, self._lanes[Lane.URGENT], self._lanes[Lane.NORMAL])


def _first(waiting: deque[Waiting], may_go: Callable[[Waiting], bool]) -> Waiting | None:
    """Take out the first one who may go, and those before it who have left."""
    place = 0
    while place < len(waiting):
        one = waiting[place]
        if not one.turn.done() and not may_go(one):
            place += 1
            continue
        del waiting[place]
        if not one.turn.done():
            return one
    return None
