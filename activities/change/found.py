"""What is signed of a target that was found as it is to be: somebody else has changed it, and not the run
that tells so.
"""

from __future__ import annotations

from temporalio import activity

from activities.change.intent_records import SentBefore, intents_of, is_effective
from activities.change.intents import run_of
from activities.connections import Connections
from edgeshift.messages import Step, ZoneStart
from edgeshift.model.fleet import Area, Zone, ZoneOutcome
from edgeshift.stores.documents import DocumentUnreadable

_CHANGES = (Step.COMMIT.value, Step.ROLL_BACK.value)


async def sign_found(connections: Connections, start: ZoneStart, outcome: ZoneOutcome, *, seen: str) -> None:
    """Sign that a target was found changed already. Nothing is signed where this run may have changed it: the
    campaign then asks the service. ``seen``: the archived reading. Raises ArchiveError, SigningFailed.
    """
    zone, run = start.target.zone, run_of(start)
    if await may_be_own(connections, zone, start.area, run, start.attempt):
        activity.logger.warning(
            "not signed that %s is %s: this run may have changed it", zone.id, outcome.value
        )
        return
    await connections.results.record(start, outcome, seen=seen)


async def may_be_own(connections: Connections, zone: Zone, area: Area, run: str, attempt: int) -> bool:
    """Whether what a target shows as changed may be a run's own doing: the last commit that may be in force
    is of this run, or this very attempt has changed something. So it may where a record cannot be read, or
    does not count: that may have the place of one. Raises ArchiveError.
    """
    found = list[SentBefore]()
    try:
        async for sent in intents_of(connections, zone, area, forgiving=True):
            if not sent.proven:
                return True
            if sent.record.step in _CHANGES and await is_effective(connections, sent.key):
                found.append(sent)
    except DocumentUnreadable:
        return True
    if any((sent.record.run, sent.record.attempt) == (run, attempt) for sent in found):
        return True
    last = max(found, key=lambda sent: (sent.record.at, sent.key), default=None)
    # After a rollback, whoever changes it is somebody else.
    return last is not None and last.record.step == Step.COMMIT.value and last.record.run in (run, None)
