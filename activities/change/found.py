"""What is signed of a target that was found as it is to be: somebody else has changed it, and not the
campaign that tells so.
"""

from __future__ import annotations

from temporalio import activity

from activities.change.intent_records import SentBefore, intents_of, is_effective
from activities.change.own import Own, own_of
from activities.connections import Connections
from edgeshift.messages import Step, ZoneStart
from edgeshift.model.fleet import Area, Zone, ZoneOutcome
from edgeshift.stores.documents import DocumentUnreadable

_CHANGES = (Step.COMMIT.value, Step.ROLL_BACK.value)


async def sign_found(connections: Connections, start: ZoneStart, outcome: ZoneOutcome, *, seen: str) -> None:
    """Sign that a target was found changed already. Nothing is signed where this campaign may have changed
    it: it then asks the service. ``seen``: the archived reading. Raises ArchiveError, SigningFailed.
    """
    zone, own = start.target.zone, await own_of(connections, start)
    if await may_be_own(connections, zone, start.area, own, start.attempt):
        activity.logger.warning(
            "not signed that %s is %s: this campaign may have changed it", zone.id, outcome.value
        )
        return
    await connections.results.record(start, outcome, seen=seen)


async def may_be_own(connections: Connections, zone: Zone, area: Area, own: Own, attempt: int) -> bool:
    """Whether what a target shows as changed may be a campaign's own doing: the last commit that may be in
    force is its own, or this very attempt has changed something. So it may where a record cannot be read, or
    does not count: that may have the place of one; or a start. Raises ArchiveError.
    """
    if own.unread is not None:
        return True
    found = list[SentBefore]()
    try:
        async for sent in intents_of(connections, zone, area, forgiving=True):
            if not sent.proven:
                return True
            if sent.record.step in _CHANGES and await is_effective(connections, sent.key):
                found.append(sent)
    except DocumentUnreadable:
        return True
    if any(own.names(sent.record) and sent.record.attempt == attempt for sent in found):
        return True
    last = max(found, key=lambda sent: (sent.record.at, sent.key), default=None)
    # After a rollback, whoever changes it is somebody else.
    return last is not None and last.record.step == Step.COMMIT.value and own.has(last.record)
