"""What a campaign knows of each target, as arrays over the index, and what can be asked of it. Pure."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from pydantic import BaseModel

from edgeshift.campaign.packing import unpack_numbers
from edgeshift.campaign.target_states import FAILURES, PLACE_OUTCOME, Place
from edgeshift.messages import Book, Permit, Step
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode


class Shape(BaseModel):
    """A fingerprint that was seen, and the step that it would be signed for."""

    fingerprint: str
    step: Step


class TargetTable:
    """Places, attempts, sequences, shapes and waiting times of ``count`` targets, the book of decisions, the
    permits. The classes built on it, up to ``Ledger``, change it.

    ``tick`` is the unit of waiting times; ``epoch`` the campaign's start. ``covers``: packed, how many zones
    each target stands for; empty where each is one.
    """

    def __init__(self, count: int, epoch: datetime, tick: timedelta, covers: str = "") -> None:
        self.count = count
        self._covers = unpack_numbers(covers) if covers else None
        self.epoch = epoch
        self.tick = max(tick, timedelta(milliseconds=1))
        self.places = bytearray(count)
        self.attempts = bytearray(count)
        self.sequences = array("H", bytes(2 * count))
        self.shapes = array("H", bytes(2 * count))
        self.since = array("H", bytes(2 * count))
        self.known: list[Shape] = []
        self._numbers: dict[tuple[str, Step], int] = {}
        self.book: list[Book] = []
        self.permits: dict[int, Permit] = {}
        self.excluded: dict[int, str] = {}
        self._excluded_for: dict[int, ReasonCode] = {}
        self.heard: set[int] = set()
        self.held: set[int] = set()
        self.doubted: set[int] = set()
        """Targets of which a word came with a number that was heard before: it came twice, or the target was
        reset and counts from a lower one.
        """
        self.overtaken: set[int] = set()
        """Targets of which a word came from a later attempt than is known, until they are looked at: the
        campaign was reset to before it began that.
        """
        self.revived: set[int] = set()
        """Targets that have ended, and of which a word came since, as where somebody reset their workflow.
        They are to be told that nobody waits for them.
        """
        self.missed: set[int] = set()
        """Targets that were to be started and were not to be found, and are started once more."""
        self.reopened: set[int] = set()
        """Targets that a person has reopened: no rejection of before counts, not even an earlier run's."""
        self.accepted: set[int] = set()
        """Targets whose failure a person has accepted."""
        self.ended_as: dict[int, Place] = {}
        """How the last attempt ended of targets that are to begin again and have not begun yet."""

    def indexes(self, *places: Place, first: int = 0, end: int | None = None) -> Iterator[int]:
        """The targets at these places, in order."""
        wanted = frozenset(places)
        stop = self.count if end is None else end
        if len(wanted) == 1:
            at = self.places.find(next(iter(wanted)), first, stop)
            while at >= 0:
                yield at
                at = self.places.find(next(iter(wanted)), at + 1, stop)
            return
        yield from (index for index in range(first, stop) if self.places[index] in wanted)

    def number(self, *places: Place, first: int = 0, end: int | None = None) -> int:
        """How many targets are at these places."""
        stop = self.count if end is None else end
        return sum(self.places.count(place, first, stop) for place in places)

    def covered(self, index: int) -> int:
        """How many zones the target stands for."""
        return self._covers[index] if self._covers else 1

    def zones(self, *places: Place) -> int:
        """How many zones the targets at these places stand for."""
        if self._covers is None:
            return self.number(*places)
        return sum(map(self.covered, self.indexes(*places)))

    def failures(self) -> int:
        """How many zones failed, are unknown or were rolled back, and that nobody has accepted yet."""
        accepted = (index for index in self.accepted if self.places[index] in FAILURES)
        return self.zones(*FAILURES) - sum(map(self.covered, accepted))

    def accept_failures(self) -> None:
        """A person goes on in spite of every failure so far."""
        self.accepted.update(self.indexes(*FAILURES))

    def within(self, indexes: Iterable[int], zones: int, most: int) -> list[int]:
        """The first of the targets, at most ``most``, that stand for no more than ``zones`` zones
        together.
        """
        found: list[int] = []
        for index in indexes:
            zones -= self.covered(index)
            if zones < 0 or len(found) == most:
                break
            found.append(index)
        return found

    def tallies(self, first: int = 0, end: int | None = None) -> dict[str, int]:
        """The number of targets by the lower-case name of their place."""
        found = Counter(self.places[first : self.count if end is None else end])
        return {Place(place).name.lower(): number for place, number in sorted(found.items())}

    def finished(self, first: int = 0, end: int | None = None) -> int:
        """How many targets have a final place."""
        stop = self.count if end is None else end
        return sum(self.places.count(place, first, stop) for place in Place if place >= Place.EXCLUDED)

    def is_open(self, index: int) -> bool:
        """Whether the target has been started and has no outcome yet."""
        return Place.PENDING < self.places[index] < Place.EXCLUDED

    def shape(self, index: int) -> Shape | None:
        """The shape that the target last proposed."""
        number = self.shapes[index]
        return self.known[number - 1] if number else None

    @property
    def excluded_codes(self) -> dict[int, ReasonCode]:
        """Why those are excluded that are kept by name."""
        return {index: self._excluded_for.get(index, ReasonCode.OTHER) for index in self.excluded}

    def outcome(self, index: int) -> ZoneOutcome | None:
        """What the target has come to, if anything. One that was excluded has come to nothing."""
        return PLACE_OUTCOME.get(Place(self.places[index]))
