"""Intents: what is about to be sent, recorded once before it is, so that nothing is sent twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TypeVar

from temporalio import activity

from activities.change.intent_records import (
    EFFECTIVE,
    GIVEN_UP,
    OPENED,
    UNREADABLE,
    all_left_in,
    as_stored,
    beside_of,
    by_server,
    closed_as,
    dated,
    intents_of,
    is_answered,
    is_change,
    is_seen,
    latest_first,
    surely_now,
)
from activities.change.intent_records import ClosedAs as ClosedAs
from activities.change.own import Own, own_of, record_of
from activities.change.own import run_of as run_of
from activities.change.permits import is_named
from activities.change.terms import times_of
from activities.connections import Connections
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign.start import zone_policy
from edgeshift.messages import Change, GiveUpPermits, Permit, Prepared, Step, ZoneStart
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveError
from edgeshift.stores.documents import (
    Answered,
    DocumentUnreadable,
    Intent,
    NothingMore,
    Seen,
    intents_at,
)
from edgeshift.stores.documents import intent_key as intent_key

T = TypeVar("T")

RECORDED_WITHIN = 2.0
"""Seconds that the record of an answered request may take, of the margin that a change has after it."""

MOST_OF_A_ZONE = 1_000
"""Intents of a target at which no permit is given up any more. Each step reads all of them, also a rollback
that has half a minute: whoever may start activities could hold it up for good with permits that never were.
"""

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before the archive is asked again for what stands in the way of a request."""


async def give_up(connections: Connections, change: Change) -> bool:
    """Keep anything from being sent under a change's permit from now on; False where something may have been
    sent.

    Each step has one record under the permit's own name, which is there before its first request: whoever
    creates it, the sender or the one that gives up, keeps the other from it. No clock is asked.
    """
    start = change.start
    key = intent_key(start.target.zone, start.area, change.permit.name)
    record = record_of(change, GIVEN_UP, connections.clock.now())
    many = await _has_many(connections, start.target.zone, start.area)
    if not many and await connections.records.create(key, record):
        return True
    return await is_given_up(connections, key)


class PermitOnRecord(Enum):
    """What the archive says of a permit that is out."""

    GIVEN_UP = auto()
    OVER = auto()
    MAY_BE_SENT = auto()


async def fix_permit(
    connections: Connections, batch: GiveUpPermits, zone: Zone, permit: Permit
) -> PermitOnRecord:
    """As ``give_up``, of a permit alone: whoever holds it need not be asked, nor where its one request is
    recorded as answered, or was recorded so long ago that it is over. An intent's time is the server's, or
    later. What is there and cannot be read says nothing of one permit, and holds no other up.
    """
    if not is_named(permit):
        return PermitOnRecord.MAY_BE_SENT
    key = intent_key(zone, batch.area, permit.name)
    try:
        # Most of many zones at work have sent theirs: a record that is there is read at once, which costs
        # less than to find that it cannot be created.
        found = await connections.records.find(Intent, key)
        if found is None:
            if await _gives_up(connections, batch, zone, permit):
                return PermitOnRecord.GIVEN_UP
            found = await connections.records.find(Intent, key)
    except DocumentUnreadable:
        return PermitOnRecord.MAY_BE_SENT
    if found is None:
        return PermitOnRecord.MAY_BE_SENT
    # What no worker has signed is whatever may have been sent, as of when it was stored.
    there = found.record if found.unproven is None else await as_stored(connections, key, found.record)
    if found.unproven is None and there.step == OPENED:
        return PermitOnRecord.MAY_BE_SENT
    if found.unproven is None and there.step == GIVEN_UP:
        return PermitOnRecord.GIVEN_UP
    over = activity.info().started_time >= there.at + batch.over_after or await is_answered(connections, key)
    return PermitOnRecord.OVER if over else PermitOnRecord.MAY_BE_SENT


async def _gives_up(connections: Connections, batch: GiveUpPermits, zone: Zone, permit: Permit) -> bool:
    """Create the record that keeps anything from being sent under the permit; False where there is one, or
    there are too many at its target.
    """
    record = Intent(
        step=GIVEN_UP,
        campaign=batch.campaign,
        run=batch.origin,
        at=connections.clock.now(),
        permit=permit.name,
    )
    if await _has_many(connections, zone, batch.area):
        return False
    return await connections.records.create(intent_key(zone, batch.area, permit.name), record)


async def _has_many(connections: Connections, zone: Zone, area: Area) -> bool:
    """Whether a target has so many intents that none is added which stands for nothing."""
    number = 0
    async for _ in connections.records.keys(intents_at(zone, area)):
        number += 1
        if number >= MOST_OF_A_ZONE:
            return True
    return False


async def is_given_up(connections: Connections, key: str) -> bool:
    """Whether nothing was sent, nor will be, under the permit whose record this is. One that no worker has
    signed may have another's place.
    """
    record = await connections.records.proven(Intent, key)
    return record is not None and record.step == GIVEN_UP


async def close_intent(connections: Connections, intent: str, kind: ClosedAs, reason: str = "") -> None:
    """Record that nothing, or nothing more, comes of an intent. Where that fails a few times, the intent
    counts as one that may show. ``reason``: for people.
    """
    key, record = beside_of(intent, "nothing"), NothingMore.of(kind, reason)
    try:
        await insisting(connections, lambda: connections.records.create(key, record))
    except ArchiveError as failure:
        activity.logger.warning("not recorded that nothing more comes of %s: %s", intent, failure)


async def request_answered(connections: Connections, intent: str) -> None:
    """Record that the one request of a step was answered: whoever stops a campaign need not ask its zone.
    Where that fails, or does not outlive the machine, the zone is asked.
    """
    key, record = beside_of(intent, "over"), Answered()
    try:
        # What was answered is known: a slow archive must not make it unknown.
        async with asyncio.timeout(RECORDED_WITHIN):
            await connections.records.create(key, record, lasting=False)
    except (ArchiveError, TimeoutError) as failure:
        activity.logger.info("not recorded that %s was answered: %s", intent, failure)


async def insisting(connections: Connections, work: Callable[[], Awaitable[T]]) -> T:
    """What ``work`` gives, which is tried a few times: an intent that is there and not sent is waited for as
    long as a change may take. Raises ArchiveError.
    """
    for pause in PAUSES:
        try:
            return await work()
        except ArchiveError as failure:
            activity.logger.info("the archive is asked again: %s", failure)
            await connections.clock.sleep(pause)
    return await work()


async def commit_may_show(
    connections: Connections, zone: Zone, area: Area, limit: timedelta, *, answered: bool = False
) -> bool:
    """Whether a commit of this zone was sent, by whomever, and may still come to show.

    ``limit``: how long that may take. One of which nothing came, or nothing more can come, does not count.
    ``answered``: one whose effect is immediate counts too, where it was answered and nobody has seen it.
    """
    now = surely_now(connections)
    async for sent in intents_of(connections, zone, area):
        key = sent.key
        if not sent.commits or now >= sent.record.at + limit:
            continue
        closed = await closed_as(connections, key)
        if closed is None:
            return True
        if answered and closed is ClosedAs.ANSWERED and not await is_seen(connections, key):
            return True
    return False


async def goes_on(connections: Connections, start: ZoneStart) -> bool:
    """Whether a step of several requests was begun at the target so lately that whoever makes it, as for a
    run that was reset since, may still have one to send.
    """
    since = surely_now(connections) - start.policy.over_after
    zone, area = start.target.zone, start.area
    async for sent in intents_of(connections, zone, area, opened=True):
        if sent.record.step == OPENED and sent.record.at >= since:
            return True
    return False


async def on_the_wire_until(connections: Connections, start: ZoneStart) -> datetime | None:
    """Until when a change that a worker has sent to the target may be on its way, where nobody has recorded
    that it was answered; None where there is none. As long as the campaign's file says that a request takes,
    or that by which it was sent.
    """
    policy, now = zone_policy(await connections.spec(start.spec)), by_server(connections)
    latest: datetime | None = None
    # What no worker has signed is not even looked at: a rollback asks for this twice, within half a minute.
    async for key, record in connections.records.each(Intent, intents_at(start.target.zone, start.area)):
        if isinstance(record, ArchiveError) or record.step != Step.COMMIT.value:
            continue
        its = await times_of(connections, record, start)
        sent_at = (await dated(connections, key, record)).at
        until = sent_at + max(policy.request_limit + policy.margin, its.on_the_wire)
        if until <= now or (latest and until <= latest):
            continue
        if await closed_as(connections, key) is None and not await is_answered(connections, key):
            latest = until
    return latest


async def close_intents(connections: Connections, zone: Zone, area: Area, keys: Collection[str]) -> None:
    """Record that nothing more can come of these intents of the zone: what they sent has shown. Of what
    cannot be read nobody has seen that; what came of it is a person's to say, in the same place.
    """
    async for sent in intents_of(connections, zone, area, damaged=True):
        if sent.key in keys and sent.record.step != UNREADABLE:
            await close_intent(connections, sent.key, ClosedAs.SHOWS)


async def seen_through(connections: Connections, zone: Zone, area: Area, keys: Collection[str]) -> None:
    """Record that these intents of the zone were watched to their end: nobody takes them up again."""
    async for sent in intents_of(connections, zone, area, forgiving=True, damaged=True):
        if sent.proven and sent.key in keys:
            await connections.records.create(beside_of(sent.key, "seen"), Seen())


async def record_never_showed(
    connections: Connections, zone: Zone, area: Area, keys: Collection[str], *, answered: bool = False
) -> None:
    """Record that nothing came of these commits of the zone, as far as they were not answered: their time is
    over, and nothing of them was there when it was read after that. ``answered``: of those that were answered
    as well, in an area where an answer does not say that there is an effect. Raises ArchiveError.
    """
    async for sent in intents_of(connections, zone, area, forgiving=True, damaged=True):
        if not sent.proven or sent.key not in keys or sent.record.step != Step.COMMIT.value:
            continue
        await close_intent(connections, sent.key, ClosedAs.NEVER_SHOWED)
        if answered:
            await connections.records.create(beside_of(sent.key, "seen"), Seen(showed=False))


async def left_in(
    connections: Connections, zone: Zone, area: Area, campaign: str, own: Own | None = None
) -> Intent | None:
    """The intent of the last commit of this campaign's, in whichever attempt, that may have had an effect of
    which nobody has seen the end; or None. ``own``: whose alone count, of those of its name.
    """
    found = await all_left_in(connections, zone, area, campaign, own)
    return found[-1].record if found else None


async def unproven_last(
    connections: Connections, zone: Zone, area: Area, *, own: Own | None = None, forgiving: bool = False
) -> str:
    """The archive's name of an intent of the zone that no worker has signed, and since which none was seen to
    its end; or empty. It may have been whatever this campaign has sent last. ``own``: since which none of
    its own was. ``forgiving``: one whose worker's key was revoked since counts as signed.
    """
    some = intents_of(connections, zone, area, forgiving=forgiving, damaged=forgiving)
    found = [sent async for sent in some]
    for sent in latest_first(found):
        if not sent.proven:
            return sent.key
        if (own is None or own.names(sent.record)) and await is_seen(connections, sent.key):
            return ""
    return ""


async def own_commit(
    connections: Connections,
    zone: Zone,
    area: Area,
    campaign: str,
    limit: timedelta,
    *,
    read_at: datetime | None = None,
) -> Intent | None:
    """The intent of the zone's last commit that may have taken effect, where it is one of this campaign, in
    whichever attempt, which nobody has watched to its end; or None.

    One that was to be undone counts as well, unless the rollback has been seen, or was answered longer than
    ``limit`` ago: it shows by then, and whoever has changed the target since did so on purpose. A rollback
    that came to nothing, or that nobody knows of, leaves the commit as it was. ``read_at``: when the target
    was read, where that was not just now; an answer that came since says nothing of what was read.
    """
    read_at = read_at or surely_now(connections)
    found = [
        sent async for sent in intents_of(connections, zone, area) if sent.proven and is_change(sent.record)
    ]
    for sent in latest_first(found):
        last = sent.record
        if last.campaign != campaign or await is_seen(connections, sent.key):
            return None
        closed = await closed_as(connections, sent.key)
        if last.step == Step.ROLL_BACK.value:
            if closed is ClosedAs.ANSWERED and read_at >= last.at + limit:
                return None
        elif closed in EFFECTIVE:
            return last if last.proposal is not None else None
    return None


async def taken_up(
    connections: Connections, start: ZoneStart, prepared: Prepared, read_at: datetime
) -> Prepared:
    """A target that was found changed already: where an earlier attempt of this campaign changed it, and did
    not see it through, what that proposed, as begun. ``read_at``: when its reading began.
    """
    policy = zone_policy(await connections.spec(start.spec))
    # Whoever asks for it: no shorter than the campaign's file says.
    limit = max(shows_within(start), policy.request_limit + policy.migration_limit)
    mine = await own_commit(
        connections, start.target.zone, start.area, start.campaign, limit, read_at=read_at
    )
    if mine is None:
        return prepared
    back = await _rollback_sent(connections, start, mine)
    return as_begun(mine, prepared).model_copy(update={"way_back": back})


async def _rollback_sent(connections: Connections, start: ZoneStart, mine: Intent) -> bool:
    """Whether this very attempt has sent the rollback of its commit, or may have, without having seen its
    end: its workflow was reset. An attempt that failed in going back is over: the next one looks for itself.
    """
    own = await own_of(connections, start)
    async for sent in intents_of(connections, start.target.zone, start.area):
        key, record = sent.key, sent.record
        if not sent.proven or record.step != Step.ROLL_BACK.value or record.at < mine.at:
            continue
        if not own.names(record) or record.attempt != start.attempt:
            continue
        if await closed_as(connections, key) in EFFECTIVE and not await is_seen(connections, key):
            return True
    return False


def shows_within(start: ZoneStart) -> timedelta:
    """For how long from its intent on a change may come to show: a request is recorded before it is sent, and
    may take its time until it has an effect at all.
    """
    return start.policy.request_limit + start.policy.migration_limit


def as_begun(record: Intent, prepared: Prepared | None = None) -> Prepared:
    """The proposal that an intent stands for, as begun. ``prepared``: what else is known of the target.
    Raises ArchiveCorrupt where the intent does not name all of it.
    """
    named = {name: getattr(record, name) for name in ("digest", "fingerprint", "proposal", "snapshot")}
    if missing := [name for name, value in named.items() if value is None]:
        raise ArchiveCorrupt(f"an intent of campaign {record.campaign} lacks {', '.join(missing)}")
    prepared = prepared or Prepared(verdict=Verdict.READY, snapshot=named["snapshot"])
    return prepared.model_copy(update={"begun": True, **named})
