"""A campaign's memory: one small number per target, as arrays over the index. Pure; the time is passed in.

At 100,000 zones the whole of it, compressed, stays under 256 KB, since it is the input of each
continue-as-new. The arrays are in ``target_table``, attempts and permits in ``attempts``, what zones report
in ``zone_reports``; here are the decisions, and how all of it is carried on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime, timedelta

from pydantic import BaseModel

from edgeshift.campaign.packing import Bits as Bits
from edgeshift.campaign.packing import pack, pack_bits, pack_numbers, unpack, unpack_numbers
from edgeshift.campaign.target_states import AWAITING, Place
from edgeshift.campaign.target_table import Shape
from edgeshift.campaign.zone_reports import ROUND, ZoneReports
from edgeshift.messages import Book, PackedLedger, Permit
from edgeshift.model.fleet import Wave
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import SignOffPolicy, Tally, tally


class _Rest(BaseModel):
    known: list[Shape]
    book: list[Book]
    permits: list[Permit]
    excluded: dict[int, str]
    excluded_for: dict[int, ReasonCode] = {}
    held: str = ""
    overtaken: list[int] = []
    revived: list[int] = []
    reopened: str = ""
    ended_as: str = ""
    accepted: str = ""


class WaveIndex:
    """Which wave an index is in."""

    def __init__(self, waves: tuple[Wave, ...]) -> None:
        self.waves = waves
        self._ends = [wave.end for wave in waves]

    def of(self, index: int) -> int:
        """The number of the wave that holds ``index``."""
        return self.waves[bisect_right(self._ends, index)].number


class Ledger(ZoneReports):
    """All that a campaign remembers of its targets: what ``TargetTable`` says, what changes it, the book of
    decisions.
    """

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

    def overdue(self, now: datetime, after: timedelta) -> list[int]:
        """The targets that have waited for a sign-off at least this long.

        Ticks begin again after 655 times ``after``, so that what seems to have waited for more than half of
        that has begun just now, by a clock that was ahead.
        """
        current, most = self.ticks(now), -(-after // self.tick)
        waiting = self.indexes(*AWAITING)
        return [index for index in waiting if most < (current - self.since[index]) % ROUND < ROUND // 2]

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

    def packed(self) -> PackedLedger:
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
            excluded_for=self.excluded_codes,
            held=pack_bits(self.held, self.count) if self.held else "",
            overtaken=sorted(self.overtaken),
            revived=sorted(self.revived),
            reopened=pack_bits(self.reopened, self.count) if self.reopened else "",
            accepted=pack_bits(self.accepted, self.count) if self.accepted else "",
            ended_as=pack(bytes(self.ended_as.get(index, 0) for index in range(self.count)))
            if self.ended_as
            else "",
        )
        return PackedLedger(
            places=pack(bytes(self.places)),
            attempts=pack(bytes(self.attempts)),
            sequences=pack_numbers(sequences),
            shapes=pack_numbers(self.shapes),
            since=pack_numbers(since),
            rest=pack(rest.model_dump_json().encode()),
        )

    def unpack(self, packed: PackedLedger) -> None:
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
        self.excluded, self._excluded_for = rest.excluded, rest.excluded_for
        self.held = self._indexes_in(rest.held)
        self.overtaken = set(rest.overtaken)
        self.revived = set(rest.revived)
        self.reopened = self._indexes_in(rest.reopened)
        self.accepted = self._indexes_in(rest.accepted)
        ended_as = unpack(rest.ended_as) if rest.ended_as else b""
        self.ended_as = {index: Place(place) for index, place in enumerate(ended_as) if place}

    def _indexes_in(self, packed: str) -> set[int]:
        bits = Bits(packed)
        return {index for index in range(self.count) if index in bits} if packed else set()
