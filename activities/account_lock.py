"""Holding an account's zones for the one workflow that changes the account (docs/service.md §3.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.client import WorkflowExecutionStatus
from temporalio.common import TypedSearchAttributes, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from activities.boundary import named_failures
from activities.connections import Connections
from edgeshift.messages import Held, Hold, HoldZones
from edgeshift.messages.base import LONGEST_TEXT
from edgeshift.model.fleet import Zone, attempt_in, campaign_name, migration_id
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import is_missing, memo_of, of_campaign
from edgeshift.stores.documents import CoveredZones, get_document

MOST_NAMED = 5

LOOK_EVERY = timedelta(minutes=10)
"""How often a hold looks whether its holder is still there, before the time scale divides it."""


class HoldActivities:
    """Holds on zones. Each heartbeats how far it has come, and goes on from there, so that an account of
    thousands may take its time.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def _zones(self, message: HoldZones) -> list[Zone]:
        return list((await get_document(self._connections.archive, CoveredZones, message.zones)).root)

    @activity.defn(name="hold_zones")
    @named_failures
    async def hold(self, message: HoldZones) -> Held:
        """Hold them all. Where one cannot be held, those that could are let go of again, and who has the
        others is named.
        """
        zones = await self._zones(message)
        held, names, others, released = _come_to(len(zones))
        spec = await self._connections.spec(message.start.spec)
        every = max(LOOK_EVERY / spec.time_scale, timedelta(seconds=5))

        def beat(released: int) -> None:
            activity.heartbeat(held, names, others, released)

        for zone in zones[held:]:
            beat(0)
            if holder := await self._hold_one(message, zone, every, beat):
                names, others = (*names, f"{zone.name} by {holder}")[:MOST_NAMED], others + 1
            held += 1
        if others:
            await self._release_all(message, zones, beat, released)
            more = [f"and {others - MOST_NAMED} more"] if others > MOST_NAMED else []
            return Held(others=(*names, *more))
        return Held()

    async def _hold_one(
        self, message: HoldZones, zone: Zone, every: timedelta, beat: Callable[[int], None]
    ) -> str:
        """Empty where the zone is held for this account now; else who has it."""
        client, start = self._connections.temporal, message.start
        identifier = migration_id(zone, start.area)
        hold = Hold(
            zone_id=zone.id,
            holder=message.holder,
            campaign=start.campaign,
            look_every=every,
        )
        mine = {"holder": message.holder, "campaign_run": start.campaign_run, "attempt": start.attempt}
        memo = {"campaign": start.campaign, **mine}
        for _ in range(50):
            try:
                await client.start_workflow(
                    "ZoneHold",
                    hold,
                    id=identifier,
                    task_queue=Queue.ZONES,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                    id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                    memo=memo,
                    static_summary=f"{zone.name}, held with its account",
                    search_attributes=TypedSearchAttributes(
                        of_campaign(campaign_name(start.campaign), start.started_by)
                    ),
                )
                return ""
            except WorkflowAlreadyStartedError:
                found = await client.get_workflow_handle(identifier).describe()
                if found.status is not WorkflowExecutionStatus.RUNNING:
                    continue
                held = await memo_of(found) or {}
                if held.get("holder") != message.holder:
                    return str(held.get("campaign", "another workflow"))[:LONGEST_TEXT]
                if all(held.get(name) == value for name, value in mine.items()):
                    return ""
                # Of an earlier attempt, which is gone. It may have been let go of already, and not know yet.
                beat(0)
                await self._release_one(message, zone)
                await asyncio.sleep(0.2)
        return "a workflow that does not close"

    @activity.defn(name="release_zones")
    @named_failures
    async def release(self, message: HoldZones) -> None:
        """Let go of all that are held for this account."""
        zones = await self._zones(message)
        *_, released = _come_to(len(zones))
        await self._release_all(
            message, zones, lambda place: activity.heartbeat(0, (), 0, place), first=released
        )

    async def _release_all(
        self, message: HoldZones, zones: list[Zone], beat: Callable[[int], None], first: int
    ) -> None:
        for place in range(first, len(zones)):
            beat(place)
            await self._release_one(message, zones[place])

    async def _release_one(self, message: HoldZones, zone: Zone) -> None:
        handle = self._connections.temporal.get_workflow_handle(migration_id(zone, message.start.area))
        try:
            if _is_of(message, await memo_of(await handle.describe()) or {}):
                await handle.signal("release")
        except RPCError as failure:
            if not is_missing(failure):
                raise

    @activity.defn(name="holder_is_there")
    @named_failures
    async def still_there(self, hold: Hold) -> bool:
        """Whether the run of the account's workflow that holds the zone, or one that it went on in, is
        open.
        """
        try:
            found = await self._connections.temporal.get_workflow_handle(hold.holder).describe()
        except RPCError as failure:
            if is_missing(failure):
                return False
            raise
        return found.status is WorkflowExecutionStatus.RUNNING


def _come_to(zones: int) -> tuple[int, tuple[str, ...], int, int]:
    """Where an earlier attempt had come to, of so many zones, from its last heartbeat: how many it had tried
    to hold; of those that others have, a few by name, and how many; how many it had let go of again. Anybody
    may send the server one: whatever has not this form has come to nothing.
    """
    try:
        held, names, others, released = activity.info().heartbeat_details
    except ValueError:
        return 0, (), 0, 0
    numbers = (held, others, released)
    of_form = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not of_form or not all(type(number) is int and 0 <= number <= zones for number in numbers):
        return 0, (), 0, 0
    return held, tuple(names[:MOST_NAMED]), others, released


def _is_of(message: HoldZones, memo: Mapping[str, Any]) -> bool:
    """Whether a hold is of this account's attempt, or of an earlier one: a worker that wakes up late does not
    let go of what a later one holds.
    """
    if memo.get("holder") != message.holder:
        return False
    start = message.start
    same = memo.get("campaign_run") == start.campaign_run
    return not same or attempt_in(memo) <= start.attempt
