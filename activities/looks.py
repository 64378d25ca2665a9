"""A campaign's look at a batch of its zones: which have ended, how, and which are to say again what they wait
for. The server describes each; a worker is not asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from temporalio import activity
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.service import RPCError, RPCStatusCode

from activities.boundary import hold_of, refuse_held
from activities.change.area_work import AreaWork
from activities.change.intents import commit_may_show
from activities.connections import Connections
from activities.reminders import is_doubtful, remind
from edgeshift.messages import (
    DescribedZones,
    DescribeZones,
    LaterAttempt,
    SilentZone,
    StartZones,
    ZoneResult,
)
from edgeshift.model.fleet import Area, Target, ZoneOutcome, migration_id
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.rate_limit.circuit import OpenCircuit
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.service_api import ServiceError

SIDE_BY_SIDE = 10
"""Zones that a sweep looks at at the same time."""

LOOKS_PER_SECOND = 200
"""Zones that a sweep looks at a second, at most: 10,000 in a minute, with what else a batch takes."""


class Looks:
    """Looks at zones that are silent, or wait."""

    def __init__(self, connections: Connections, work: Mapping[Area, AreaWork]) -> None:
        self._connections = connections
        self._work = work

    async def at(self, batch: DescribeZones, done: int, found: DescribedZones) -> DescribedZones:
        """Look at a batch, from where an earlier attempt had come to, with what it had found. Heartbeats."""
        targets = await self._connections.targets(batch.targets)
        closed, later, hold = list(found.closed), list(found.later), found.hold
        run = activity.info().workflow_run_id or ""
        reset_run = await self._connections.reset_of(batch.campaign, (*batch.unasked, run))
        clock = asyncio.get_running_loop().time
        while done < len(batch.indexes):
            began, places = clock(), range(done, min(done + SIDE_BY_SIDE, len(batch.indexes)))
            looks = (self._look(batch, place, targets[batch.indexes[place]]) for place in places)
            for looked in await asyncio.gather(*looks):
                if isinstance(looked, SilentZone):
                    closed.append(looked)
                elif isinstance(looked, LaterAttempt):
                    later.append(looked)
                else:
                    hold = hold or looked
            done = places.stop
            found = DescribedZones(
                closed=tuple(closed), later=tuple(later), hold=hold, run=run, reset_run=reset_run
            )
            activity.heartbeat(done, found)
            if done < len(batch.indexes):
                await asyncio.sleep(max(0.0, len(places) / LOOKS_PER_SECOND - (clock() - began)))
        return found

    async def _look(
        self, batch: DescribeZones, place: int, target: Target
    ) -> SilentZone | LaterAttempt | OpenCircuit | None:
        try:
            return await self._settle(batch, place, target)
        except (ServiceError, SecretRefError) as failure:
            # Where it stands is found out once the service may be asked again.
            return hold_of(failure)

    async def _settle(
        self, batch: DescribeZones, place: int, target: Target
    ) -> SilentZone | LaterAttempt | None:
        index = batch.indexes[place]
        identifier = migration_id(target.zone, batch.area)
        found, attempt = await described(self._connections.temporal, identifier), 0
        if found is not None:
            attempt = await attempt_of(found, batch)
            # A later one was begun by a run of the campaign that was reset since.
            mine, later = attempt >= batch.attempts[place], attempt > batch.attempts[place]
            if found.status is WorkflowExecutionStatus.RUNNING and mine:
                if later:
                    return LaterAttempt(index=index, attempt=attempt)
                if index in batch.waits and (
                    index in batch.duplicate_sequences
                    or await is_doubtful(found, batch.expected[place], batch.asked.get(index, ""))
                ):
                    await remind(self._connections.temporal, found, batch.campaign_run, attempt)
                return None
            if found.status is WorkflowExecutionStatus.COMPLETED and mine:
                result = await self._result(identifier, found.run_id)
                if result is not None:
                    return SilentZone(
                        index=index,
                        attempt=attempt,
                        outcome=result.outcome,
                        reason=result.reason[:120],
                        why=result.why,
                    )
        how = (
            found.status.name.lower() if found is not None and found.status is not None else "not to be found"
        )
        try:
            outcome, shown = await self._standing(batch, target)
        except (ServiceError, SecretRefError) as failure:
            refuse_held(failure)
            unread = _ended(how, f"the service could not be read: {failure}")
            return SilentZone(index=index, attempt=attempt, outcome=ZoneOutcome.UNKNOWN, why=(unread,))
        if outcome is None:
            limit = batch.settles_in
            sent = await commit_may_show(self._connections, target.zone, batch.area, limit, answered=True)
            outcome = ZoneOutcome.UNKNOWN if sent else ZoneOutcome.FAILED
        return SilentZone(index=index, attempt=attempt, outcome=outcome, why=(_ended(how, shown),))

    async def _standing(self, batch: DescribeZones, target: Target) -> tuple[ZoneOutcome | None, str]:
        """Where the service shows the target, tried a few times: one unreadable zone must not hold the
        campaign up.
        """
        work, spec = self._work[batch.area], await self._connections.spec(batch.spec)
        client = await self._connections.service(batch.spec, target.zone)
        for pause in (0.5, 2.0):
            try:
                return await work.standing(client, spec, target.zone)
            except ServiceError as failure:
                refuse_held(failure)
                activity.logger.info("reading %s again: %s", target.zone.name, failure)
                await self._connections.clock.sleep(pause)
        return await work.standing(client, spec, target.zone)

    async def _result(self, identifier: str, run_id: str) -> ZoneResult | None:
        handle = self._connections.temporal.get_workflow_handle(
            identifier, run_id=run_id, result_type=ZoneResult
        )
        try:
            found: ZoneResult = await handle.result()
            return found
        except WorkflowFailureError:
            return None


def _ended(how: str, shown: str) -> Reason:
    """That a zone's workflow ended without an outcome, and what the service shows of the zone."""
    return Reason(code=ReasonCode.WORKFLOW_ENDED, state=how, said=shown[:100])


async def attempt_of(found: WorkflowExecutionDescription, batch: StartZones | DescribeZones) -> int:
    """Which attempt of the campaign that the batch is of an execution is; 0: none of it."""
    memo = await found.memo()
    of = (memo.get("campaign"), memo.get("campaign_run"))
    return int(memo.get("attempt", 0)) if of == (batch.campaign, batch.campaign_run) else 0


async def described(
    temporal: Client, identifier: str, run: str | None = None
) -> WorkflowExecutionDescription | None:
    """What the server knows of a workflow, or None."""
    try:
        return await temporal.get_workflow_handle(identifier, run_id=run).describe()
    except RPCError as failure:
        if failure.status is RPCStatusCode.NOT_FOUND:
            return None
        raise
