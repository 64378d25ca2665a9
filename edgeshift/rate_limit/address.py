"""A second bound beside that of each user: how many calls are made from one address in a second, by all
processes that call from it (docs/service.md §8).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.others import Told
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.rate_limit.terms import MOST_REQUESTS, Lane, PaceTerms

SHARE = 0.93
"""The part of the limit that is used. In a second that has more calls than others, each may have been up to a
twentieth of a second late, and the way to the service takes one longer than another.
"""

SECONDS = 10.0
"""Of the window as it is leased: slots are evenly spaced, so that no second has more than its part."""


def address_terms(per_second: float) -> PaceTerms:
    """The terms of an address of which the service takes so many calls a second."""
    limit = int(per_second * SECONDS * SHARE)
    return PaceTerms(limit=min(max(10, limit), MOST_REQUESTS), window=SECONDS)


class OfUser(Pacer, Protocol):
    """A pacer whose calls may have their slot and wait elsewhere still."""

    def elsewhere(self) -> AbstractContextManager[None]:
        """While one does."""


class ByAddress:
    """A user's pacer whose calls also take their turn among all calls from the same address. It is for
    processes that call as many users: one user's limit is far below. No more than a few calls that have
    their user's slot wait for the address: once others call less, they would all leave beside later ones.
    """

    def __init__(self, user: OfUser, address: Pacer) -> None:
        self._user = user
        self._address = address

    @property
    def turn_lasts(self) -> float:
        """As long as the user's: the address has a second to itself, again and again."""
        return self._user.turn_lasts

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """The user's slot first, then the turn of the address. Raises what the user's pacer raises, and
        NoLease.
        """
        await self._user.acquire(lane, credential)
        try:
            with self._user.elsewhere():
                await self._address.acquire(lane)
        except BaseException:
            self._user.ended(Fate.NOT_MADE, credential=credential)
            raise

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        """A call that had its turn is over."""
        self._address.ended(fate)
        self._user.ended(fate, said, credential)

    def told(self, said: Told, took: float) -> None:
        """An answer says how much of the limit is left."""
        self._user.told(said, took)

    def blocked(self, seconds: float) -> None:
        """The service refuses every call of this user for so many seconds."""
        self._user.blocked(seconds)
