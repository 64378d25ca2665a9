"""How a change is called off while its activity runs: it does not wait for a turn within the rate limit that
it has no more use for.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from temporalio import activity

from activities.change.fence import Fence
from edgeshift.messages import ChangeResult, ChangeStatus

T = TypeVar("T")

WAITS = 1.0
"""Seconds between heartbeats, by which an activity hears that it is called off, while nothing was sent.
Whoever pauses a campaign does not wait for it, since its permit is given up in the archive.
"""

LOOKS = 0.25
"""Seconds between them once something was sent: whoever pauses a campaign waits for its outcome."""


async def unless_called_off(fence: Fence, work: Coroutine[Any, Any, ChangeResult]) -> ChangeResult:
    """What ``work`` gives. Where the activity is cancelled before any request of the step has had its turn,
    it ends at once, and nothing happened; after that it is seen through, and its result is kept.
    """
    task = asyncio.ensure_future(work)
    heart, stopping = asyncio.create_task(_beat(fence)), asyncio.create_task(_stop(fence, task))
    try:
        while True:
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                if task.cancelled() and fence.called_off.is_set():
                    return ChangeResult(
                        status=ChangeStatus.NOTHING_HAPPENED, reason="it was called off before it was sent"
                    )
                if task.cancelled():
                    return fence.stopped().result
                fence.called_off.set()
                if fence.may_be_called_off:
                    # Nothing runs between this and the first line of ``Fence.intend``.
                    task.cancel()
    finally:
        heart.cancel()
        stopping.cancel()


async def _stop(fence: Fence, task: asyncio.Future[ChangeResult]) -> None:
    """End a step that waits for its first turn when its worker is told to stop: it may have long to wait."""
    await activity.wait_for_worker_shutdown()
    if fence.may_be_called_off:
        task.cancel()


async def _beat(fence: Fence) -> None:
    while True:
        await asyncio.sleep(LOOKS if fence.begun else WAITS)
        activity.heartbeat()


async def unless_hurried(fence: Fence, work: Coroutine[Any, Any, T], otherwise: T) -> T:
    """What ``work`` gives, which only looks at what was sent; ``otherwise`` once the step is called off."""
    task = asyncio.ensure_future(work)
    hurried = asyncio.ensure_future(fence.called_off.wait())
    try:
        await asyncio.wait((task, hurried), return_when=asyncio.FIRST_COMPLETED)
        return await task if task.done() else otherwise
    finally:
        for one in (task, hurried):
            one.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await one
