"""A campaign's look at a batch of its zones: which have ended, how, and which are to say again what they wait
for. The server describes each; a worker is not asked.

How a zone has ended is what workers have signed of it (activities/proof/results.py); where none has signed
what its workflow ended with, the service is read. So neither a word to the campaign nor the end of a
workflow, which can be anybody's, makes an outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio import activity
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.service import RPCError

from activities.boundary import come_to, hold_of, or_server_time, refuse_held
from activities.change.area_work import AreaWork
from activities.change.found import OWN_COMMIT, Whose, whose_found
from activities.change.in_force import may_be_in_force
from activities.change.intent_records import HIDDEN
from activities.change.own import own_in
from activities.connections import Connections
from activities.reminders import is_doubtful, remind
from activities.standing import (
    fits,
    may_show,
    on_record,
    settled_by,
    signed_end,
    standing_of,
    where_undone,
)
from edgeshift.messages import (
    DescribedZones,
    DescribeZones,
    LaterAttempt,
    SignedStop,
    SilentZone,
    StartZones,
    ZoneResult,
)
from edgeshift.model.fleet import CLAIMS, Area, Target, ZoneOutcome, attempt_in, migration_id
from edgeshift.model.reasons import Reason, ReasonCode, codes_of
from edgeshift.rate_limit.circuit import OpenCircuit
from edgeshift.rate_limit.in_hand import not_blocked_for
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.runtime.temporal import UNREADABLE, is_missing, memo_of
from edgeshift.service_api import ServiceError
from edgeshift.stores.archive import ArchiveError

SIDE_BY_SIDE = 10
"""Zones that a sweep looks at at the same time."""

CLOSES_WITHIN = (0.1, 0.4, 1.5)
"""Seconds before a zone is looked at again that is said to have ended: it says so just before it does."""

MOST_CODES = 20
"""Codes that are kept of why a zone has ended."""

MOST_SAID = 200
"""Characters that are kept of what the service shows of a zone, or of which record cannot be read."""

NOT_BLOCKED_FOR = 10.0
"""Seconds that a look waits for a user whom the service refuses every call: a batch has zones of several
users, and none of it is told before all are looked at. Where such a zone stands is read by a later look.
"""

LOOKS_PER_SECOND = 200
"""Zones that a sweep looks at a second, at most: 10,000 in a minute, with what else a batch takes."""

_MAY_BE_IN_FORCE = frozenset(
    {ReasonCode.STORED_RULES_DIFFER, ReasonCode.NOT_ROLLED_BACK, ReasonCode.ARCHIVE_DAMAGED}
)
"""Why a zone has failed of which a change may be in force."""


class Looks:
    """Looks at zones that are silent, or wait."""

    def __init__(self, connections: Connections, work: Mapping[Area, AreaWork]) -> None:
        self._connections = connections
        self._work = work

    async def at(self, batch: DescribeZones, done: int, found: DescribedZones) -> DescribedZones:
        """Look at a batch, from where an earlier attempt had come to, with what it had found."""
        results = self._connections.results
        if batch.ended and not results.needs_results(await self._connections.spec(batch.spec)):
            return DescribedZones(by_word=True)
        targets = await self._connections.targets(batch.targets)
        closed, later, hold = list(found.closed), list(found.later), found.hold
        still_open, names = list(found.still_open), dict(found.names)
        run = activity.info().workflow_run_id or ""
        reset_run = await self._connections.reset_of(batch.campaign, (*batch.unasked, run))
        stop = await self._stop(batch)
        found = found.model_copy(update={"run": run, "reset_run": reset_run, "stop": stop})
        clock = asyncio.get_running_loop().time
        while done < len(batch.indexes):
            began, positions = clock(), range(done, min(done + SIDE_BY_SIDE, len(batch.indexes)))
            looks = (self._look(batch, position, targets[batch.indexes[position]]) for position in positions)
            for looked in await asyncio.gather(*looks):
                if isinstance(looked, (SilentZone, LaterAttempt, _StillOpen)):
                    names[looked.index] = targets[looked.index].zone.name
                if isinstance(looked, SilentZone):
                    closed.append(looked)
                elif isinstance(looked, LaterAttempt):
                    later.append(looked)
                elif isinstance(looked, _StillOpen):
                    still_open.append(looked.index)
                else:
                    hold = hold or looked
            done = positions.stop
            found = found.model_copy(
                update={
                    "closed": tuple(closed),
                    "later": tuple(later),
                    "hold": hold,
                    "still_open": tuple(still_open),
                    "names": names,
                }
            )
            come_to(done, found)
            if done < len(batch.indexes):
                await asyncio.sleep(max(0.0, len(positions) / LOOKS_PER_SECOND - (clock() - began)))
        return found

    async def _stop(self, batch: DescribeZones) -> SignedStop | None:
        """What people signed that stops the campaign; whoever cannot read it now looks at the next sweep.
        What is damaged of it is named in the archive, and so by an alarm (activities/proof/authority.py).
        """
        there = self._connections
        try:
            # As at the door, where a word counts also if this machine's clock is behind.
            now = or_server_time(there.clock.now())
            word = await there.authority.word_that_stops(batch.spec, there.spec, now)
        except ArchiveError as failure:
            activity.logger.warning("signed words cannot be read: %s", failure)
            return None
        if word is None:
            return None
        return SignedStop(word="abort" if word.word == "abort" else "pause", by=word.by, reason=word.reason)

    async def _look(
        self, batch: DescribeZones, position: int, target: Target
    ) -> SilentZone | LaterAttempt | OpenCircuit | _StillOpen | None:
        with not_blocked_for(NOT_BLOCKED_FOR):
            return await self._looked(batch, position, target)

    async def _looked(
        self, batch: DescribeZones, position: int, target: Target
    ) -> SilentZone | LaterAttempt | OpenCircuit | _StillOpen | None:
        index = batch.indexes[position]
        try:
            for pause in CLOSES_WITHIN if index in batch.ended else ():
                if (looked := await self._settle(batch, position, target)) is not None:
                    return looked
                await asyncio.sleep(pause)
            looked = await self._settle(batch, position, target)
            return _StillOpen(index) if looked is None and index in batch.ended else looked
        except (ServiceError, SecretRefError) as failure:
            # Where it stands is found out once the service may be asked again.
            return hold_of(failure)

    async def _settle(
        self, batch: DescribeZones, position: int, target: Target
    ) -> SilentZone | LaterAttempt | None:
        index = batch.indexes[position]
        identifier = migration_id(target.zone, batch.area)
        found, attempt = await described(self._connections.temporal, identifier), 0
        if found is not None:
            attempt = await attempt_of(found, batch)
            # A later one was begun by a run of the campaign that was reset since. Whatever is of no attempt
            # is no end of a target that has not begun either.
            mine, later = attempt >= max(1, batch.attempts[position]), attempt > batch.attempts[position]
            if found.status is WorkflowExecutionStatus.RUNNING and mine:
                if later:
                    return LaterAttempt(index=index, attempt=attempt)
                if index in batch.waits and (
                    index in batch.duplicate_sequences
                    or await is_doubtful(found, batch.expected[position], batch.asked.get(index, ""))
                ):
                    await remind(self._connections.temporal, found, batch.campaign_run, attempt)
                return None
            if found.status is WorkflowExecutionStatus.COMPLETED and mine:
                result = await self._result(identifier, found.run_id)
                if result is not None:
                    return await self._ended_with(batch, index, attempt, target, result)
        how = (
            found.status.name.lower() if found is not None and found.status is not None else "not to be found"
        )
        try:
            outcome, shown = await self._standing(batch, target)
        except (ServiceError, SecretRefError) as failure:
            refuse_held(failure)
            unread = _ended(how, f"the service could not be read: {failure}")
            return SilentZone(index=index, attempt=attempt, outcome=ZoneOutcome.UNKNOWN, why=(unread,))
        known = batch.attempts[position]
        if known and await _is_gone(found, batch):
            signed = await self._signed(batch, target, known)
            if signed is not None and fits(signed, outcome):
                why = _ended(how, f"a worker has signed that it is {signed.value}")
                return SilentZone(index=index, attempt=known, outcome=signed, why=(why,))
        if outcome is None:
            sent, damaged = await may_show(self._connections, target.zone, batch.area, batch.settles_in)
            outcome, shown = ZoneOutcome.UNKNOWN if sent else ZoneOutcome.FAILED, damaged or shown
        return SilentZone(index=index, attempt=attempt, outcome=outcome, why=(_ended(how, shown),))

    async def _signed(self, batch: DescribeZones, target: Target, attempt: int) -> ZoneOutcome | None:
        """How an attempt has ended of which nobody tells any more. To be asked once the service was read: a
        change or a rollback that was recorded since the result may be on its way.
        """
        run = batch.origin or batch.campaign_run
        return await signed_end(self._connections, batch.spec, run, target, attempt, or_undone=True)

    async def _ended_with(
        self, batch: DescribeZones, index: int, attempt: int, target: Target, result: ZoneResult
    ) -> SilentZone:
        """What becomes of a zone by what its workflow ended with, which can be anybody's. It is told as it is
        where a worker has signed that the service shows it; where it says itself that nobody knows what is in
        force, for then people look, and have the zone begun again; or where nothing of the campaign's is on
        record that may be in force, and it does not say that there is.
        """
        told, connections = result.outcome, self._connections
        spec, run = await connections.spec(batch.spec), batch.origin or batch.campaign_run
        if not connections.results.needs_results(spec):
            return _ended_as(index, attempt, result)
        if told in CLAIMS and await on_record(connections, batch.spec, run, target, attempt, told):
            return _ended_as(index, attempt, result)
        signed = await signed_end(connections, batch.spec, run, target, attempt)
        if signed is not None:
            return _told_as(index, attempt, result, signed, f"a worker has signed that it is {signed.value}")
        if told not in CLAIMS and (
            _leaves_open(result) or not await self._may_be_in_force(batch, target, run)
        ):
            return _ended_as(index, attempt, result)
        return await self._as_shown(batch, index, attempt, target, result)

    async def _may_be_in_force(self, batch: DescribeZones, target: Target, run: str) -> bool:
        try:
            own = await own_in(self._connections, batch.spec, run)
            return await may_be_in_force(self._connections, target.zone, batch.area, own)
        except HIDDEN:
            # It may stand for what is, or hide it.
            return True

    async def _as_shown(
        self, batch: DescribeZones, index: int, attempt: int, target: Target, result: ZoneResult
    ) -> SilentZone:
        """What becomes of a zone whose workflow ended with something that is not on record, or does not fit
        what is: what the service shows, which is signed here and now. ``told`` says what it ended with, where
        that is something else.
        """
        told, connections = result.outcome, self._connections
        run = batch.origin or batch.campaign_run
        undone = await where_undone(connections, batch.spec, run, target, attempt, told, batch.settles_in)
        try:
            standing = await self._standing(batch, target)
            outcome, shown = await settled_by(
                connections, batch.spec, target, told, standing, batch.settles_in, undone
            )
        except (ServiceError, SecretRefError) as failure:
            refuse_held(failure)
            outcome, shown = ZoneOutcome.UNKNOWN, f"the service could not be read: {failure}"
        # It is changed, whoever says that it was found so: whose doing that is, is on record.
        whose = await whose_found(connections, batch.spec, run, target.zone, attempt, outcome)
        if whose is Whose.OWN:
            outcome, shown = ZoneOutcome.MIGRATED, OWN_COMMIT
        if outcome in CLAIMS and whose is not Whose.MAY_BE_OWN:
            await connections.results.of_listed(
                batch.spec, batch.targets, run, target.zone.id, attempt, outcome
            )
        if outcome is told:
            return _ended_as(index, attempt, result)
        return _told_as(index, attempt, result, outcome, shown)

    async def _standing(self, batch: DescribeZones, target: Target) -> tuple[ZoneOutcome | None, str]:
        # The rest of its batch waits for it, and the sweep: a campaign's backlog must not go first.
        there = self._connections
        return await standing_of(there, self._work, batch.area, batch.spec, target, urgent=True)

    async def _result(self, identifier: str, run_id: str) -> ZoneResult | None:
        handle = self._connections.temporal.get_workflow_handle(
            identifier, run_id=run_id, result_type=ZoneResult
        )
        try:
            found: ZoneResult = await handle.result()
            return found
        except WorkflowFailureError:
            return None
        except UNREADABLE as failure:
            # It is no zone's: what the service shows counts.
            activity.logger.info("%s ended with no result of a zone: %s", identifier, failure)
            return None


@dataclass(frozen=True)
class _StillOpen:
    """A zone that is said to have ended, and has not."""

    index: int


def _ended_as(index: int, attempt: int, result: ZoneResult) -> SilentZone:
    """A zone's own end. Of why, what its campaign uses: what a result says may be anybody's, and of any
    length and depth, with which no answer could be sent or read.
    """
    reason, codes = result.reason[:120], codes_of(result.why)[:MOST_CODES]
    why = tuple(Reason(code=code, words=reason or code.value) for code in codes)
    return SilentZone(index=index, attempt=attempt, outcome=result.outcome, reason=reason, why=why)


def _leaves_open(result: ZoneResult) -> bool:
    """Whether what a workflow ended with says itself that a change may be in force: people look then."""
    if result.outcome is ZoneOutcome.FAILED:
        return not _MAY_BE_IN_FORCE.isdisjoint(codes_of(result.why))
    return result.outcome is ZoneOutcome.UNKNOWN


def _told_as(index: int, attempt: int, result: ZoneResult, outcome: ZoneOutcome, shown: str) -> SilentZone:
    """A zone that is something else than its workflow has ended with, and what shows that. That nobody knows
    what is in force is no wrong word.
    """
    why = Reason(code=ReasonCode.NOT_ON_RECORD, state=result.outcome.value, said=shown[:MOST_SAID])
    told = None if _leaves_open(result) else result.outcome
    return SilentZone(index=index, attempt=attempt, outcome=outcome, why=(why,), told=told)


def _ended(how: str, shown: str) -> Reason:
    """That a zone's workflow ended without an outcome, and what the service shows of the zone."""
    return Reason(code=ReasonCode.WORKFLOW_ENDED, state=how, said=shown[:MOST_SAID])


async def attempt_of(found: WorkflowExecutionDescription, batch: StartZones | DescribeZones) -> int:
    """Which attempt of the campaign that the batch is of an execution is; 0: none of it."""
    memo = await memo_of(found) or {}
    of = (memo.get("campaign"), memo.get("campaign_run"))
    return attempt_in(memo) if of == (batch.campaign, batch.campaign_run) else 0


async def _is_gone(found: WorkflowExecutionDescription | None, batch: DescribeZones) -> bool:
    """Whether a zone's own executions are not there any more: Temporal has forgotten them, or somebody else's
    came after. One of another attempt, or of a run that was reset since, says that this one never began: what
    is signed of its number is of that run's.
    """
    return found is None or (await memo_of(found) or {}).get("campaign") != batch.campaign


async def described(
    temporal: Client, identifier: str, run: str | None = None
) -> WorkflowExecutionDescription | None:
    """What the server knows of a workflow, or None."""
    try:
        return await temporal.get_workflow_handle(identifier, run_id=run).describe()
    except RPCError as failure:
        if is_missing(failure):
            return None
        raise
