"""How the free places of a window are shared between users of the service, each with a rate limit of its own.
Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush


def most_of_one(window: int, others: int, *, apart: bool = False) -> int:
    """How many of the window's places one user may have while so many others have targets left: half of the
    share of each of these is kept for it. They may all wait for people now, and what they are agreed to is
    not to wait for places of which none comes free while this user's calls are blocked. Of the halves
    together, less than a place is rounded up to one; ``apart``: of each by itself, as in campaigns that began
    so, where many users leave hardly a place to any of them.
    """
    shares = 2 * (others + 1)
    kept = others * -(-window // shares) if apart else -(-window * others // shares)
    return max(1, window - kept)


@dataclass(frozen=True)
class Claims:
    """One user's targets: for how many zones it has places, and which come next: those that are ``ready``
    for a step, then those that are ``pending``, each in their order. ``most``: how many zones may work.
    """

    taken: int
    most: int
    ready: Iterator[int]
    pending: Iterator[int]

    def in_order(self) -> Iterator[tuple[int, bool]]:
        """Each with whether it is pending. Those that hold a sign-off come before new ones."""
        yield from ((index, False) for index in self.ready)
        yield from ((index, True) for index in self.pending)


def in_turn(free: int, users: Sequence[Claims], covered: Callable[[int], int]) -> Iterator[tuple[int, bool]]:
    """The targets that the ``free`` places (zones) go to, each with whether it is pending.

    Each place goes to the user that has the fewest, of those that have somebody for it and not ``most``: one
    whose calls are slow or refused ends with its share, and the others go on. As where all are one user's
    (``TargetTable.within``), places are left free for a target that needs more than there are; and one that
    stands for more zones than its user may have goes alone. A pending one that needs more than there are
    holds back no ready one, whose people have signed: only other pending ones, so that those run out.
    ``covered``: how many zones a target stands for.
    """
    next_ones = [claims.in_order() for claims in users]
    turns = [(claims.taken, number) for number, claims in enumerate(users)]
    heapify(turns)
    no_new = False
    while turns and free > 0:
        taken, number = heappop(turns)
        following = next(next_ones[number], None)
        if following is None:
            continue
        zones = covered(following[0])
        if taken and taken + zones > users[number].most:
            continue
        if following[1] and (no_new or zones > free):
            # Its user has no ready one left, since those come first.
            no_new = True
            continue
        if zones > free:
            return
        yield following
        free -= zones
        heappush(turns, (taken + zones, number))
