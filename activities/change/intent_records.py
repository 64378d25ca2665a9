"""Reading the intents of a target, and what is recorded beside them: which of them count, and as of when."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from temporalio import activity

from activities.boundary import or_server_time, passed, server_began
from activities.change.own import Own
from activities.connections import Connections
from activities.proof.records import side_by_side
from edgeshift.authority.records import MOST, Flooded
from edgeshift.messages import Step
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.archive import ArchiveError
from edgeshift.stores.documents import (
    Answered,
    DocumentUnreadable,
    Intent,
    NothingMore,
    Seen,
    get_record,
    intents_at,
)
from edgeshift.stores.documents.intents import EFFECTIVE as EFFECTIVE
from edgeshift.stores.documents.intents import GIVEN_UP as GIVEN_UP
from edgeshift.stores.documents.intents import OPENED as OPENED
from edgeshift.stores.documents.intents import ClosedAs as ClosedAs

AHEAD = timedelta(days=1)
"""How far the clock of whoever wrote an intent may be ahead of this one's."""

UNREADABLE = "unreadable"
"""The step of an intent of which nothing can be read."""

HIDDEN = (DocumentUnreadable, Flooded)
"""What ``intents_of`` raises where the records of one target may hide what was sent to it, also when they are
asked for again. Whoever looks at many targets takes that for unknown: one holds none of the others up.
"""

BY_HAND_AFTER = timedelta(days=1)
"""How long after an intent was stored that cannot be read a person's word counts that nothing came of it: no
change takes so long to show.
"""


@dataclass(frozen=True)
class SentBefore:
    """An intent of a zone, by whomever. ``proven``: whether a worker has signed it, whom the roots know; else
    it stands for whatever may have been sent before it was stored, and for nothing that the campaign did.
    """

    key: str
    record: Intent
    proven: bool = True

    @property
    def commits(self) -> bool:
        """Whether it may be a commit."""
        return not self.proven or self.record.step == Step.COMMIT.value


def is_change(record: Intent) -> bool:
    """Whether an intent is a commit or the rollback of one: no step that goes before them, and no record that
    stands for nothing sent.
    """
    return record.step in (Step.COMMIT.value, Step.ROLL_BACK.value)


def latest_first(some: Iterable[SentBefore]) -> list[SentBefore]:
    """Intents of a target by their times; those of one moment by their names, so that all who ask agree."""
    return sorted(some, key=lambda one: (one.record.at, one.key), reverse=True)


async def intents_of(
    connections: Connections,
    zone: Zone,
    area: Area,
    *,
    opened: bool = False,
    forgiving: bool = False,
    beside: str = "",
    damaged: bool = False,
) -> AsyncIterator[SentBefore]:
    """Every intent of a zone, by whomever, in no order. ``opened``: also the records that a step of several
    requests has before the first of them. ``forgiving``: one counts also where its worker's key was revoked
    since. ``beside``: what a worker has sent under the permit of this name is left out.
    ``damaged``: for what nobody may hold up: one that cannot be read, and that no worker has signed, does not
    count either, and is not raised.

    Raises ArchiveError, naming the record, where one cannot be read: it may stand for what was sent. Unless
    it is recorded beside it that nothing came of it, as a person may do who has looked (docs/operators.md, A
    record that cannot be read). Raises Flooded where there are more than anybody looks at, but not if
    ``damaged``: nothing is committed beside them, and what was sent is looked for among all.
    """
    records, place = connections.records, intents_at(zone, area)

    async def look(key: str) -> SentBefore | None:
        try:
            found = await records.find(Intent, key, forgiving=forgiving)
        except DocumentUnreadable as failure:
            try:
                if await _put_right(connections, key):
                    return None
            except DocumentUnreadable:
                # Whoever has looked, and says so in a wrong form, is told.
                if not damaged:
                    raise
            if not damaged or not await records.is_unsigned(key):
                raise failure from None
            nobodys = Intent(step=UNREADABLE, campaign="", at=now_of(connections))
            return SentBefore(key, await as_stored(connections, key, nobodys), proven=False)
        if found is None:
            return None
        if found.unproven is not None:
            return SentBefore(key, await as_stored(connections, key, found.record), proven=False)
        if beside and found.record.stands_under(beside, key):
            # By what it says itself: the names of permits are the caller's, and one may begin like another.
            return None
        if found.record.step == GIVEN_UP or (found.record.step == OPENED and not opened):
            return None
        return SentBefore(key, await dated(connections, key, found.record))

    if damaged:
        keys = [key async for key in records.keys(place)]
    elif (few := await records.keys_unless_flooded(place)) is not None:
        keys = few
    else:
        raise Flooded(f"more than {MOST:,} records at {place}: nothing is committed beside them")
    async for _, sent in side_by_side(keys, look):
        if isinstance(sent, ArchiveError):
            raise sent
        if sent is not None:
            yield sent


async def _put_right(connections: Connections, key: str) -> bool:
    """Whether it is recorded of an intent that cannot be read that nothing came of it: by a worker; or by a
    person, who signs nothing there, once nothing can come of it any more.
    """
    if await connections.archive.get_named(beside_of(key, "nothing")) is None:
        return False
    if await closed_as(connections, key) not in EFFECTIVE:
        return True
    said = await get_record(connections.archive, NothingMore, beside_of(key, "nothing"))
    if said is None or said.closed_as in EFFECTIVE:
        return False
    return surely_now(connections) >= await connections.archive.stored_at(key) + BY_HAND_AFTER


async def as_stored(connections: Connections, key: str, record: Intent) -> Intent:
    """The record, as of when the archive took it: whatever it says of its time is anybody's word."""
    return record.model_copy(update={"at": await connections.archive.stored_at(key)})


async def dated(connections: Connections, key: str, record: Intent) -> Intent:
    """The record, at a time that can be: none is written before its time, so that one from the future is of
    when the archive took it, which is not before anything was sent. Else it would keep the zone for ever.
    """
    if record.at <= now_of(connections) + AHEAD:
        return record
    stored = await connections.archive.stored_at(key)
    activity.logger.warning("%s is of %s, which has not come; it was stored at %s", key, record.at, stored)
    return record.model_copy(update={"at": min(record.at, stored)})


def now_of(connections: Connections) -> datetime:
    """What time it is by this machine's clock, or by the server's where that is later."""
    return or_server_time(connections.clock.now())


def surely_now(connections: Connections) -> datetime:
    """What time it surely is: by this machine's clock, or by the server's where that is earlier. For whatever
    holds no more once a time has passed, such as that a change may still come to show: it is recorded by the
    server's clock or a later one, and a clock that runs ahead must not end that early.
    """
    now = connections.clock.now()
    return min(now, by_server(connections))


def by_server(connections: Connections) -> datetime:
    """What time it is by the server's clock, or a little earlier: since the activity began, by how long this
    process has seen it go on. By this machine's outside of an activity. Raises RuntimeError in a local one
    that was not told.
    """
    if not activity.in_activity():
        return connections.clock.now()
    return server_began() + passed()


def beside_of(intent: str, what: str) -> str:
    """The archive's name of what is recorded of an intent: that nothing came of it, or that it was seen."""
    return intent.replace("intent/", f"{what}/", 1)


async def is_answered(connections: Connections, intent: str) -> bool:
    """Whether a worker has recorded that the request of an intent was answered."""
    return await connections.records.proven(Answered, beside_of(intent, "over")) is not None


async def closed_as(connections: Connections, intent: str, *, forgiving: bool = False) -> ClosedAs | None:
    """Why nothing, or nothing more, comes of an intent; None where that is not recorded. ``forgiving``: it
    counts also where its worker's key was revoked since.
    """
    found = await connections.records.proven(NothingMore, beside_of(intent, "nothing"), forgiving=forgiving)
    return None if found is None else found.closed_as


async def is_seen(connections: Connections, intent: str) -> bool:
    """Whether a worker has recorded that what was sent under an intent was watched to its end."""
    return await connections.records.proven(Seen, beside_of(intent, "seen")) is not None


async def is_effective(connections: Connections, intent: str) -> bool:
    """Whether an intent has had an effect, or may have had one or come to: also where it was answered, it has
    none of which it is recorded that it never came to show.
    """
    if await closed_as(connections, intent) not in EFFECTIVE:
        return False
    seen = await connections.records.proven(Seen, beside_of(intent, "seen"))
    return seen is None or seen.showed is not False


async def over_by_revoked(connections: Connections, intent: str) -> str:
    """The archive's name of what says that an intent had no effect, or was seen to its end, where a worker
    has signed that whose key was revoked since; or empty. It may be true, or a thief's.
    """
    records, seen, nothing = connections.records, beside_of(intent, "seen"), beside_of(intent, "nothing")
    if await records.proven(Seen, seen) is None and await records.proven(Seen, seen, forgiving=True):
        return seen
    said = await records.proven(NothingMore, nothing, forgiving=True)
    if said is None or said.closed_as in EFFECTIVE or await records.proven(NothingMore, nothing) is not None:
        return ""
    return nothing


async def all_left_in(
    connections: Connections,
    zone: Zone,
    area: Area,
    campaign: str,
    own: Own | None = None,
    *,
    forgiving: bool = False,
) -> list[SentBefore]:
    """The intents of all commits of this campaign's, in whichever attempt, that may have had an effect of
    which nobody has seen the end, in the order of their times.

    ``own``: whose they are; another campaign may have had the name, which counts without it.
    ``forgiving``: one counts also where its worker's key was revoked since. What came to nothing had no
    effect; what may still show counts.
    """
    found = []
    async for sent in intents_of(connections, zone, area, forgiving=forgiving, damaged=forgiving):
        key, record = sent.key, sent.record
        mine = sent.proven and record.campaign == campaign and (own is None or own.has(record))
        if not mine or record.step != Step.COMMIT.value or record.proposal is None:
            continue
        if await is_seen(connections, key) or await closed_as(connections, key) not in EFFECTIVE:
            continue
        found.append(sent)
    return sorted(found, key=lambda one: one.record.at)
