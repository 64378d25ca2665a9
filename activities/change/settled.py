"""Whether a change that can be undone was seen to its end, by what workers have signed: from then on it is
nobody's to take back, and what is found worse later is no reason to.

Every area signs it by ``sign_settled``. A look that does so may be lost on its way to the zone's workflow,
and be taken again when something is worse by then; or somebody else may have it taken. What was signed
stands (``unless_settled``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import activity

from activities.change.intents import seen_through
from activities.change.own import own_of, run_of
from activities.change.own_changes import (
    NOT_ENOUGH,
    NOT_OURS,
    NOT_SHOWN,
    OwnChange,
    last_change,
    last_change_if_known,
    nothing_showed,
    taken_back,
)
from activities.connections import Connections
from edgeshift.authority.statements import ResultStatement
from edgeshift.messages import Watch, Watched, ZoneStart
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.stores.archive import ArchiveError

AS_SIGNED = Reason(code=ReasonCode.SEEN_TO_ITS_END)
"""What is told of a look that found something worse after that."""


async def sign_settled(
    connections: Connections,
    start: ZoneStart,
    own: OwnChange | None,
    sign: Callable[[OwnChange], Awaitable[Watched]],
    *,
    enough: bool = False,
    through: bool = True,
) -> Watched:
    """The end of a last look that has found the change as it was agreed: what ``sign`` says, which archives
    the record and signs it, where that may be signed. ``own``: what was on record as sent before the target
    was read. ``enough``: whether what was seen says it all, however short it was watched. ``through``:
    whether the area records that what was sent was seen through.

    It is signed of the campaign's own change alone, that was watched for its time, and of which no rollback
    was begun while the look was taken, which takes seconds. Signed first, then recorded as seen through:
    what is signed is taken back no more, also by a look that is taken again. Raises ArchiveError,
    SigningFailed.
    """
    if own is None or own.back:
        return Watched.as_unsure(NOT_OURS)
    if not (enough or own.watched_enough):
        return Watched.as_unsure(NOT_ENOUGH)
    if await taken_back(connections, start):
        return Watched.as_unsure(NOT_OURS)
    signed = await sign(own)
    if through and signed.done:
        await seen_through(connections, start.target.zone, start.area, own.sent)
    return signed


async def settled_change(connections: Connections, start: ZoneStart) -> ResultStatement | None:
    """What a worker has signed of the last change of the target that may be in force, where that is the
    campaign's and was watched to its end; or None. What a campaign of this name has settled that was there
    before says nothing of this one, which may have sent nothing yet. Raises ArchiveError.
    """
    own = await last_change(connections, start)
    if own is None or own.back or own.record.run is None:
        return None
    if not (await own_of(connections, start)).names(own.record):
        return None
    spec, sent = await connections.spec(start.spec), own.record
    # A later attempt, too, may have taken it up and watched it.
    found = await connections.results.proven(
        spec, own.record.run, start.target.zone.id, counts=lambda result: result.spec == start.spec
    )
    result = found.get(ZoneOutcome.SETTLED)
    # Results are told to the second.
    if result is None or result.proposal != sent.digest or result.issued < sent.at.replace(microsecond=0):
        return None
    return result


async def settled_if_known(connections: Connections, start: ZoneStart) -> ResultStatement | None:
    """As ``settled_change``, and None as well where that cannot be read: it holds no rollback up."""
    try:
        return await settled_change(connections, start)
    except ArchiveError as failure:
        activity.logger.warning("not known whether it was seen to its end: %s", failure)
        return None


async def _is_not_ours(connections: Connections, start: ZoneStart) -> bool:
    """Whether it is known that nothing of the campaign's is in force. Where that cannot be read, what is
    worse is taken back.
    """
    try:
        return await nothing_showed(connections, start)
    except ArchiveError as failure:
        activity.logger.warning("not known whether what was sent never showed: %s", failure)
        return False


async def unless_settled(
    connections: Connections, message: Watch, seen: Watched, *, through: bool = True
) -> Watched:
    """What a look at a change has ``seen``; as done where it is worse, or nobody can say, but was signed as
    settled before; and as unsure where it is worse, and what the campaign sent never came to show: what is
    there is not its own to take back. ``through``: as of ``sign_settled``; the look that has signed it may
    have been lost before it recorded that.
    """
    if message.back or not (seen.worse or (seen.unsure and message.last)):
        return seen
    start = message.start
    signed = await settled_if_known(connections, start)
    if signed is None:
        return Watched.as_unsure(NOT_SHOWN) if await _is_not_ours(connections, start) else seen
    if (signed.run, signed.attempt) != (run_of(start), start.attempt):
        # Whoever tells the end of this run's attempt asks for its own.
        settled, results = ZoneOutcome.SETTLED, connections.results
        await results.record(start, settled, proposal=signed.proposal, seen=signed.seen, since=signed.issued)
    if through and (own := await last_change_if_known(connections, start)) is not None:
        await seen_through(connections, start.target.zone, start.area, own.sent)
    return Watched.as_done(AS_SIGNED, record=signed.seen)
