"""A workflow of the enemy's, on a worker of his own, which has activities of edgeshift's done for it."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from typing import Any

from pydantic import BaseModel
from temporalio.client import WorkflowFailureError, WorkflowHandle

from edgeshift.runtime.queues import Queue
from tests.forgeries.running.attack import ENEMY, Attack

PATIENCE = 60.0
"""Seconds that a change may take."""

SILENCE = 3.0
"""Seconds after which an activity that says nothing of itself counts as lost."""


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
