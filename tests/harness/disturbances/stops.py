"""Pauses, resumptions and aborts at random moments. Whether anything begins after the answer, the checkers
see by the journal (rule 7).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from functools import partial

from temporalio.client import WorkflowUpdateFailedError
from temporalio.service import RPCError

from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.harness.disturbances.patience import in_any_case, seen_through


async def pause_while(acting: Acting, meanwhile: Callable[[], Awaitable[object]]) -> bool:
    """Pause; do something once that was answered; resume. Whether it was paused."""
    play = acting.stage.play
    # An answer may be lost; by its key the pause is known again.
    key = uuid.uuid4().hex
    try:
        answer = await seen_through(lambda: play.ask("pause", "a look", key))
    except (RPCError, WorkflowUpdateFailedError):
        return False
    if not answer.text.startswith("is paused"):
        play.stops.pop()
        await play.sign_word("resume", "it is not paused")
        return False
    acting.told("pause")
    try:
        await meanwhile()
    finally:
        try:
            await in_any_case(lambda: play.ask("resume"))
        except (RPCError, WorkflowUpdateFailedError):
            acting.told("closed in a pause")
    return True


async def abort(acting: Acting) -> bool:
    """Abort the campaign; whether it was open."""
    try:
        await seen_through(lambda: acting.stage.play.ask("abort", "enough"))
    except (RPCError, WorkflowUpdateFailedError):
        return False
    acting.told("abort")
    return True


async def _pauses(acting: Acting) -> None:
    for _ in range(acting.chance.randint(1, 6)):
        await asyncio.sleep(acting.chance.uniform(0.3, 4.0))
        seconds = acting.chance.uniform(0.0, 3.0)
        await pause_while(acting, partial(asyncio.sleep, seconds))


async def _abort(acting: Acting) -> None:
    await asyncio.sleep(acting.chance.uniform(0.5, 10.0))
    await abort(acting)


disturbance(Disturbance("pause-resume", _pauses))
disturbance(Disturbance("abort", _abort, leaves_people_work=True))
