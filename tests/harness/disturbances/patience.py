"""What has to be done is done again where the Temporal server is away: who begins a pause has to end it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio.client import WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.operations.errors import TemporalTrouble
from edgeshift.runtime.temporal import is_away

Result = TypeVar("Result")

NO_ANSWER = frozenset({RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED})
"""What a call meets beside while the server is away."""

AGAIN_SECONDS = 0.5


async def seen_through(do: Callable[[], Awaitable[Result]]) -> Result:
    """Do it until a server is there to answer."""
    while True:
        try:
            return await do()
        except RPCError as gone:
            if not is_away(gone) and gone.status not in NO_ANSWER:
                raise
        except (WorkflowUpdateRPCTimeoutOrCancelledError, TemporalTrouble):
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                # The client says so of a call that is cancelled from here, too.
                raise asyncio.CancelledError from None
        await asyncio.sleep(AGAIN_SECONDS)


async def in_any_case(do: Callable[[], Awaitable[Result]]) -> Result:
    """As ``seen_through``, also where whoever began it is cancelled meanwhile."""
    return await asyncio.shield(asyncio.ensure_future(seen_through(do)))
