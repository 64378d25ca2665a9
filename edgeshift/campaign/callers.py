"""With which credential each of a campaign's targets calls, and whom a hold of calls stops. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from edgeshift.campaign.packing import as_text, of_text, pack_plain, unpack
from edgeshift.campaign.target_states import FINAL
from edgeshift.messages import Caller, Callers
from edgeshift.rate_limit.circuit import OpenCircuit

MOST_CALLERS = 255
"""Credentials that are told apart: a campaign file has no more (``service.credentials``)."""

HIDDEN = 255
"""What is at the place of a target that does not count. No target can be there."""

_OVER = bytes(HIDDEN if place in FINAL else 0 for place in range(256))


def callers_of(targets: Iterable[Caller]) -> Callers:
    """With which credential each target calls; empty where all call with the same one."""
    numbers: dict[Caller, int] = {}
    of_each = bytearray()
    for caller in targets:
        number = numbers.setdefault(caller, len(numbers))
        if number >= MOST_CALLERS:
            return Callers()
        of_each.append(number)
    if len(numbers) < 2:
        return Callers()
    return Callers(known=tuple(numbers), numbers=as_text(pack_plain(bytes(of_each))))


def hide(places: bytes, hidden: bytes) -> bytes:
    """The places with ``HIDDEN`` for each target that is hidden."""
    together = int.from_bytes(places) | int.from_bytes(hidden)
    return together.to_bytes(len(places))


class TargetCallers:
    """Which targets call with which credential. Raises ValueError where it is of another number of targets
    than ``count``.
    """

    def __init__(self, callers: Callers, count: int) -> None:
        self.known = callers.known
        self._numbers = unpack(of_text(callers.numbers)) if callers.numbers else b""
        if self.several and (len(self._numbers) != count or max(self._numbers) >= len(self.known)):
            raise ValueError(f"the credentials are not those of {count} targets")
        users: dict[str, int] = {}
        self._user_of = [users.setdefault(caller.user, len(users)) for caller in self.known]
        self.users = max(1, len(users))
        """How many users of the service the credentials are of; each has a rate limit of its own."""

    @property
    def several(self) -> bool:
        """Whether the targets call with different credentials."""
        return len(self.known) > 1

    def stopped_by(self, hold: OpenCircuit) -> frozenset[int]:
        """The numbers of the credentials whose calls a hold stops: all, where it names none of them."""
        everybody = frozenset(range(len(self.known)))
        if hold.credential:
            mine = {number for number in everybody if self.known[number].credential == hold.credential}
        else:
            mine = {number for number in everybody if self.known[number].user == hold.user}
        return frozenset(mine) or everybody

    def stopped(self, holds: Iterable[OpenCircuit]) -> frozenset[int]:
        """The numbers of the credentials whose calls any of the holds stops."""
        return frozenset[int]().union(*map(self.stopped_by, holds))

    def of_each(self) -> list[list[int]]:
        """The targets' indexes by the credential that they call with, where there are several."""
        found: dict[int, list[int]] = {}
        for index, number in enumerate(self._numbers):
            found.setdefault(number, []).append(index)
        return list(found.values())

    def targets(self, numbers: frozenset[int]) -> bytes:
        """A byte for each target: ``HIDDEN`` where it calls with one of these credentials, else 0. Empty
        where none does.
        """
        if not self.several or not numbers:
            return b""
        return self._numbers.translate(bytes(HIDDEN if number in numbers else 0 for number in range(256)))

    def user_of(self, index: int) -> int:
        """The number of the user whose calls a target's are."""
        return self._user_of[self._numbers[index]] if self.several else 0

    def others_than(self, user: int) -> bytes:
        """A byte for each target: ``HIDDEN`` where its calls are another user's, else 0."""
        return self.targets(frozenset(n for n, of in enumerate(self._user_of) if of != user))

    def users_left(self, places: bytes, stopped: bytes) -> frozenset[int]:
        """The users of whose targets any has no outcome yet and is not ``stopped`` (``HIDDEN`` each; empty
        where none is). ``places``: where each of the first targets is.
        """
        left = hide(self._numbers[: len(places)], places.translate(_OVER))
        if stopped:
            left = hide(left, stopped[: len(places)])
        return frozenset(self._user_of[number] for number in set(left) - {HIDDEN})

    def left(self, numbers: frozenset[int], places: bytes) -> int:
        """How many targets of these credentials, or of all where none is named, have no outcome yet.
        ``places``: where each target is.
        """
        others = self.targets(frozenset(range(len(self.known))) - numbers) if numbers else b""
        mine = hide(places, others) if others else places
        return len(mine.translate(None, bytes([*FINAL, HIDDEN])))
