"""Rejections in the archive, so that they bind when their campaign is started anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import ValidationError
from temporalio import activity

from activities.boundary import come_to, heartbeating, named_failures
from activities.change.intents import run_of
from activities.connections import Connections
from activities.together import some_together
from edgeshift.campaign.book import packed_rejections
from edgeshift.campaign.rulings import (
    APPROVED,
    EVERYTHING,
    REJECTED,
    Entry,
    approvals_prefix,
    by_subject,
    entry_of,
    fingerprints_prefix,
    is_of_fingerprint,
    short,
    standing,
    zones_prefix,
)
from edgeshift.messages import (
    Book,
    RecalledRulings,
    RecallRulings,
    RecordRejection,
    RecordRulings,
    RulingNote,
    ZoneStart,
)
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError, ArchiveUnavailable
from edgeshift.stores.archive_keys import is_key, shown
from edgeshift.stores.documents import RulingRecord, create_record, get_record
from edgeshift.stores.documents.codec import mistakes_of

NOTES = "notes"
"""What a heartbeat counts: those of an earlier version told something else, from which nothing goes on."""

MOST_RECALLED = 10_000
"""Names of rulings on fingerprints that are looked at where signatures count. With a store that takes half a
second for each, an activity reads them in half its time.
"""

MOST_PACKED = 1_000_000
"""Letters of the rejections of earlier runs that a campaign is given where signatures count: three quarters
of what its book takes, so that there is room for those of its own.
"""

MOST_TOLD = 5
"""Of the rulings that are passed over, how many people are told of at a time."""

PATIENT = 4
"""At which try what the archive does not give is passed over: what is only away for a moment is there by
then.
"""


class RulingActivities:
    """Records what people decided on fingerprints, and what voids it; finds rejections that count again."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="record_rulings")
    @heartbeating
    @named_failures
    async def record(self, message: RecordRulings) -> None:
        """Record what a campaign has to say, in its order; what is there already stays. A try goes on where
        the one before it had come to: with a slow store one may not be enough.
        """
        done = _come_to(len(message.notes))
        for note in message.notes[done:]:
            await self._record(message, note)
            done += 1
            come_to(NOTES, done)

    async def _record(self, message: RecordRulings, note: RulingNote) -> None:
        if note.verb == APPROVED:
            await self._put(message, note, approvals_prefix(message.campaign), digests=note.fingerprints)
            return

        async def of_fingerprint(digest: str) -> None:
            await self._put(message, note, fingerprints_prefix(message.campaign, digest), digest=digest)

        async def of_zone(index: int) -> None:
            zone = targets[index].zone.id
            await self._put(message, note, zones_prefix(message.campaign, zone), zone=zone)

        await some_together(of_fingerprint, note.fingerprints)
        if note.indexes:
            targets = await self._connections.targets(message.targets)
            await some_together(of_zone, note.indexes)

    async def _put(
        self,
        message: RecordRulings,
        note: RulingNote,
        prefix: str,
        *,
        digest: str | None = None,
        digests: tuple[str, ...] | None = None,
        zone: str | None = None,
    ) -> None:
        entry = entry_of(note.verb, note.at, note.wave, note.by, message.run)
        record = RulingRecord(
            verb=note.verb,
            at=note.at,
            by=note.by,
            reason=note.reason,
            campaign=message.campaign,
            run=message.run,
            digest=digest,
            digests=digests,
            zone=zone,
            wave=note.wave,
        )
        await create_record(self._connections.archive, f"{prefix}/{entry.name}", record)

    @activity.defn(name="record_rejection")
    @named_failures
    async def record_own(self, message: RecordRejection) -> None:
        """Record the rejection that a zone ends by."""
        start, decision = message.start, message.decision
        run = run_of(start)
        entry = entry_of("rejected", message.at, message.digest, decision.by, run)
        record = RulingRecord(
            verb=REJECTED,
            at=message.at,
            by=decision.by,
            reason=decision.reason,
            campaign=start.campaign,
            run=run,
            digest=message.digest,
            zone=start.target.zone.id,
        )
        key = f"{zones_prefix(start.campaign, start.target.zone.id)}/{entry.name}"
        await create_record(self._connections.archive, key, record)

    @activity.defn(name="recall_rulings")
    @heartbeating
    @named_failures
    async def recall(self, message: RecallRulings) -> RecalledRulings:
        """The rejections of fingerprints that count from earlier runs of a campaign. Those of this run, which
        was reset maybe, it knows by itself.

        Fails where one cannot be read: nothing is begun then. But not where signatures count: whoever may
        write to the archive would keep every campaign of this name from beginning. It is passed over there,
        and told of; what somebody has signed, the door holds all the same.
        """
        signed = self._connections.records.asks_for_signatures()
        earlier = [
            (fingerprint, entry)
            for fingerprint, entries in by_subject(await self._names(message.campaign, signed)).items()
            for entry in standing(entries)
            if entry.run != short(message.run)
        ]
        decisions = await some_together(lambda one: self._decision(message.campaign, *one), earlier)
        read, unread = list[Recalled](), list[tuple[str, ArchiveError]]()
        for (fingerprint, entry), decision in zip(earlier, decisions, strict=True):
            if isinstance(decision, Decision):
                read.append(Recalled(fingerprint, entry.about, decision))
            elif signed and not (isinstance(decision, ArchiveUnavailable) and _is_patient()):
                unread.append((_key_of(message.campaign, fingerprint, entry), decision))
            else:
                raise decision
        for key, why in unread[:MOST_TOLD]:
            await self._tell(key, str(why))
        if not message.unpacks:
            return RecalledRulings(book=_books(read))
        packed = packed_rejections(_books(read))
        while signed and len(packed) > MOST_PACKED:
            # No campaign could take it, nor carry it on.
            read = read[: len(read) // 2]
            packed = packed_rejections(_books(read))
        return RecalledRulings(packed=packed)

    async def _names(self, campaign: str, signed: bool) -> list[str]:
        """The names of rulings on fingerprints of a campaign; where signatures count and somebody floods the
        place, the first that were stored. What no campaign can have written is told of, and left out.
        """
        archive, prefix = self._connections.archive, fingerprints_prefix(campaign)
        if not signed:
            keys = [key async for key in archive.list(prefix)]
        else:
            (keys,) = await archive.lists([prefix], MOST_RECALLED)
            if len(keys) > MOST_RECALLED:
                oldest = await archive.oldest(prefix, MOST_RECALLED)
                more = f"more than {MOST_RECALLED:,} names are there: the oldest alone are looked at"
                await self._tell(next(iter({*keys}.difference(oldest)), keys[0]), more)
                keys = oldest
        odd = [key for key in keys if is_key(key) and not is_of_fingerprint(campaign, key)]
        for key in odd[:MOST_TOLD]:
            await self._tell(key, "no campaign has written a ruling of such a name")
        return [key for key in keys if is_of_fingerprint(campaign, key)]

    async def _decision(self, campaign: str, fingerprint: str, entry: Entry) -> Decision | ArchiveError:
        """A rejection, or why it cannot be read."""
        key = _key_of(campaign, fingerprint, entry)
        try:
            record = await get_record(self._connections.archive, RulingRecord, key)
            if record is None:
                return ArchiveCorrupt(f"the archive lists {key} and does not have it")
            return Decision(
                choice=Choice.REJECT, digest=fingerprint, by=record.by, reason=record.reason, at=record.at
            )
        except ValidationError as why:
            return ArchiveCorrupt(f"{key} in the archive is no ruling: {mistakes_of(why)}")
        except ArchiveError as failure:
            return failure

    async def _tell(self, key: str, why: str) -> None:
        """Have people told of a ruling that is passed over."""
        if not is_key(key):
            activity.logger.warning("%s in the archive is passed over: %s", shown(key), why)
            return
        try:
            data = await self._connections.archive.get_named(key) or b""
        except ArchiveError:
            data = b""
        await self._connections.records.tell_damaged(key, "", data, why)


class Recalled(NamedTuple):
    """A rejection of an earlier run. ``about``: ``all``, or the number of a wave."""

    fingerprint: str
    about: str
    decision: Decision


def _books(read: Iterable[Recalled]) -> tuple[Book, ...]:
    books: dict[tuple[str, str], list[Decision]] = {}
    for one in read:
        books.setdefault((one.fingerprint, one.about), []).append(one.decision)
    return tuple(
        Book(fingerprint=fingerprint, wave=None if about == EVERYTHING else int(about), decisions=decisions)
        for (fingerprint, about), decisions in sorted(books.items(), key=lambda one: one[0])
    )


def _key_of(campaign: str, fingerprint: str, entry: Entry) -> str:
    return f"{fingerprints_prefix(campaign, fingerprint)}/{entry.name}"


def _is_patient() -> bool:
    """Whether what the archive does not give now may be had at another try."""
    return activity.info().attempt < PATIENT


def _come_to(notes: int) -> int:
    """How many notes an earlier try of the activity has recorded; 0 where what it told is nothing of that."""
    match list(activity.info().heartbeat_details):
        case [str(what), int(done)] if what == NOTES and 0 <= done <= notes:
            return done
    return 0


async def rejected_digests(archive: Archive, campaign: str, zone: str = "") -> dict[str, tuple[str, ...]]:
    """The digests that people rejected, and that nobody has reopened since, of each zone of a campaign, or of
    one. Raises ArchiveError.
    """
    keys = [key async for key in archive.list(zones_prefix(campaign, zone))]
    found = {one: standing(entries) for one, entries in by_subject(keys).items()}
    return {one: tuple(dict.fromkeys(entry.about for entry in entries)) for one, entries in found.items()}


async def ends_by_the_book(archive: Archive, start: ZoneStart, fingerprint: str) -> bool:
    """Whether a campaign has from its earlier runs a rejection of this fingerprint that ends the zone: for
    its wave or all, by somebody whom its file lists. Raises ArchiveError.
    """
    prefix, about = fingerprints_prefix(start.campaign, fingerprint), {EVERYTHING, str(start.target.wave)}
    entries = by_subject([key async for key in archive.list(prefix)]).get(fingerprint, [])
    listed = {short(name) for name in start.policy.sign_off.approvers}
    return any(entry.about in about and (not listed or entry.person in listed) for entry in standing(entries))
