"""A campaign's memory: one small number per target, as arrays over the index. Pure; the time is passed in.

Packed, it is an input of each continue-as-new: 100,000 zones that propose 2,000 fingerprints take under
256,000 bytes with three people's decisions, also where all fingerprints are as frequent and were decided on
one by one, if the zones came to wait about one after the other. Where they came to wait in any order over all
of the time after which sign-offs expire, it is up to 320,000. The arrays are in ``target_table``, attempts
and permits in ``attempts``, what zones report in ``zone_reports``, decisions in ``book``; here is what
decisions do, and how all of it is carried on.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import compress

from pydantic import BaseModel

from edgeshift.campaign.book import DecisionBook
from edgeshift.campaign.packing import (
    Bits,
    as_text,
    join,
    of_text,
    pack,
    pack_bits,
    pack_numbers,
    pack_plain,
    split,
    unpack,
    unpack_numbers,
)
from edgeshift.campaign.target_states import AWAITING, OPEN, TargetState
from edgeshift.campaign.zone_reports import ROUND, ZoneReports
from edgeshift.messages import Permit, Step
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Decision, SignOffPolicy, Tally, tally

FORM = 1
"""The form of a packed ledger, which is its first byte."""

DIGEST = 32
"""Bytes of a fingerprint."""

STEPS = tuple(Step)
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


PARTS = (
    "places",
    "attempts",
    "sequences",
    "shapes",
    "since",
    "known",
    "steps",
    "book",
    "ended_as",
    "rest",
)
"""What a packed ledger begins with, in this order; sets of targets follow (``Ledger._sets``). A change here
is a new ``FORM``.
"""

_STEP_NUMBER = {step: number for number, step in enumerate(STEPS)}


class _Rest(BaseModel):
    """``permits``: number, index, step, microseconds since 1970 until which each counts, and the place of its
    name's beginning in ``names``. ``uncounted``: a set of targets, packed, as text.
    """

    permits: list[tuple[int, int, int, int, int]] = []
    names: list[str] = []
    excluded: dict[int, str]
    excluded_for: dict[int, ReasonCode] = {}
    asked: dict[int, str] = {}
    idle: list[int] = []
    uncounted: str = ""


class Ledger(ZoneReports):
    """All that a campaign remembers of its targets: what ``TargetTable`` says, what changes it, and what
    decisions do.
    """

    def decisions(self, index: int) -> list[Decision]:
        """What the book says of the target's fingerprint, for its wave."""
        group = self.fingerprint_group(index)
        return self.book.said(group.fingerprint, self.places.wave_of(index)) if group else []

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
            place, group = self.places[index], self.fingerprint_group(index)
            if place not in AWAITING or group is None or group.fingerprint not in self.book:
                continue
            wave, of = self.places.wave_of(index), frozenset({group.fingerprint})
            goes_to = _goes_to(place, tally(self.book.said(group.fingerprint, wave), of, policy, by, now))
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

    def packed(self) -> bytes:
        """The ledger as continue-as-new carries it, without numbers that no longer matter: the form's number,
        then the parts of ``PARTS``, each with its length in front.
        """
        places = bytes(self.places)
        known = [group.fingerprint for group in self.known]
        ended_as = bytes(self.ended_as.get(index, 0) for index in range(self.count)) if self.ended_as else b""
        parts = {
            "places": pack_plain(places),
            "attempts": pack_plain(bytes(self.attempts)),
            "sequences": pack_numbers(self.sequences, places.translate(_OPEN)),
            "shapes": pack_numbers(self.group_numbers),
            "since": pack_numbers(self.since, places.translate(_WAITING)),
            # As good as random: there is nothing to compress.
            "known": bytes.fromhex("".join(known)),
            "steps": pack(bytes(_STEP_NUMBER[group.step] for group in self.known)),
            "book": self.book.packed(known),
            "ended_as": pack(ended_as),
            "rest": pack(self._rest().model_dump_json().encode()),
        }
        sets = [pack_bits(indexes, self.count) if indexes else b"" for indexes in self._sets()]
        return bytes([FORM]) + join([*(parts[name] for name in PARTS), *sets])

    def _sets(self) -> tuple[set[int], ...]:
        return (
            self.held,
            self.duplicate_sequences,
            self.newer_attempts,
            self.woken_after_end,
            self.reopened,
            self.accepted,
        )

    def _rest(self) -> _Rest:
        names: dict[str, int] = {}
        permits = [
            (
                permit.number,
                permit.index,
                _STEP_NUMBER[permit.step],
                (permit.expires_at - _EPOCH) // _MICROSECOND,
                names.setdefault(permit.name.removesuffix(f"-{permit.number}"), len(names)),
            )
            for permit in self.permits.values()
        ]
        return _Rest(
            permits=permits,
            names=list(names),
            excluded=self.excluded,
            excluded_for=self.excluded_codes,
            asked=self.asked,
            idle=sorted(self.held & self.idle),
            uncounted=as_text(pack_bits(self.uncounted, self.count)) if self.uncounted else "",
        )

    def unpack(self, packed: bytes) -> None:
        """Take over what ``packed`` carries. Raises ValueError where it does not have the form, or is of
        another number of targets; the ledger is of no use then.
        """
        if packed[:1] != bytes([FORM]):
            raise ValueError(f"a ledger of another form than {FORM}: {packed[:1].hex() or 'empty'}")
        try:
            self._take_over(packed[1:])
        except (IndexError, OverflowError) as failure:
            raise ValueError(f"the ledger names what it does not have: {failure}") from failure

    def _take_over(self, joined: bytes) -> None:
        parts = split(joined, len(PARTS) + len(self._sets()))
        part = dict(zip(PARTS, parts, strict=False))
        places, self.attempts = unpack(part["places"]), bytearray(unpack(part["attempts"]))
        self.sequences = unpack_numbers(part["sequences"])
        self.group_numbers = unpack_numbers(part["shapes"])
        self.since = unpack_numbers(part["since"])
        ended_as, steps, known = unpack(part["ended_as"]), unpack(part["steps"]), part["known"].hex()
        arrays = (places, self.attempts, self.sequences, self.group_numbers, self.since, ended_as or places)
        if {len(of_each) for of_each in arrays} != {self.count}:
            raise ValueError(f"the ledger is of another number of targets than {self.count}")
        if (places + ended_as).translate(None, bytes(TargetState)):
            raise ValueError("the ledger has a target where none can be")
        if len(known) != 2 * DIGEST * len(steps) or max(self.group_numbers, default=0) > len(steps):
            raise ValueError("the ledger has another number of fingerprints than it says")
        for number, step in enumerate(steps):
            self.know(known[2 * DIGEST * number : 2 * DIGEST * (number + 1)], STEPS[step])
        self.book = DecisionBook.unpacked(part["book"], [group.fingerprint for group in self.known])
        self.ended_as = {index: TargetState(place) for index, place in enumerate(ended_as) if place}
        self._take_over_rest(_Rest.model_validate_json(unpack(part["rest"])))
        for indexes, bits in zip(self._sets(), parts[len(PARTS) :], strict=True):
            indexes.update(Bits(bits))
            if max(indexes, default=0) >= self.count:
                raise ValueError("the ledger names a target that it does not have")
        self.places.take_over(places)
        self._enter_those_that_wait(places)

    def _take_over_rest(self, rest: _Rest) -> None:
        for number, index, step, until, name in rest.permits:
            self.permits[number] = Permit(
                number=number,
                name=f"{rest.names[name]}-{number}",
                index=index,
                step=STEPS[step],
                expires_at=_EPOCH + until * _MICROSECOND,
            )
        self.excluded, self._excluded_for, self.asked = rest.excluded, rest.excluded_for, rest.asked
        self.idle = set(rest.idle)
        self.uncounted = set(Bits(of_text(rest.uncounted)))
        if max(self.uncounted, default=0) >= self.count:
            raise ValueError("the ledger names a target that it does not have")

    def _enter_those_that_wait(self, places: bytes) -> None:
        for place in AWAITING:
            at = places.translate(_where([place]))
            for wave, (first, end) in enumerate(self.places.bounds):
                indexes = list(compress(range(first, end), at[first:end]))
                self.waiters.enter_many(indexes, self.group_numbers, wave, place)


def _where(places: Iterable[TargetState]) -> bytes:
    found = frozenset(places)
    return bytes(255 if place in found else 0 for place in range(256))


_OPEN, _WAITING = _where(OPEN), _where(AWAITING)
"""For each place, whether a target there counts words, and whether it has a waiting time."""


def _goes_to(place: int, verdict: Tally) -> TargetState | None:
    """Where a target goes that waits at ``place`` for a sign-off, or None where it goes on waiting."""
    if verdict is Tally.REJECTED:
        return TargetState.REJECTING
    # For one that waits for a sign-off of its own no approval of a fingerprint counts.
    return TargetState.READY if verdict is Tally.APPROVED and place == TargetState.AWAITING else None
