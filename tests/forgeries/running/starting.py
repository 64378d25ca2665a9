"""How a workflow of edgeshift's is started by the enemy, under which id, and for how long."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from pydantic import BaseModel
from temporalio.client import WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from edgeshift.runtime.queues import Queue
from tests.forgeries.running.attack import ENEMY, Attack, Trace
from tests.forgeries.running.dresses import Dress, Dressing
from tests.forgeries.running.foreign import ended
from tests.forgeries.running.kinds import EVERY, KINDS, Kind

A_WHILE = 4.0
"""Seconds for which a workflow of the enemy's goes on, until whoever looks after Temporal ends it."""

Make = Callable[[Attack, Dress], Awaitable[Sequence[BaseModel | bytes]]]


def started(
    workflow: str,
    queue: Queue,
    *dresses: Dressing,
    areas: tuple[str, ...] = EVERY,
    as_: str = "",
    like: Callable[[Attack, Dress], str] | None = None,
) -> Callable[[Make], Make]:
    """Register a kind for each dress of what makes the workflow's input. ``like``: the id that it is started
    under, where that is none of the enemy's own.
    """

    def register(make: Make) -> Make:
        for dressing in dresses:

            async def work(a: Attack, dressing: Dressing = dressing) -> Trace:
                dress = await dressing(a)
                own = f"{ENEMY}/{uuid.uuid4().hex[:8]}"
                return await lasting(
                    a, workflow, await make(a, dress), like(a, dress) if like else own, queue
                )

            KINDS[f"{as_ or workflow}_{dressing.__name__}"] = Kind(
                work, areas, beside=True, workflow=workflow
            )
        return make

    return register


async def lasting(
    a: Attack, workflow: str, arguments: Sequence[BaseModel | bytes], identifier: str, queue: Queue
) -> Trace:
    """Start a workflow, have it say and do what it can for a while, and end it."""
    try:
        handle = await a.enemy.start_workflow(
            workflow,
            args=list(arguments),
            id=identifier,
            task_queue=queue,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
    except WorkflowAlreadyStartedError:
        return "refused"
    handle = a.enemy.get_workflow_handle(identifier, run_id=handle.result_run_id)
    a.theirs.add(handle.run_id or "")
    with suppress(WorkflowFailureError, TimeoutError, RPCError):
        await asyncio.wait_for(handle.result(), A_WHILE)
    with suppress(RPCError):
        await ended(a.enemy.get_workflow_handle(identifier))
    return handle


def beside(work: Callable[[Attack], Awaitable[Trace]]) -> Callable[[Attack], Awaitable[Trace]]:
    """Register one that is tried in every phase."""
    KINDS[work.__name__] = Kind(work, beside=True)
    return work
