"""A workflow of the enemy's, on a worker of his own, which has activities of edgeshift's done for it; and how
a kind of forgery is registered for each dress of such an activity's message.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError

from edgeshift.model.fleet import migration_id
from edgeshift.runtime.queues import Queue
from tests.forgeries.running.attack import ENEMY, Attack, Trace
from tests.forgeries.running.dresses import (
    Dress,
    Dressing,
    before_the_first_attempt,
    below_what_was_sent,
    by_a_strangers_proxy,
    by_a_strangers_service,
    in_a_later_attempt,
    in_a_run_without_a_name,
    in_an_attempt_to_come,
    in_another_run,
    in_its_own_name,
    of_another_zone,
    on_the_way_back,
    on_the_way_back_in_the_last_attempt,
    under_a_name_of_two_parts,
    under_an_empty_name,
    with_a_planted_proposal,
    with_a_planted_proposal_on_the_way_back,
)
from tests.forgeries.running.kinds import EVERY, KINDS, Kind

PATIENCE = 60.0
"""Seconds that a change may take."""

SILENCE = 3.0
"""Seconds after which an activity that says nothing of itself counts as lost."""

A_WHILE = 6.0
"""Seconds for what tells of itself, and would wait for longer."""

Made = TypeVar("Made", bound=BaseModel)

Make = Callable[[Attack, Dress], Awaitable[Made]]

ZONES: tuple[Dressing, ...] = (in_its_own_name, of_another_zone, in_a_later_attempt, in_another_run)
ATTEMPTS: tuple[Dressing, ...] = (
    in_an_attempt_to_come,
    before_the_first_attempt,
    in_a_run_without_a_name,
    on_the_way_back_in_the_last_attempt,
)
PERMITS: tuple[Dressing, ...] = (under_an_empty_name, under_a_name_of_two_parts, below_what_was_sent)
SPECS: tuple[Dressing, ...] = (by_a_strangers_service, by_a_strangers_proxy)
PLANTED: tuple[Dressing, ...] = (
    on_the_way_back,
    with_a_planted_proposal,
    with_a_planted_proposal_on_the_way_back,
)


def queue_of(a: Attack, queue: Queue) -> str:
    """The scene's own queue in the place of edgeshift's."""
    return f"faults-{a.stage.tag}-{queue.short}"


async def scheduled(
    a: Attack,
    activity: str,
    message: BaseModel,
    queue: Queue = Queue.LONG,
    *,
    within: float = PATIENCE,
    beats: bool = False,
) -> WorkflowHandle[Any, Any]:
    """Have an activity of edgeshift's done for a workflow of the enemy's, to its end."""
    asked = {
        "activity": activity,
        "message": message.model_dump(mode="json"),
        "queue": queue_of(a, queue),
        "seconds": within,
        "silence": SILENCE if beats else None,
    }
    name = f"{ENEMY}-{uuid.uuid4().hex[:8]}"
    handle = await a.enemy.start_workflow("Foreign", asked, id=name, task_queue=a.own)
    with suppress(WorkflowFailureError, TimeoutError):
        await asyncio.wait_for(handle.result(), within + SILENCE)
    return handle


def done(
    activity: str,
    *dresses: Dressing,
    areas: tuple[str, ...] = EVERY,
    queue: Queue = Queue.LONG,
    within: float = PATIENCE,
    beats: bool = False,
    as_: str = "",
) -> Callable[[Make[Made]], Make[Made]]:
    """Register a kind for each dress of what makes the activity's message. ``as_``: what the kinds are called
    by, where there are several of one activity.
    """

    def register(make: Make[Made]) -> Make[Made]:
        for dressing in dresses:

            async def work(a: Attack, dressing: Dressing = dressing) -> Trace:
                message = await make(a, await dressing(a))
                trace = await scheduled(a, activity, message, queue, within=within, beats=beats)
                if activity == "hold_zones":
                    await _ended(a)
                return trace

            name = f"{as_ or activity}_{dressing.__name__}"
            KINDS[name] = Kind(work, areas, beside=True, activity=activity)
        return make

    return register


def waits(activity: str, *dresses: Dressing, **more: Any) -> Callable[[Make[Made]], Make[Made]]:
    """One that tells of itself, and is stopped after a while."""
    return done(activity, *dresses, within=A_WHILE, beats=True, **more)


async def _ended(a: Attack) -> None:
    """Whoever looks after Temporal ends the holds on zones of this campaign."""
    for target in a.stage.play.targets:
        handle = a.enemy.get_workflow_handle(migration_id(target.zone, a.stage.play.spec.area))
        described = await handle.describe()
        if described.workflow_type == "ZoneHold" and described.close_time is None:
            with suppress(RPCError):
                await handle.terminate("whoever looks after Temporal has seen it")
