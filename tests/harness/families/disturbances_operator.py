"""An operator at each phase of each way: resets, terminations, cancellations, activities reset and paused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from functools import partial
from typing import Any

from temporalio.service import RPCError, RPCStatusCode

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import RETRYABLE, ZoneOutcome
from edgeshift.operations.again import zones_at
from tests.harness.cases import Case, World
from tests.harness.disturbances import Acting
from tests.harness.disturbances.operators import (
    Handle,
    pause_activity,
    reset,
    reset_activity,
    tasks,
    terminate_campaign,
)
from tests.harness.disturbances.phases import Missed, bring
from tests.harness.disturbances.scenes import Act, Beside, play_beside
from tests.harness.disturbances.ways import IN_PART, PAST_EVERY_TIMEOUT, WAYS, Way
from tests.harness.verdict import Verdict
from tests.kit import eventually
from tests.kit.faults import Stage

TASKS = 7
"""Workflow tasks of a zone's longest way, at least."""

POINTS: dict[str, Callable[[int], int]] = {
    "first": lambda count: 0,
    "second": lambda count: min(1, count - 1),
    "third": lambda count: min(2, count - 1),
    "middle": lambda count: count // 2,
    "last": lambda count: count - 1,
}
"""Which of the campaign's workflow tasks it is reset to."""

RETRIED = ("asked", "begun")
"""When the campaign is reset: as soon as it has said that it will begin the zone again, or once it has."""

ENDS = {
    # A zone that is cancelled while it is changed sees that through, and begins nothing more.
    "terminate-zone": frozenset({"aborted", "rolled_back"}),
    "reset-retried": frozenset({"settled"}),
    # It has an outcome by then, which stands; what its workflow begins anew is stopped, or has no approval
    # left: where it was taken back, that was used.
    "reset-zone/closed": frozenset({"aborted", "on_hold"}),
    # A campaign that is reset before it has begun the zone again does not know that it was to.
    "asked": frozenset({"failed", "unknown", "settled"}),
}
"""Outcomes of the zones of a family, of a case whose id ends so, or of a family's case whose id does, beside
those of their way.
"""

PENDING: dict[str, tuple[tuple[str, ZonePhase], ...]] = {
    "professional": (("change_zone", ZonePhase.COMMITTING), ("verify_waf_zone", ZonePhase.VERIFYING)),
    "enterprise": (("change_zone", ZonePhase.STARTING_VALIDATION),),
    "secret": (("change_zone", ZonePhase.SETTING_SECRET), ("change_zone", ZonePhase.COMMITTING)),
    "worse": (("change_zone", ZonePhase.ROLLING_BACK),),
    "shared": (("change_zone", ZonePhase.COMMITTING),),
}
"""Activities that are pending in a phase."""


def cases() -> list[Case]:
    """Each thing that an operator can do, at each phase of each way."""
    found = []
    for way in WAYS.values():
        for phase in way.phases:
            at = f"{way.area}/{way.name}/{phase.value}"
            if phase is not ZonePhase.ASSESSING:
                found.append(_case(f"reset-zone/{at}", way, phase, TASKS + 1, _reset_zones))
            if phase is not ZonePhase.CLOSED:
                found.append(_case(f"terminate-zone/{at}", way, phase, 3, _terminate_zones))
                found += [
                    _case(f"reset-retried/{at}/{when}", way, phase, 2, partial(_reset_before_retry, when))
                    for when in RETRIED
                ]
            found.append(_case(f"terminate-campaign/{at}", way, phase, 2, _terminate_campaign))
            found += [
                _case(f"reset-campaign/{at}/{point}", way, phase, 2, partial(_reset_campaign, point))
                for point in POINTS
            ]
        for kind, phase in PENDING.get(way.name, ()):
            at = f"{way.area}/{way.name}/{phase.value}/{kind}"
            found.append(_case(f"reset-activity/{at}", way, phase, 4, partial(_disturb_activity, kind)))
    return found


Do = Callable[[Way, ZonePhase, Acting], Any]


def _case(identifier: str, way: Way, phase: ZonePhase, zones: int, do: Do) -> Case:
    return Case(
        identifier, identifier.partition("/")[0], zones, partial(_play, identifier, way, phase, zones, do)
    )


async def _play(identifier: str, way: Way, phase: ZonePhase, zones: int, do: Do, world: World) -> Verdict:
    act: Act = partial(do, way, phase)
    family, last = identifier.partition("/")[0], identifier.rpartition("/")[2]
    ends = ENDS.get(last, ENDS.get(f"{family}/{last}", ENDS.get(family, frozenset())))
    ends |= IN_PART.get(way.name, frozenset())
    beside = Beside(act, (family,), zones, first=True, faults=way.phases[phase], outcomes=ends)
    return await play_beside(identifier, way, beside, world)


def _others(stage: Stage) -> list[str]:
    """All zones but the last one, which keeps the campaign open."""
    return stage.names[:-1]


async def _at_each(
    way: Way, phase: ZonePhase, stage: Stage, there: Callable[[int, Handle], Awaitable[None]]
) -> None:
    """Bring all zones but the last one to the phase, and do something to those that were seen in it.
    ``there``: takes a zone's place among them, and its workflow.
    """

    async def one(place: int, short: str) -> None:
        with suppress(Missed):
            await bring(stage, way, short, phase)
            await there(place, stage.play.zone(stage.name(short)))

    await asyncio.gather(*(one(place, short) for place, short in enumerate(_others(stage))))


async def _reset_zones(way: Way, phase: ZonePhase, acting: Acting) -> None:
    """Each zone to another one of its workflow tasks."""
    client = acting.stage.play.client

    async def there(place: int, handle: Handle) -> None:
        at = await tasks(handle)
        if place < len(at) and await reset(client, handle, at[place]):
            acting.told("reset-zone")

    await _at_each(way, phase, acting.stage, there)


async def _terminate_zones(way: Way, phase: ZonePhase, acting: Acting) -> None:
    """One zone is terminated, one cancelled; whoever finds them open begins them again."""
    stage = acting.stage
    ended, cancelled = _others(stage)
    await asyncio.gather(*(bring(stage, way, short, phase) for short in (ended, cancelled)))
    await _while_open(stage.play.zone(stage.name(ended)).terminate("by hand"))
    await _while_open(stage.play.zone(stage.name(cancelled)).cancel())
    acting.told("terminate-zone")
    await _retry(acting, ended, cancelled)


async def _reset_before_retry(when: str, way: Way, phase: ZonePhase, acting: Acting) -> None:
    """A zone is terminated, and people begin it again; then its campaign is reset to before it was
    terminated.
    """
    stage = acting.stage
    ended = stage.names[0]
    await bring(stage, way, ended, phase)
    before = (await tasks(stage.play.campaign))[-1]
    await _while_open(stage.play.zone(stage.name(ended)).terminate("by hand"))
    asked = await _retry(acting, ended)
    if asked and when == "begun":
        await eventually(lambda: _is_open(stage, ended), 60, "the zone is begun again")
    if await reset(stage.play.client, stage.play.campaign, before):
        acting.told("reset-retried")
    stage.forget_signed()


async def _while_open(asked: Awaitable[None]) -> None:
    """What is asked of a workflow that may have closed since it was looked at, on a busy machine."""
    try:
        await asked
    except RPCError as refused:
        if refused.status is not RPCStatusCode.NOT_FOUND:
            raise


async def _is_open(stage: Stage, short: str) -> bool:
    described = await stage.play.zone(stage.name(short)).describe()
    return described.close_time is None


async def _retry(acting: Acting, *shorts: str) -> list[str]:
    """Begin again those of the zones that the campaign finds open; which."""
    stage = acting.stage
    await eventually(lambda: _settled(stage, *shorts), 150, "the campaign finds them")
    if asked := [short for short in shorts if await _is_at(stage, short, RETRYABLE)]:
        await stage.play.again("retry", *map(stage.name, asked))
        acting.told("retry")
    return asked


async def _settled(stage: Stage, *shorts: str) -> bool:
    return all([await _is_at(stage, short, frozenset(ZoneOutcome)) for short in shorts])


async def _is_at(stage: Stage, short: str, outcomes: Collection[ZoneOutcome]) -> bool:
    """Whether the campaign has a zone for one that ended so."""
    index = stage.play.index(stage.name(short))
    places = [outcome.value for outcome in outcomes]
    found = await zones_at(stage.play.client, stage.play.spec.name, places)
    return any(one.index == index for one in found.targets)


async def _terminate_campaign(way: Way, phase: ZonePhase, acting: Acting) -> None:
    stage = acting.stage
    await bring(stage, way, stage.names[0], phase)
    if await terminate_campaign(acting):
        acting.told("terminate-campaign")


async def _reset_campaign(point: str, way: Way, phase: ZonePhase, acting: Acting) -> None:
    stage = acting.stage
    await bring(stage, way, stage.names[0], phase)
    handle = stage.play.campaign
    at = await tasks(handle)
    if await reset(stage.play.client, handle, at[POINTS[point](len(at))]):
        acting.told("reset-campaign")
    # A book that is reset to before its decisions is written anew.
    stage.forget_signed()


async def _disturb_activity(kind: str, way: Way, phase: ZonePhase, acting: Acting) -> None:
    """One is reset, one is paused for a moment, one past every time-out, while they run."""
    client = acting.stage.play.client

    async def there(place: int, handle: Handle) -> None:
        done = (
            await reset_activity(client, handle, kind)
            if place == 0
            else await pause_activity(client, handle, kind, 0.5 if place == 1 else PAST_EVERY_TIMEOUT)
        )
        if done:
            acting.told("reset-activity")

    await _at_each(way, phase, acting.stage, there)
