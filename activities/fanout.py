"""A campaign's work on batches of zones: starting them, telling them things, and looking at silent ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TypeVar
from weakref import WeakValueDictionary

from temporalio import activity
from temporalio.service import RPCError, RPCStatusCode

from activities.boundary import come_to, heartbeating, named_failures
from activities.change.area_work import AreaWork
from activities.connections import Connections
from activities.looks import Looks
from activities.rulings import rejected_digests
from activities.zone_starter import ZoneStarter
from edgeshift.messages import (
    AskingZone,
    DescribedZones,
    DescribeZones,
    Exclusion,
    Expire,
    GoOn,
    PermitGrant,
    Revoke,
    Ruling,
    StartedZones,
    StartZones,
    Stop,
    TellZones,
    ToldZones,
)
from edgeshift.model.fleet import Area, Target, migration_id
from edgeshift.runtime.temporal import is_missing

Progress = TypeVar("Progress", StartedZones, ToldZones, DescribedZones)

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
        self._starter = ZoneStarter(connections)
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
            one = await self._starter.start(batch, place, target, known)
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
        zone that had a workflow lately they are looked for anew when it is begun again (zone_starter.py).
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
