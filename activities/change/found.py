"""What is signed of a target that was found as it is to be: somebody else has changed it, and not the
campaign that tells so.
"""

from __future__ import annotations

from enum import Enum, auto

from temporalio import activity

from activities.change.intent_records import (
    HIDDEN,
    SentBefore,
    intents_of,
    is_change,
    is_effective,
    latest_first,
)
from activities.change.own import Own, own_in, own_of
from activities.connections import Connections
from edgeshift.messages import Step, ZoneStart
from edgeshift.model.fleet import Area, Zone, ZoneOutcome

OWN_COMMIT = "migrated, by a commit of this campaign's that is on record"


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


class Whose(Enum):
    """Who has changed a target, by what is on record."""

    OWN = auto()
    MAY_BE_OWN = auto()
    ANOTHERS = auto()


async def whose_is(connections: Connections, zone: Zone, area: Area, own: Own, attempt: int) -> Whose:
    """Whose doing it is what a target shows as changed: a campaign's own, where it has the last commit that
    may be in force, or this very attempt has changed something. It may be so where a record says no run, or
    cannot be read, or does not count: that may have the place of one; or a start. Raises ArchiveError.
    """
    found, sure = list[SentBefore](), own.unread is None
    try:
        async for sent in intents_of(connections, zone, area, forgiving=True):
            sure = sure and sent.proven
            if sent.proven and is_change(sent.record) and await is_effective(connections, sent.key):
                found.append(sent)
    except HIDDEN:
        return Whose.MAY_BE_OWN
    if any(own.names(sent.record) and sent.record.attempt == attempt for sent in found):
        return Whose.OWN
    last = next(iter(latest_first(found)), None)
    # After a rollback, whoever changes it is somebody else.
    if last is not None and last.record.step == Step.COMMIT.value and own.has(last.record):
        return Whose.OWN if own.names(last.record) else Whose.MAY_BE_OWN
    return Whose.ANOTHERS if sure else Whose.MAY_BE_OWN


async def may_be_own(connections: Connections, zone: Zone, area: Area, own: Own, attempt: int) -> bool:
    """Whether what a target shows as changed may be a campaign's own doing. Raises ArchiveError."""
    return await whose_is(connections, zone, area, own, attempt) is not Whose.ANOTHERS


async def whose_found(
    connections: Connections, spec_digest: str, run: str, zone: Zone, attempt: int, told: ZoneOutcome
) -> Whose:
    """Whose doing it is that a target is changed which is ``told`` to have been found so; another's where
    something else is told. ``run``: the campaign's first one. Raises ArchiveError.
    """
    if told is not ZoneOutcome.ALREADY_MIGRATED:
        return Whose.ANOTHERS
    own, spec = await own_in(connections, spec_digest, run), await connections.spec(spec_digest)
    return await whose_is(connections, zone, spec.area, own, attempt)
