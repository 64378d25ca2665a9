"""What a campaign knows of each target, as arrays over the index, and what can be asked of it. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from pydantic import BaseModel

from edgeshift.campaign.book import DecisionBook
from edgeshift.campaign.packing import of_text, unpack_numbers
from edgeshift.campaign.permits import Permits
from edgeshift.campaign.state_counts import TargetStates
from edgeshift.campaign.target_states import AWAITING, FAILURES, FINAL, IN_FLIGHT, PLACE_OUTCOME, TargetState
from edgeshift.campaign.waiters import Group, Waiters
from edgeshift.messages import BEFORE_SIGN_OFF, Step, ZoneReport
from edgeshift.model.fleet import Wave, ZoneOutcome
from edgeshift.model.reasons import ReasonCode


class FingerprintGroup(BaseModel):
    """A fingerprint that was seen, and the step that it would be signed for."""

    fingerprint: str
    step: Step


class TargetTable:
    """States, attempts, sequences, fingerprint groups and waiting times of ``count`` targets, the book of
    decisions, the permits. The classes built on it, up to ``Ledger``, change it. What a message needs to know
    of all of them is counted as it changes; a walk over all is for what happens once a sweep.

    ``tick`` is the unit of waiting times; ``epoch`` the campaign's start. ``covers``: how many zones each
    target stands for, packed, as text; empty where each is one. ``waves``: empty where all are in one.
    """

    def __init__(
        self, count: int, epoch: datetime, tick: timedelta, covers: str = "", waves: Sequence[Wave] = ()
    ) -> None:
        self.count = count
        self._covers = unpack_numbers(of_text(covers)) if covers else None
        self.largest = max(self._covers, default=1) if self._covers else 1
        """The most zones that one target stands for."""
        self.epoch = epoch
        self.tick = max(tick, timedelta(milliseconds=1))
        self.places = TargetStates(count, [wave.end for wave in waves], self._covers, self._moved)
        self.waiters = Waiters()
        """Who waits for a sign-off, by fingerprint group and wave."""
        self.attempts = bytearray(count)
        self.sequences = array("H", bytes(2 * count))
        self.group_numbers = array("H", bytes(2 * count))
        """The fingerprint group of each target, as its place in ``known``, from 1; 0: none that is kept."""
        self.since = array("H", bytes(2 * count))
        self.known: list[FingerprintGroup] = []
        self._numbers: dict[tuple[str, Step], int] = {}
        self._numbers_of: dict[str, list[int]] = {}
        """The numbers of each fingerprint's groups."""
        self.book = DecisionBook()
        self.permits = Permits()
        self.excluded: dict[int, str] = {}
        self._excluded_for: dict[int, ReasonCode] = {}
        self.recently_reported: set[int] = set()
        self.held: set[int] = set()
        self.idle: set[int] = set()
        """Of those that wait for the service, the ones of which nothing is in flight."""
        self.duplicate_sequences: set[int] = set()
        """Targets of which a word came with a number that was heard before: it came twice, or the target was
        reset and counts from a lower one.
        """
        self.asked: dict[int, str] = {}
        """Targets that have said again what they wait for, and the beginning of the run in which they did."""
        self.newer_attempts: set[int] = set()
        """Targets of which a word came from a later attempt than is known, until they are looked at: the
        campaign was reset to before it began that.
        """
        self.proves_ends = False
        """Whether a word that a target has ended is only looked into, by what workers have signed."""
        self.keeps_places = False
        """Whether a target takes a place in the window as long as a change of it may be in flight, whatever
        else it has said: its workflow may have been reset.
        """
        self.ended_words: dict[int, ZoneReport] = {}
        """The last of such words, of targets that have not been looked at since."""
        self.woken_after_end: set[int] = set()
        """Targets that have ended, and of which a word came since, as where somebody reset their workflow.
        They are to be told that nobody waits for them.
        """
        self.missed: set[int] = set()
        """Targets that were to be started and were not to be found, and are started once more."""
        self.reopened: set[int] = set()
        """Targets that a person has reopened: no rejection of before counts, not even an earlier run's."""
        self.uncounted: set[int] = set()
        """Targets that ended at the door, where no sign-off of theirs counted."""
        self.accepted: set[int] = set()
        """Targets whose failure a person has accepted."""
        self.ended_as: dict[int, TargetState] = {}
        """How the last attempt ended of targets that are to begin again and have not begun yet."""

    def _moved(self, index: int, before: int, place: int) -> None:
        if before in AWAITING:
            self.waiters.leave(index, self.group(index, before))
        if place in AWAITING:
            self.waiters.enter(index, self.group(index, place))

    def group(self, index: int, place: int) -> Group:
        """The group in which the target waits for a sign-off at this place."""
        return (self.group_numbers[index], self.places.wave_of(index), place)

    def propose(self, index: int, number: int) -> None:
        """The target is of this fingerprint group from now on; 0: of one that is not kept."""
        place = self.places[index]
        if place in AWAITING:
            self.waiters.leave(index, self.group(index, place))
        self.group_numbers[index] = number
        if place in AWAITING:
            self.waiters.enter(index, self.group(index, place))

    def know(self, fingerprint: str, step: Step) -> int:
        """The number of a new fingerprint group."""
        self.known.append(FingerprintGroup(fingerprint=fingerprint, step=step))
        number = self._numbers[fingerprint, step] = len(self.known)
        self._numbers_of.setdefault(fingerprint, []).append(number)
        return number

    def is_known(self, fingerprint: str) -> bool:
        """Whether a target has proposed the fingerprint."""
        return fingerprint in self._numbers_of

    def indexes(
        self, *places: TargetState, first: int = 0, end: int | None = None, hidden: bytes = b""
    ) -> Iterator[int]:
        """The targets at these places, in order. ``hidden``: those that are left out."""
        return self.places.indexes(places, first, self.count if end is None else end, hidden)

    def number(self, *places: TargetState, wave: int | None = None) -> int:
        """How many targets are at these places, in one wave or in all."""
        return sum(self.places.number(place, wave) for place in places)

    def covered(self, index: int) -> int:
        """How many zones the target stands for."""
        return self._covers[index] if self._covers else 1

    def zones(self, *places: TargetState) -> int:
        """How many zones the targets at these places stand for."""
        return sum(map(self.places.zones, places))

    def set_down(self, stopped: bytes) -> int:
        """How many zones take no place in the window though they work: of the ``stopped`` targets (``HIDDEN``
        each), those that wait for the service, have nothing in flight and hold no permit.
        """
        return sum(map(self.covered, self._set_down(stopped)))

    def _set_down(self, stopped: bytes) -> set[int]:
        indexes = (index for index in self.held & self.idle if stopped and stopped[index])
        return {index for index in indexes if self.places[index] in IN_FLIGHT and not self.permits.of(index)}

    def in_flight(self) -> int:
        """How many zones take a place in the window: those of targets that work, and of those that hold a
        permit to change what was signed though they have said that they wait, as one may whose workflow was
        reset.
        """
        return self.zones(*IN_FLIGHT) + sum(map(self.covered, self._waiting_with_a_permit()))

    def taking_places(self, stopped: bytes) -> Iterator[int]:
        """The targets that take places in the window: as many zones as are ``in_flight`` and not
        ``set_down``.
        """
        set_down = self._set_down(stopped)
        yield from (index for index in self.indexes(*IN_FLIGHT) if index not in set_down)
        yield from self._waiting_with_a_permit()

    def _waiting_with_a_permit(self) -> list[int]:
        if not self.keeps_places:
            return []
        return [index for index in self.permits.holders() if self._may_change(index)]

    def _may_change(self, index: int) -> bool:
        """Whether a target that does not work may change what was signed all the same."""
        if self.places[index] in IN_FLIGHT or not self.is_open(index):
            return False
        steps = (self.permits[number].step for number in self.permits.of(index))
        return any(step not in BEFORE_SIGN_OFF for step in steps)

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

    def tallies(self, wave: int | None = None) -> dict[str, int]:
        """The number of targets by the lower-case name of their place, in one wave or in all."""
        counts = ((place, self.places.number(place, wave)) for place in TargetState)
        return {place.word: number for place, number in counts if number}

    def finished(self, waves: int | None = None) -> int:
        """How many targets have a final place: in the first waves, or in all."""
        if waves is None:
            return self.number(*FINAL)
        return sum(self.number(*FINAL, wave=wave) for wave in range(waves))

    def open_runs(self) -> int:
        """How many targets have been started and have no outcome yet."""
        return self.count - self.number(TargetState.PENDING) - self.finished()

    def is_open(self, index: int) -> bool:
        """Whether the target has been started and has no outcome yet."""
        return TargetState.PENDING < self.places[index] < TargetState.EXCLUDED

    def fingerprint_group(self, index: int) -> FingerprintGroup | None:
        """The fingerprint group of what the target last proposed."""
        number = self.group_numbers[index]
        return self.known[number - 1] if number else None

    @property
    def excluded_codes(self) -> dict[int, ReasonCode]:
        """Why those are excluded that are kept by name."""
        return {index: self._excluded_for.get(index, ReasonCode.OTHER) for index in self.excluded}

    def outcome(self, index: int) -> ZoneOutcome | None:
        """What the target has come to, if anything. One that was excluded has come to nothing."""
        return PLACE_OUTCOME.get(TargetState(self.places[index]))
