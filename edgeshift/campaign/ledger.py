"""A campaign's memory: one small number per target, as arrays over the index. Pure; the time is passed in.

At 100,000 zones the whole of it, compressed, stays under 256 KB, since it is the input of each
continue-as-new.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from pydantic import BaseModel

from edgeshift.campaign.packing import Bits as Bits
from edgeshift.campaign.packing import pack, pack_numbers, unpack, unpack_numbers
from edgeshift.campaign.packing import pack_bits as pack_bits
from edgeshift.campaign.target_states import (
    AWAITING,
    KNOWN,
    LAST_WORDS,
    OUTCOME_PLACE,
    PLACE_OUTCOME,
    REOPENED,
    REPORTED,
    WAITS,
    Place,
    is_said,
)
from edgeshift.messages import BEFORE_SIGN_OFF, Book, Permit, ReportKind, Step, ZoneReport
from edgeshift.model.fleet import Wave, ZoneOutcome
from edgeshift.model.sign_off import SignOffPolicy, Tally, tally

MOST_SHAPES = 2_000
"""How many shapes are kept. A zone with another one waits for a sign-off of its own, by its own signal."""

MOST_NAMED = 500
"""How many exclusions are kept by name; the rest are counted."""


_ROUND = 65_536
"""Ticks that waiting times are told in, before they begin again."""


class Shape(BaseModel):
    """A fingerprint that was seen, and the step that it would be signed for."""

    fingerprint: str
    step: Step


class Packed(BaseModel):
    """A ledger as text, compressed: its arrays, and the JSON of the rest."""

    places: str
    attempts: str
    sequences: str
    shapes: str
    since: str
    rest: str


class _Rest(BaseModel):
    known: list[Shape]
    book: list[Book]
    permits: list[Permit]
    excluded: dict[int, str]
    held: str = ""
    overtaken: list[int] = []
    revived: list[int] = []
    reopened: str = ""
    ended_as: str = ""


class Ledger:
    """Places, attempts, sequences, shapes and waiting times of ``count`` targets, the book of decisions, the
    permits.

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
        self.ended_as: dict[int, Place] = {}
        """How the last attempt ended of targets that are to begin again and have not begun yet."""

    # --- what it knows

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

    def _entries(self) -> dict[str, list[Book]]:
        """The book by fingerprint, so that a decision on many shapes reads it once."""
        found: dict[str, list[Book]] = {}
        for entry in self.book:
            found.setdefault(entry.fingerprint, []).append(entry)
        return found

    def decisions(self, index: int, wave: int) -> Book:
        """What the book says of the target's fingerprint, over all entries that are for its wave."""
        shape = self.shape(index)
        found = Book(fingerprint=shape.fingerprint if shape else "", wave=wave)
        for entry in self.book:
            if shape and entry.fingerprint == shape.fingerprint and entry.wave in (None, wave):
                found.decisions.extend(entry.decisions)
        return found

    # --- what happens to it

    def begin(self, index: int) -> None:
        """The target is being started: a new attempt."""
        self.places[index] = Place.WORKING
        self.ended_as.pop(index, None)
        for known in (self.held, self.overtaken, self.revived):
            known.discard(index)
        self.attempts[index] = min(255, self.attempts[index] + 1)
        self.sequences[index] = 0
        self.shapes[index] = 0
        self.heard.add(index)

    def again(self, index: int, *, named: bool = False) -> None:
        """The target is to be started again. Where its fingerprint was rejected, people decide on it anew:
        neither the rejection nor any approval of before counts. ``named``: somebody asked for this very one.
        """
        if self.places[index] == Place.REJECTED and (shape := self.shape(index)):
            self.book = [entry for entry in self.book if entry.fingerprint != shape.fingerprint]
        place = self.places[index]
        if place == Place.REJECTED or (named and place in REOPENED):
            self.reopened.add(index)
        if self.places[index] != Place.EXCLUDED:
            self.ended_as[index] = Place(self.places[index])
        self.places[index] = Place.PENDING
        self.excluded.pop(index, None)

    def stand_down(self, index: int) -> None:
        """The target, which has not begun, is not to begin any more. What an earlier attempt came to
        stands.
        """
        if (before := self.ended_as.pop(index, None)) is None:
            self.finish(index, ZoneOutcome.ABORTED)
        else:
            self.places[index] = before

    def miss(self, index: int) -> bool:
        """The target that was to be started is not to be found, and nothing was ever sent to it: it is to be
        started in the same attempt, once. False: it was before, or has an outcome.
        """
        if index in self.missed or not self.is_open(index) or not self.attempts[index]:
            return False
        self.missed.add(index)
        self.settle_all(index)
        self.places[index] = Place.PENDING
        self.attempts[index] -= 1
        return True

    def exclude(self, index: int, reason: str) -> None:
        """The target was not started, and why."""
        self.settle_all(index)
        self.places[index] = Place.EXCLUDED
        if len(self.excluded) < MOST_NAMED:
            self.excluded[index] = reason[:120]

    def hear(self, report: ZoneReport, now: datetime) -> bool:
        """Take a zone's word in; whether it changed anything. Words of earlier attempts and duplicates do not
        count, but what they say of a permit does: a settled permit is settled.
        """
        index = report.index
        if not 0 <= index < self.count:
            return False
        settled = report.settles is not None and self.settle(report.settles, index)
        if report.attempt > self.attempts[index]:
            self.overtaken.add(index)
        if report.attempt != self.attempts[index]:
            return settled
        if not self.is_open(index):
            if self.places[index] >= Place.EXCLUDED and report.kind not in LAST_WORDS:
                self.revived.add(index)
            return settled
        if report.sequence <= self.sequences[index]:
            self.doubted.add(index)
            return settled
        self.sequences[index] = min(65535, report.sequence)
        self.heard.add(index)
        if report.kind is ReportKind.SERVICE:
            # It keeps its place: it takes its slot of the window, and goes on where it was.
            self.held.add(index)
            return True
        if report.kind is not ReportKind.SETTLED:
            self.held.discard(index)
        if report.kind is ReportKind.FINISHED:
            self.finish(index, report.outcome or ZoneOutcome.UNKNOWN)
        elif self.places[index] == Place.STOPPING:
            pass
        elif report.kind is ReportKind.AWAITING:
            self._propose(index, report, now)
            self.places[index] = Place.AWAITING if report.joins else Place.AWAITING_SEPARATE
        elif report.kind is ReportKind.READY:
            if report.fingerprint:
                self._propose(index, report, now)
            self.places[index] = Place.READY_VALIDATE if report.step in BEFORE_SIGN_OFF else Place.READY
        elif report.kind in REPORTED:
            self.places[index] = REPORTED[report.kind]
        elif report.unused and self.places[index] == Place.PERMITTED:
            self.places[index] = Place.READY_VALIDATE if report.step in BEFORE_SIGN_OFF else Place.READY
        return True

    def may_wait(self, index: int) -> bool:
        """Whether the target may wait for something else than is known: it holds no permit, and what it has
        said may have been said to a run that was reset since, or by one.
        """
        place = self.places[index]
        return place in WAITS or (
            place == Place.PERMITTED and all(permit.index != index for permit in self.permits.values())
        )

    def said_by(self, index: int) -> str:
        """What a word of the target would say that is no news: its kind and fingerprint, where that is known.
        Empty where any word is news. One that waits apart from others of its fingerprint, or with them, goes
        on so.
        """
        if index in self.held:
            return ReportKind.SERVICE.value
        kind = KNOWN.get(Place(self.places[index]))
        if kind is None:
            return ""
        shape = self.shape(index) if kind is ReportKind.AWAITING else None
        return f"{kind.value}:{shape.fingerprint if shape else ''}"

    def remember(self, report: ZoneReport, now: datetime) -> bool:
        """Take in what a target that ``may_wait`` has said last; whether it changed anything. A word of its
        own that came meanwhile is newer. Its words are counted from this one on.
        """
        index = report.index
        if not self.may_wait(index) or index in self.heard or report.attempt != self.attempts[index]:
            return False
        if is_said(report, self.said_by(index)):
            self.sequences[index] = min(self.sequences[index], report.sequence)
            return False
        if self.places[index] == Place.STOPPING:
            # It did not end by what it was told.
            self.places[index] = Place.WORKING
        self.sequences[index] = min(65534, max(0, report.sequence - 1))
        return self.hear(report.model_copy(update={"sequence": max(1, report.sequence)}), now)

    def take_up(self, index: int, attempt: int) -> bool:
        """The target is in this attempt, of which nothing has been heard; whether it is later than the one
        that is known, in which the target may have ended: the campaign began it before it was reset. It keeps
        a permit, which may have reached it.
        """
        if attempt <= self.attempts[index] or self.places[index] == Place.PENDING:
            return False
        if self.places[index] != Place.PERMITTED or self.may_wait(index):
            self.places[index] = Place.WORKING
        self.attempts[index] = min(255, attempt)
        self.sequences[index] = 0
        for known in (self.heard, self.held, self.doubted, self.overtaken, self.revived):
            known.discard(index)
        self.excluded.pop(index, None)
        return True

    def outcome(self, index: int) -> ZoneOutcome | None:
        """What the target has come to, if anything. One that was excluded has come to nothing."""
        return PLACE_OUTCOME.get(Place(self.places[index]))

    def finish(self, index: int, outcome: ZoneOutcome, attempt: int = 0) -> None:
        """The target has an outcome. ``attempt``: in which of its attempts, where that may be a later one
        than is known.
        """
        self.attempts[index] = max(self.attempts[index], min(255, attempt))
        self.settle_all(index)
        self.held.discard(index)
        self.doubted.discard(index)
        self.excluded.pop(index, None)
        self.places[index] = OUTCOME_PLACE[outcome]

    def _propose(self, index: int, report: ZoneReport, now: datetime) -> None:
        self.since[index] = self._ticks(now)
        step = report.step or Step.COMMIT
        number = self._numbers.get((report.fingerprint, step), 0)
        if not number and len(self.known) < MOST_SHAPES:
            self.known.append(Shape(fingerprint=report.fingerprint, step=step))
            number = self._numbers[report.fingerprint, step] = len(self.known)
        self.shapes[index] = number

    def _ticks(self, now: datetime) -> int:
        """The time in ticks, on a clock that begins again after 65,536 of them."""
        return max(0, (now - self.epoch) // self.tick) % _ROUND

    def overdue(self, now: datetime, after: timedelta) -> list[int]:
        """The targets that have waited for a sign-off at least this long.

        Ticks begin again after 655 times ``after``, so that what seems to have waited for more than half of
        that has begun just now, by a clock that was ahead.
        """
        current, most = self._ticks(now), -(-after // self.tick)
        waiting = self.indexes(*AWAITING)
        return [index for index in waiting if most < (current - self.since[index]) % _ROUND < _ROUND // 2]

    def apply_book(
        self, indexes: Iterable[int], waves: WaveIndex, policy: SignOffPolicy, by: str, now: datetime
    ) -> None:
        """Let the book's decisions count for those of the targets that wait for them."""
        entries = self._entries()
        verdicts: dict[tuple[int, int], Tally] = {}
        for index in indexes:
            if self.places[index] not in AWAITING or not self.shapes[index]:
                continue
            fingerprint = self.known[self.shapes[index] - 1].fingerprint
            if fingerprint not in entries:
                continue
            key = (self.shapes[index], waves.of(index))
            if key not in verdicts:
                decisions = [
                    decision
                    for entry in entries[fingerprint]
                    if entry.wave in (None, key[1])
                    for decision in entry.decisions
                ]
                verdicts[key] = tally(decisions, frozenset({fingerprint}), policy, by, now)
            if verdicts[key] is Tally.REJECTED:
                self.places[index] = Place.REJECTING
            elif verdicts[key] is Tally.APPROVED and self.places[index] == Place.AWAITING:
                self.places[index] = Place.READY

    # --- permits

    def permit(
        self, index: int, step: Step, prefix: str, expires_at: datetime, draw: Callable[[], int]
    ) -> Permit:
        """A new permit for a step of the target. ``draw``: gives a number at random, so that one which a run
        of the campaign gave out before it was reset does not come again.
        """
        while (number := draw()) in self.permits:
            pass
        permit = Permit(
            number=number, name=f"{prefix}-{number}", index=index, step=step, expires_at=expires_at
        )
        self.permits[number] = permit
        return permit

    def settle(self, number: int, index: int) -> bool:
        """The permit is used up or given back. Only its holder's word counts."""
        found = self.permits.get(number)
        if found is None or found.index != index:
            return False
        del self.permits[number]
        return True

    def settle_all(self, index: int) -> None:
        """Whatever permits the target holds are settled. One that is not open holds none."""
        if not self.is_open(index):
            return
        for number in [number for number, permit in self.permits.items() if permit.index == index]:
            del self.permits[number]

    def outstanding(self, now: datetime, after: timedelta) -> list[Permit]:
        """Permits under which something may still be sent: not settled, and not past their expiry by
        ``after``.
        """
        return [permit for permit in self.permits.values() if now < permit.expires_at + after]

    # --- carrying it on

    def packed(self) -> Packed:
        """The ledger as a model that continue-as-new carries, without numbers that no longer matter."""
        open_now = (place if Place.PENDING < place < Place.EXCLUDED else 0 for place in self.places)
        sequences = (number if place else 0 for number, place in zip(self.sequences, open_now, strict=True))
        waiting = (place in AWAITING for place in self.places)
        since = (number if waits else 0 for number, waits in zip(self.since, waiting, strict=True))
        rest = _Rest(
            known=self.known,
            book=self.book,
            permits=list(self.permits.values()),
            excluded=self.excluded,
            held=pack_bits(self.held, self.count) if self.held else "",
            overtaken=sorted(self.overtaken),
            revived=sorted(self.revived),
            reopened=pack_bits(self.reopened, self.count) if self.reopened else "",
            ended_as=pack(bytes(self.ended_as.get(index, 0) for index in range(self.count)))
            if self.ended_as
            else "",
        )
        return Packed(
            places=pack(bytes(self.places)),
            attempts=pack(bytes(self.attempts)),
            sequences=pack_numbers(sequences),
            shapes=pack_numbers(self.shapes),
            since=pack_numbers(since),
            rest=pack(rest.model_dump_json().encode()),
        )

    def unpack(self, packed: Packed) -> None:
        """Take over what ``packed`` carries."""
        self.places = bytearray(unpack(packed.places))
        self.attempts = bytearray(unpack(packed.attempts))
        self.sequences = unpack_numbers(packed.sequences)
        self.shapes = unpack_numbers(packed.shapes)
        self.since = unpack_numbers(packed.since)
        rest = _Rest.model_validate_json(unpack(packed.rest))
        self.known = rest.known
        self._numbers = {(shape.fingerprint, shape.step): place for place, shape in enumerate(self.known, 1)}
        self.book = rest.book
        self.permits = {permit.number: permit for permit in rest.permits}
        self.excluded = rest.excluded
        bits = Bits(rest.held)
        self.held = {index for index in range(self.count) if index in bits} if rest.held else set()
        self.overtaken = set(rest.overtaken)
        self.revived = set(rest.revived)
        reopened = Bits(rest.reopened)
        self.reopened = (
            {index for index in range(self.count) if index in reopened} if rest.reopened else set()
        )
        ended_as = unpack(rest.ended_as) if rest.ended_as else b""
        self.ended_as = {index: Place(place) for index, place in enumerate(ended_as) if place}


class WaveIndex:
    """Which wave an index is in."""

    def __init__(self, waves: tuple[Wave, ...]) -> None:
        self.waves = waves
        self._ends = [wave.end for wave in waves]

    def of(self, index: int) -> int:
        """The number of the wave that holds ``index``."""
        return self.waves[bisect_right(self._ends, index)].number
