"""A workflow of the enemy's, on a worker of his own, which has activities of edgeshift's done for it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.runtime.queues import Queue
from tests.forgeries.running.attack import ENEMY, Attack

PATIENCE = 60.0
"""Seconds that a change may take."""

SILENCE = 3.0
"""Seconds after which an activity that says nothing of itself counts as lost."""


@workflow.defn(name="Foreign")
class Foreign:
    """Schedules one activity on any queue."""

    @workflow.run
    async def run(self, asked: dict[str, Any]) -> Any:
        """``activity``, with ``message``, on ``queue``, for ``within`` seconds. ``beats``: it tells of itself
        meanwhile, and is told to stop when its time is over.
        """
        return await workflow.execute_activity(
            asked["activity"],
            asked["message"],
            task_queue=asked["queue"],
            start_to_close_timeout=timedelta(seconds=asked["within"]),
            heartbeat_timeout=timedelta(seconds=SILENCE) if asked["beats"] else None,
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


@asynccontextmanager
async def foreign_worker(enemy: Client) -> AsyncIterator[str]:
    """A worker of the enemy's, as long as the block lasts; its queue."""
    own = f"{ENEMY}-{uuid.uuid4().hex[:8]}"
    async with Worker(
        enemy, task_queue=own, workflows=[Foreign], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        yield own


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
        "within": within,
        "beats": beats,
    }
    name = f"{ENEMY}-{uuid.uuid4().hex[:8]}"
    handle = await a.enemy.start_workflow("Foreign", asked, id=name, task_queue=a.own)
    with suppress(WorkflowFailureError, TimeoutError):
        await asyncio.wait_for(handle.result(), within + SILENCE)
    return handle
