"""A campaign's memory: one small number per target, as arrays over the index. Pure; the time is passed in.

It is the input of each continue-as-new: 100,000 zones that propose 2,000 fingerprints, most of which are
rare, take under 256 KB, compressed, with three people's decisions; under 340 KB where all fingerprints are as
frequent, and were decided on one by one. The arrays are in
``target_table``, attempts and permits in ``attempts``, what zones report in ``zone_reports``, decisions in
``book``; here is what decisions do, and how all of it is carried on.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from edgeshift.campaign.book import DecisionBook, PackedBook
from edgeshift.campaign.packing import Bits as Bits
from edgeshift.campaign.packing import pack, pack_bits, pack_numbers, unpack, unpack_numbers
from edgeshift.campaign.target_states import AWAITING, OPEN, Place
from edgeshift.campaign.zone_reports import ROUND, ZoneReports
from edgeshift.messages import PackedLedger, Permit, Step
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Decision, SignOffPolicy, Tally, tally

DIGEST = 32
"""Bytes of a fingerprint."""

STEPS = tuple(Step)
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Rest(BaseModel):
    """``permits``: number, index, step, microseconds since 1970 until which each counts, and the place of its
    name's beginning in ``names``.
    """

    steps: list[int]
    book: PackedBook
    permits: list[tuple[int, int, int, int, int]] = []
    names: list[str] = []
    excluded: dict[int, str]
    excluded_for: dict[int, ReasonCode] = {}
    held: str = ""
    doubted: str = ""
    asked: dict[int, str] = {}
    overtaken: str = ""
    revived: str = ""
    reopened: str = ""
    ended_as: str = ""
    accepted: str = ""


class Ledger(ZoneReports):
    """All that a campaign remembers of its targets: what ``TargetTable`` says, what changes it, and what
    decisions do.
    """

    def decisions(self, index: int) -> list[Decision]:
        """What the book says of the target's fingerprint, for its wave."""
        shape = self.shape(index)
        return self.book.said(shape.fingerprint, self.places.wave_of(index)) if shape else []

    def overdue(self, now: datetime, after: timedelta) -> list[int]:
        """The targets that have waited for a sign-off at least this long.

        Ticks begin again after 655 times ``after``, so that what seems to have waited for more than half of
        that has begun just now, by a clock that was ahead.
        """
        current, most = self.ticks(now), -(-after // self.tick)
        waiting = self.indexes(*AWAITING)
        return [index for index in waiting if most < (current - self.since[index]) % ROUND < ROUND // 2]

    def apply_book(self, indexes: Iterable[int], policy: SignOffPolicy, by: str, now: datetime) -> None:
        """Let the book's decisions count for those of these few targets that wait for them."""
        for index in indexes:
            place, shape = self.places[index], self.shape(index)
            if place not in AWAITING or shape is None or shape.fingerprint not in self.book:
                continue
            wave, of = self.places.wave_of(index), frozenset({shape.fingerprint})
            goes_to = _goes_to(place, tally(self.book.said(shape.fingerprint, wave), of, policy, by, now))
            if goes_to is not None:
                self.places[index] = goes_to

    def apply_to(self, fingerprints: Iterable[str], policy: SignOffPolicy, by: str, now: datetime) -> int:
        """Let the book's decisions on these fingerprints count for every target that waits with one of them,
        a group at a time; for how many they do.
        """
        moved = 0
        for fingerprint in fingerprints:
            verdicts: dict[int | None, Tally] = {}
            alone, of = self.book.waves_of(fingerprint), frozenset({fingerprint})
            for number in self._numbers_of.get(fingerprint, ()):
                for group, size in list(self.waiters.groups(number)):
                    _, wave, place = group
                    about = wave if wave in alone else None
                    if about not in verdicts:
                        verdicts[about] = tally(self.book.said(fingerprint, wave), of, policy, by, now)
                    goes_to = _goes_to(place, verdicts[about])
                    if goes_to is not None:
                        self.places.move_together(self.waiters.take(group), wave, place, goes_to)
                        moved += size
        return moved

    def packed(self) -> PackedLedger:
        """The ledger as a model that continue-as-new carries, without numbers that no longer matter."""
        places = bytes(self.places)
        names: dict[str, int] = {}
        permits = [
            (
                permit.number,
                permit.index,
                STEPS.index(permit.step),
                (permit.expires_at - _EPOCH) // _MICROSECOND,
                names.setdefault(permit.name.removesuffix(f"-{permit.number}"), len(names)),
            )
            for permit in self.permits.values()
        ]
        rest = _Rest(
            steps=[STEPS.index(shape.step) for shape in self.known],
            book=self.book.packed([shape.fingerprint for shape in self.known]),
            permits=permits,
            names=list(names),
            excluded=self.excluded,
            excluded_for=self.excluded_codes,
            held=self._bits(self.held),
            doubted=self._bits(self.doubted),
            asked=self.asked,
            overtaken=self._bits(self.overtaken),
            revived=self._bits(self.revived),
            reopened=self._bits(self.reopened),
            accepted=self._bits(self.accepted),
            ended_as=pack(bytes(self.ended_as.get(index, 0) for index in range(self.count)))
            if self.ended_as
            else "",
        )
        return PackedLedger(
            places=pack(places),
            attempts=pack(bytes(self.attempts)),
            sequences=pack_numbers(self.sequences, places.translate(_OPEN)),
            shapes=pack_numbers(self.shapes),
            since=pack_numbers(self.since, places.translate(_WAITING)),
            known=pack(b"".join(bytes.fromhex(shape.fingerprint) for shape in self.known)),
            rest=pack(rest.model_dump_json().encode()),
        )

    def unpack(self, packed: PackedLedger) -> None:
        """Take over what ``packed`` carries. Raises ValueError where it does not have the form."""
        self.attempts = bytearray(unpack(packed.attempts))
        self.sequences = unpack_numbers(packed.sequences)
        self.shapes = unpack_numbers(packed.shapes)
        self.since = unpack_numbers(packed.since)
        rest = _Rest.model_validate_json(unpack(packed.rest))
        known = unpack(packed.known).hex()
        for place, step in enumerate(rest.steps):
            self.know(known[2 * DIGEST * place : 2 * DIGEST * (place + 1)], STEPS[step])
        self.book = DecisionBook.unpacked(rest.book, [shape.fingerprint for shape in self.known])
        for number, index, step, until, name in rest.permits:
            self.permits[number] = Permit(
                number=number,
                name=f"{rest.names[name]}-{number}",
                index=index,
                step=STEPS[step],
                expires_at=_EPOCH + until * _MICROSECOND,
            )
        self.excluded, self._excluded_for = rest.excluded, rest.excluded_for
        self.held = self._indexes_in(rest.held)
        self.doubted = self._indexes_in(rest.doubted)
        self.asked = rest.asked
        self.overtaken = self._indexes_in(rest.overtaken)
        self.revived = self._indexes_in(rest.revived)
        self.reopened = self._indexes_in(rest.reopened)
        self.accepted = self._indexes_in(rest.accepted)
        ended_as = unpack(rest.ended_as) if rest.ended_as else b""
        self.ended_as = {index: Place(place) for index, place in enumerate(ended_as) if place}
        self.places.take_over(unpack(packed.places))
        for index in self.indexes(*AWAITING):
            self.waiters.enter(index, self.group(index, self.places[index]))

    def _bits(self, indexes: set[int]) -> str:
        return pack_bits(indexes, self.count) if indexes else ""

    def _indexes_in(self, packed: str) -> set[int]:
        bits = Bits(packed)
        return {index for index in range(self.count) if index in bits} if packed else set()


def _where(places: Iterable[Place]) -> bytes:
    found = frozenset(places)
    return bytes(255 if place in found else 0 for place in range(256))


_OPEN, _WAITING = _where(OPEN), _where(AWAITING)
"""For each place, whether a target there counts words, and whether it has a waiting time."""


def _goes_to(place: int, verdict: Tally) -> Place | None:
    """Where a target goes that waits at ``place`` for a sign-off, or None where it goes on waiting."""
    if verdict is Tally.REJECTED:
        return Place.REJECTING
    # For one that waits for a sign-off of its own no approval of a fingerprint counts.
    return Place.READY if verdict is Tally.APPROVED and place == Place.AWAITING else None
