"""Starting one zone of a campaign: what its workflow is given, the start itself, and who holds its name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from temporalio import activity
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError

from activities.connections import Connections
from activities.looks import attempt_of, described
from activities.readings import is_fresh, planned_reading
from activities.rulings import ends_by_the_book, rejected_digests
from edgeshift.areas import AREAS, area_of
from edgeshift.messages import (
    OUTLIVED,
    AskingZone,
    CampaignStart,
    Exclusion,
    Prepared,
    StartZones,
    Stop,
    ToldReading,
    ZonePhase,
    ZoneStart,
)
from edgeshift.messages.base import LONGEST_TEXT
from edgeshift.model.fleet import Plan, Target, migration_id
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import FINGERPRINT, PHASE, PLAN, WAVE, is_missing, memo_of, of_campaign

ORPHAN = Stop(
    by="edgeshift", reason="its campaign is gone and begins again", cause=ReasonCode.CAMPAIGN_ABORTED
)

TRIES = 50
"""How often a zone is tried whose name an earlier attempt of the campaign's holds."""

PAUSE = 0.2
"""Seconds between them."""

BEFORE_IT_IS_TOLD = 5
"""How often a previous attempt is looked at before it is told to stop: as a rule it is about to close."""

MOST_REJECTED = 20
"""Rejected proposals of one zone that are remembered, the last ones."""


@dataclass(frozen=True)
class _Beginning:
    """What a zone is to begin with. ``read_at``: when the plan read it, where the zone begins with that
    reading; ``refused``: the digest of what the plan read, where the door would refuse it.
    """

    message: ZoneStart
    read_at: datetime | None = None
    refused: tuple[str, ...] = ()


class ZoneStarter:
    """Starts zones, each under its own name: the workflow id is the lock."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def start(
        self, batch: StartZones, position: int, target: Target, rejected: tuple[str, ...]
    ) -> Exclusion | AskingZone | int | None:
        """Start one zone. Its index, where it had been started before. ``rejected``: the digests of its own
        that people rejected.
        """
        begins = await self._beginning(batch, position, target, rejected)
        # The activity before this one, or a campaign that was reset since, may have started it; and a zone
        # with nothing to do ends at once. So an identifier that was ever used is looked at first.
        reuse = WorkflowIDReusePolicy.REJECT_DUPLICATE
        index, orphans = begins.message.index, set[str]()
        for tried in range(TRIES):
            given = _told(begins.message) if batch.hears else begins.message
            if await self._starts(batch.start, given, reuse):
                return _asking(given)
            holder = await described(self._connections.temporal, _identifier(given))
            if holder is not None and await attempt_of(holder, batch) >= given.attempt:
                return index
            if holder is None or holder.status is not WorkflowExecutionStatus.RUNNING:
                begins = await self._begins_again(batch, begins, holder)
                reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE
                continue
            held = await memo_of(holder) or {}
            if held.get("campaign") != batch.campaign:
                return Exclusion(index=index, why=(_taken(held),))
            if held.get("campaign_run") != batch.campaign_run:
                await self._stop_orphan(holder, held, orphans)
            elif tried == BEFORE_IT_IS_TOLD:
                await self._stop_outlived(batch, holder)
            # Our own previous attempt has said that it is finished and is about to close.
            await asyncio.sleep(PAUSE)
        return Exclusion(index=index, why=(Reason(code=ReasonCode.EARLIER_ATTEMPT_OPEN),))

    async def _beginning(
        self, batch: StartZones, position: int, target: Target, rejected: tuple[str, ...]
    ) -> _Beginning:
        """What a zone is to begin with that nobody has worked on lately."""
        start, index, rejected = batch.start, batch.indexes[position], rejected[-MOST_REJECTED:]
        message = ZoneStart(
            campaign=batch.campaign,
            campaign_run=batch.campaign_run,
            index=index,
            attempt=batch.attempts[position],
            target=target,
            area=start.area,
            spec=start.spec,
            policy=start.policy,
            started_by=start.started_by,
            permit=batch.permits[position],
            origin=batch.origin,
            rejected=rejected,
            archive=start.archive,
        )
        if message.attempt != 1:
            return _Beginning(message)
        read = await planned_reading(self._connections, start, index, target.zone)
        if read is None:
            return _Beginning(message)
        planned = read if await is_fresh(self._connections, start, read) else None
        refused = await self._refused_at_the_door(message, read.prepared)
        update = {"planned": planned and planned.prepared, "rejected": (*rejected, *refused)}
        message = message.model_copy(update=update)
        return _Beginning(message, read_at=planned.read_at if planned else None, refused=refused)

    async def _begins_again(
        self, batch: StartZones, begins: _Beginning, holder: WorkflowExecutionDescription | None
    ) -> _Beginning:
        """What a zone is to begin with whose name another workflow had, by what has happened meanwhile.
        ``holder``: that one; None where it is forgotten. Raises CampaignGone.
        """
        await self._refuse_when_gone(batch)
        message = begins.message
        if message.index not in batch.reopened:
            found = await self._rejected(batch, message.target.zone.id)
            message = message.model_copy(update={"rejected": (*found, *begins.refused)})
        if begins.read_at is not None and not _is_since(begins.read_at, holder):
            # What was read of the zone is from before it was worked on, or from meanwhile.
            message = message.model_copy(update={"planned": None})
        return replace(begins, message=message)

    async def _starts(self, start: CampaignStart, message: ZoneStart, reuse: WorkflowIDReusePolicy) -> bool:
        """Start the workflow of a zone; False where its name is taken, or was, as ``reuse`` has it."""
        zone, wave = message.target.zone, message.target.wave
        memo = {"campaign": message.campaign, "campaign_run": message.campaign_run, "index": message.index}
        memo |= {"attempt": message.attempt, "wave": wave}
        # The campaign's first run, by which results are known also where it was reset since.
        memo |= {"origin": message.origin or message.campaign_run}
        try:
            await self._connections.temporal.start_workflow(
                AREAS[start.area].workflow,
                message,
                id=_identifier(message),
                task_queue=Queue.ZONES,
                id_reuse_policy=reuse,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                task_timeout=self._connections.task_timeout,
                memo=memo,
                static_summary=zone.name,
                static_details=f"{zone.plan.value} {zone.kind.value} {zone.id}, campaign {start.name}",
                search_attributes=TypedSearchAttributes(
                    [
                        *of_campaign(start.name, start.started_by),
                        SearchAttributePair(WAVE, wave + 1),
                        SearchAttributePair(PLAN, zone.plan.value),
                        *_listed_as(message),
                    ]
                ),
            )
        except WorkflowAlreadyStartedError:
            return False
        return True

    async def _rejected(self, batch: StartZones, zone: str) -> tuple[str, ...]:
        """The digests of this zone that people rejected, by now: a zone of an earlier run may have heard of
        it since the batch began.
        """
        known = await rejected_digests(self._connections.archive, batch.campaign, zone)
        return known.get(zone, ())[-MOST_REJECTED:]

    async def _refused_at_the_door(self, start: ZoneStart, read: Prepared) -> tuple[str, ...]:
        """The digest of what the plan has read of a zone, where the door would hold a rejection of before
        against it, and the campaign does not end it by that, or only once it has been validated.
        """
        if await self._connections.rejections.of(start, read) is None:
            return ()
        validates = area_of(start.area).validates and start.target.zone.plan is Plan.ENTERPRISE
        by_itself = await ends_by_the_book(self._connections.archive, start, read.fingerprint)
        return () if by_itself and not validates else (read.digest,)

    async def _refuse_when_gone(self, batch: StartZones) -> None:
        """Raises CampaignGone where the run that wanted a zone begun again was reset or ended since: it is
        for the next one to say whether it is.
        """
        run = activity.info().workflow_run_id
        found = await described(self._connections.temporal, batch.campaign, run)
        if found is None or found.status is not WorkflowExecutionStatus.RUNNING:
            raise ApplicationError(
                f"no open run {run} of {batch.campaign}", type="CampaignGone", non_retryable=True
            )

    async def _stop_orphan(
        self, holder: WorkflowExecutionDescription, held: Mapping[str, Any], told: set[str]
    ) -> None:
        """Tell the zone of another run to end, each run of it once: only one run of a campaign is open, so
        that one is gone. ``told``: those that were.
        """
        if holder.run_id not in told:
            await self._stop(holder.id, ORPHAN, str(held.get("campaign_run"))[:LONGEST_TEXT])
            told.add(holder.run_id)

    async def _stop_outlived(self, batch: StartZones, holder: WorkflowExecutionDescription) -> None:
        """Tell an earlier attempt to end. It had ended; somebody has reset its workflow since."""
        over = Stop(by=OUTLIVED, cause=ReasonCode.ATTEMPT_OVER, attempt=await attempt_of(holder, batch))
        await self._stop(holder.id, over, batch.campaign_run)

    async def _stop(self, identifier: str, word: Stop, campaign_run: str) -> None:
        stop = word.model_copy(update={"campaign_run": campaign_run})
        try:
            await self._connections.temporal.get_workflow_handle(identifier).signal("stop", stop)
        except RPCError as failure:
            if not is_missing(failure):
                raise


def _identifier(message: ZoneStart) -> str:
    return migration_id(message.target.zone, message.area)


def _taken(held: Mapping[str, Any]) -> Reason:
    """That another has the zone's name, by its memo: whoever has started it may have written anything."""
    whose = str(held.get("campaign", "another workflow"))[:LONGEST_TEXT]
    through = (str(held["holder"])[:LONGEST_TEXT],) if "holder" in held else ()
    return Reason(code=ReasonCode.HELD_BY_ANOTHER, by=whose, names=through)


def _listed_as(message: ZoneStart) -> list[SearchAttributePair[str]]:
    """Where Temporal's list shows a zone from its start."""
    reading = message.reading
    if reading is None or not message.asks_at_once:
        return [SearchAttributePair(PHASE, ZonePhase.ASSESSING.value)]
    return [
        SearchAttributePair(PHASE, ZonePhase.AWAITING_SIGN_OFF.value),
        SearchAttributePair(FINGERPRINT, reading.fingerprint),
    ]


def _told(message: ZoneStart) -> ZoneStart:
    """How a zone is started: where its first word is known before, the batch's answer says it."""
    reading = message.reading
    if reading is None or not message.may_be_told:
        return message
    return message.model_copy(update={"planned": ToldReading(told=reading)})


def _asking(message: ZoneStart) -> AskingZone | None:
    """That a zone waits for a sign-off from its start on, where it does not say so itself."""
    reading = message.reading
    if reading is None or not message.told:
        return None
    return AskingZone(
        index=message.index,
        step=reading.step,
        digest=reading.digest,
        fingerprint=reading.fingerprint,
        joins=message.policy.sign_off.per != "zone",
    )


def _is_since(read_at: datetime, holder: WorkflowExecutionDescription | None) -> bool:
    """Whether a zone was read after its last workflow had ended. Of one that is forgotten nobody knows."""
    return holder is not None and holder.close_time is not None and read_at > holder.close_time
