"""A campaign's work on batches of zones: starting them, telling them things, and looking at silent ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar
from weakref import WeakValueDictionary

from temporalio import activity
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from activities.boundary import come_to, heartbeating, named_failures
from activities.change.area_work import AreaWork
from activities.connections import Connections
from activities.looks import Looks, attempt_of, described
from activities.readings import is_fresh, planned_reading
from activities.rulings import ends_by_the_book, rejected_digests
from edgeshift.areas import AREAS, area_of
from edgeshift.messages import (
    OUTLIVED,
    AskingZone,
    DescribedZones,
    DescribeZones,
    Exclusion,
    Expire,
    GoOn,
    PermitGrant,
    Prepared,
    Revoke,
    Ruling,
    StartedZones,
    StartZones,
    Stop,
    TellZones,
    ToldReading,
    ToldZones,
    ZonePhase,
    ZoneStart,
)
from edgeshift.messages.base import LONGEST_TEXT
from edgeshift.model.fleet import Area, Plan, Target, migration_id
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import FINGERPRINT, PHASE, PLAN, WAVE, is_missing, memo_of, of_campaign

Progress = TypeVar("Progress", StartedZones, ToldZones, DescribedZones)

ORPHAN = Stop(
    by="edgeshift", reason="its campaign is gone and begins again", cause=ReasonCode.CAMPAIGN_ABORTED
)

BEFORE_IT_IS_TOLD = 5
"""How often a previous attempt is looked at before it is told to stop: as a rule it is about to close."""

MOST_REJECTED = 20
"""Rejected proposals of one zone that are remembered, the last ones."""

SIDE_BY_SIDE = 10
"""Signals of one fan-out that are on their way at the same time."""

AT_A_PACE = {"revoke": 20.0, "stop": 50.0}
"""Signals a second, at most, of those for which nobody waits. Each makes a zone work and answer: hundreds at
once keep a small Temporal server from answering whoever has stopped the campaign.
"""

LISTED_AGAIN = 60.0
"""Seconds after which the rejections of a campaign are listed again."""

MOST_LISTED = 20
"""Campaigns whose rejections are kept."""

Rejected = dict[str, tuple[str, ...]]


class ZoneActivities:
    """Batches over the zones of a campaign. Each heartbeats the position it has reached and goes on from
    there.
    """

    def __init__(self, connections: Connections, work: Mapping[Area, AreaWork]) -> None:
        self._connections = connections
        self._looks = Looks(connections, work)
        self._rejections: dict[tuple[str, str], tuple[float, Rejected]] = {}
        """Of campaigns, what was rejected, and when that was listed."""
        self._listing = WeakValueDictionary[tuple[str, str], asyncio.Lock]()

    @activity.defn(name="start_zones")
    @heartbeating
    @named_failures
    async def start(self, batch: StartZones) -> StartedZones:
        """Start a batch. The workflow id is the lock: whoever holds a zone already is named."""
        targets = await self._connections.targets(batch.start.targets)
        rejected = await self._rejected_before(batch)
        asked = batch.start.policy
        policy = self._connections.authority.policy_for(asked.sign_off)
        stricter = policy != asked.sign_off
        if stricter:
            # Else zones would come to the door as soon as the first of several people has signed.
            asked = asked.model_copy(update={"sign_off": policy})
            batch = batch.model_copy(update={"start": batch.start.model_copy(update={"policy": asked})})
        done, found = _progress(StartedZones, len(batch.indexes))
        excluded, asking, there = list(found.excluded), list(found.asking), list(found.found)
        for place in range(done, len(batch.indexes)):
            target = targets[batch.indexes[place]]
            known = () if batch.indexes[place] in batch.reopened else rejected.get(target.zone.id, ())
            one = await self._start_one(batch, place, target, known[-MOST_REJECTED:])
            if isinstance(one, Exclusion):
                excluded.append(one)
            elif isinstance(one, AskingZone):
                asking.append(one)
            elif one is not None and batch.hears:
                there.append(one)
            found = StartedZones(excluded=tuple(excluded), asking=tuple(asking), found=tuple(there))
            come_to(place + 1, found)
        return found.model_copy(update={"least": policy if stricter else None})

    async def _rejected_before(self, batch: StartZones) -> Rejected:
        """The digests that people rejected, of each zone of a campaign. They are listed now and then: of a
        zone that had a workflow lately they are looked for anew when it is begun again (``_rejected``).
        """
        clock, key = asyncio.get_running_loop().time, (batch.campaign, batch.campaign_run)
        # Batches begin side by side, and one listing is enough for all of them.
        async with self._listing.setdefault(key, asyncio.Lock()):
            at, known = self._rejections.get(key, (-LISTED_AGAIN, Rejected()))
            if clock() - at >= LISTED_AGAIN:
                known = await rejected_digests(self._connections.archive, batch.campaign)
                self._rejections.pop(key, None)
                while len(self._rejections) >= MOST_LISTED:
                    del self._rejections[next(iter(self._rejections))]
                # Counted from its end: one that took longer than it is kept would be of no use to anybody.
                self._rejections[key] = clock(), known
        return known

    async def _start_one(
        self, batch: StartZones, place: int, target: Target, rejected: tuple[str, ...]
    ) -> Exclusion | AskingZone | int | None:
        """Start one zone. Its index, where it had been started before."""
        start = batch.start
        index = batch.indexes[place]
        zone = target.zone
        identifier = migration_id(zone, start.area)
        message = ZoneStart(
            campaign=batch.campaign,
            campaign_run=batch.campaign_run,
            index=index,
            attempt=batch.attempts[place],
            target=target,
            area=start.area,
            spec=start.spec,
            policy=start.policy,
            started_by=start.started_by,
            permit=batch.permits[place],
            origin=batch.origin,
            rejected=rejected,
            archive=start.archive,
        )
        planned, stands = None, tuple[str, ...]()
        if message.attempt == 1 and (read := await planned_reading(self._connections, start, index, zone)):
            planned = read if await is_fresh(self._connections, start, read) else None
            stands = await self._refused_at_the_door(message, read.prepared)
            update = {"planned": planned and planned.prepared, "rejected": (*rejected, *stands)}
            message = message.model_copy(update=update)
        memo = {"campaign": batch.campaign, "campaign_run": batch.campaign_run, "index": index}
        memo |= {"attempt": message.attempt, "wave": target.wave}
        # The campaign's first run, by which results are known also where it was reset since.
        memo |= {"origin": batch.origin or batch.campaign_run}
        # The activity before this one, or a campaign that was reset since, may have started it; and a zone
        # with nothing to do ends at once. So an identifier that was ever used is looked at first.
        reuse = WorkflowIDReusePolicy.REJECT_DUPLICATE
        told: set[str] = set()
        for tried in range(50):
            given = _told(message) if batch.hears else message
            try:
                await self._connections.temporal.start_workflow(
                    AREAS[start.area].workflow,
                    given,
                    id=identifier,
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
                            SearchAttributePair(WAVE, target.wave + 1),
                            SearchAttributePair(PLAN, zone.plan.value),
                            *_listed_as(given),
                        ]
                    ),
                )
                return _asking(given)
            except WorkflowAlreadyStartedError:
                holder = await described(self._connections.temporal, identifier)
                if holder is not None and await attempt_of(holder, batch) >= message.attempt:
                    return index
                if holder is None or holder.status is not WorkflowExecutionStatus.RUNNING:
                    await self._refuse_when_gone(batch)
                    if index not in batch.reopened:
                        found = await self._rejected(batch, zone.id)
                        message = message.model_copy(update={"rejected": (*found, *stands)})
                    if planned and not _is_since(planned.read_at, holder):
                        # What was read of the zone is from before it was worked on, or from meanwhile.
                        message = message.model_copy(update={"planned": None})
                    reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE
                    continue
                held = await memo_of(holder) or {}
                same = (held.get("campaign"), held.get("campaign_run")) == (
                    batch.campaign,
                    batch.campaign_run,
                )
                if held.get("campaign") != batch.campaign:
                    # Whoever has started it may have written anything.
                    whose = str(held.get("campaign", "another workflow"))[:LONGEST_TEXT]
                    through = (str(held["holder"])[:LONGEST_TEXT],) if "holder" in held else ()
                    taken = Reason(code=ReasonCode.HELD_BY_ANOTHER, by=whose, names=through)
                    return Exclusion(index=index, why=(taken,))
                if not same:
                    # Only one run of a campaign is open, so this one's is gone: its zone is told to end.
                    if holder.run_id not in told:
                        await self._stop(identifier, ORPHAN, str(held.get("campaign_run"))[:LONGEST_TEXT])
                        told.add(holder.run_id)
                elif tried == BEFORE_IT_IS_TOLD:
                    # It had ended; somebody has reset its workflow since.
                    over = Stop(
                        by=OUTLIVED, cause=ReasonCode.ATTEMPT_OVER, attempt=await attempt_of(holder, batch)
                    )
                    await self._stop(identifier, over, batch.campaign_run)
                # Our own previous attempt has said that it is finished and is about to close.
                await asyncio.sleep(0.2)
        return Exclusion(index=index, why=(Reason(code=ReasonCode.EARLIER_ATTEMPT_OPEN),))

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

    async def _stop(self, identifier: str, word: Stop, campaign_run: str) -> None:
        stop = word.model_copy(update={"campaign_run": campaign_run})
        try:
            await self._connections.temporal.get_workflow_handle(identifier).signal("stop", stop)
        except RPCError as failure:
            if not is_missing(failure):
                raise

    @activity.defn(name="tell_zones")
    @named_failures
    async def tell(self, batch: TellZones) -> ToldZones:
        """Send one signal to each zone of a batch, ten at a time; those not open are named, and those that
        take no signals at the moment (a run takes 10,000).
        """
        targets = await self._connections.targets(batch.targets)
        done, told = _progress(ToldZones, len(batch.indexes))
        gone, unreached = list(told.gone), list(told.unreached)
        while done < len(batch.indexes):
            places = range(done, min(done + SIDE_BY_SIDE, len(batch.indexes)))
            signals = (self._signal(batch, place, targets[batch.indexes[place]]) for place in places)
            # All of them have come to an end before any is passed, or made anew.
            found = await asyncio.gather(*signals, return_exceptions=True)
            for place, status in zip(places, found, strict=True):
                if isinstance(status, BaseException):
                    raise status
                if status is RPCStatusCode.NOT_FOUND:
                    gone.append(batch.indexes[place])
                elif status is RPCStatusCode.INVALID_ARGUMENT:
                    unreached.append(batch.indexes[place])
            done, told = places.stop, ToldZones(gone=tuple(gone), unreached=tuple(unreached))
            activity.heartbeat(done, told)
            if done < len(batch.indexes) and batch.signal in AT_A_PACE:
                await asyncio.sleep(SIDE_BY_SIDE / AT_A_PACE[batch.signal])
        return told

    async def _signal(self, batch: TellZones, place: int, target: Target) -> RPCStatusCode:
        """Send a zone its signal; with what status that ended, where it says something of the zone."""
        handle = self._connections.temporal.get_workflow_handle(migration_id(target.zone, batch.area))
        try:
            await handle.signal(batch.signal, _message(batch, place))
        except RPCError as failure:
            if is_missing(failure) or failure.status is RPCStatusCode.INVALID_ARGUMENT:
                return failure.status
            raise
        return RPCStatusCode.OK

    @activity.defn(name="describe_zones")
    @heartbeating
    @named_failures
    async def describe(self, batch: DescribeZones) -> DescribedZones:
        """Look at zones that have been silent. One that closed without a word is settled by its own result,
        or, where somebody terminated it, by reading the service.
        """
        return await self._looks.at(batch, *_progress(DescribedZones, len(batch.indexes)))


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


def _message(batch: TellZones, place: int) -> object:
    """The one message of a fan-out for the zone at this place, in the name of the campaign's first run."""
    message: PermitGrant | Revoke | Expire | Ruling | Stop | GoOn | None
    if batch.grants:
        message = batch.grants[place]
    elif batch.revokes:
        message = batch.revokes[place]
    elif batch.stop and batch.ended_as:
        known = {"attempt": batch.attempts[place], "ended_as": batch.ended_as[place]}
        message = batch.stop.model_copy(update=known)
    elif (word := batch.ruling or batch.stop) and batch.attempts:
        message = word.model_copy(update={"attempt": batch.attempts[place]})
    elif batch.attempts:
        message = Expire(attempt=batch.attempts[place])
    else:
        message = batch.ruling or batch.stop or batch.go_on
    return message and message.model_copy(update={"campaign_run": batch.campaign_run})


def _progress(kind: type[Progress], most: int) -> tuple[int, Progress]:
    """Where an earlier attempt had come to, of so many at ``most``, and what it had found, from its last
    heartbeat. Anybody may send the server one: whatever is none of a batch has come to nothing.
    """
    try:
        done, found = activity.info().heartbeat_details
        if type(done) is int and 0 <= done <= most:
            return done, kind.model_validate(found)
    except (TypeError, ValueError):
        pass
    return 0, kind()
