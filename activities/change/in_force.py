"""Whether what a campaign has sent to a target may be in force, by records that workers signed: whatever the
target's workflow ended with, or does not know of.
"""

from __future__ import annotations

from activities.change.intent_records import (
    SentBefore,
    intents_of,
    is_change,
    is_effective,
    is_seen,
    latest_first,
)
from activities.change.own import Own, own_of
from activities.connections import Connections
from edgeshift.messages import ZoneStart
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.documents import Intent


async def may_be_in_force(connections: Connections, zone: Zone, area: Area, own: Own) -> bool:
    """Whether a commit of a campaign, in whichever attempt, is on record that may have had an effect, or may
    come to, and was not seen undone since. That somebody has seen its end says nothing against it: anybody
    can have a worker look. So it may where nobody can tell whose a commit is. Raises ArchiveError.
    """
    commits, backs = list[SentBefore](), list[SentBefore]()
    async for sent in intents_of(connections, zone, area):
        if not sent.proven:
            # It may have the place of one: whoever asks reads the service then.
            return True
        if (own.unread or own.names(sent.record)) and is_change(sent.record):
            (commits if sent.commits else backs).append(sent)
    for commit in commits:
        if await is_effective(connections, commit.key) and not await _is_undone(connections, commit, backs):
            return True
    return False


async def _is_undone(connections: Connections, commit: SentBefore, backs: list[SentBefore]) -> bool:
    for back in backs:
        undoes, made = back.record, commit.record
        # A rollback's attempt is a message's word: it has to be of a later time as well.
        later = _order(undoes) > _order(made) and undoes.at >= made.at
        if later and await is_seen(connections, back.key) and await is_effective(connections, back.key):
            return True
    return False


def _order(record: Intent) -> tuple[int, float]:
    """By the attempts of its run, and by times within one: machines tell these a little differently."""
    return record.in_attempt, record.at.timestamp()


async def seen_commit(connections: Connections, start: ZoneStart) -> Intent | None:
    """The intent of the last change of a target that may have had an effect, where that is a commit of this
    campaign which somebody has seen to its end; or None. Anybody can have it made, and looked at,
    without the target's workflow, which does not know of it then. Raises ArchiveError.
    """
    own = await own_of(connections, start)
    found = [
        sent
        async for sent in intents_of(connections, start.target.zone, start.area)
        if sent.proven and is_change(sent.record)
    ]
    for sent in latest_first(found):
        if not await is_effective(connections, sent.key):
            continue
        record = sent.record
        mine = record.campaign == start.campaign and own.names(record)
        known = mine and sent.commits and record.proposal is not None
        return record if known and await is_seen(connections, sent.key) else None
    return None
