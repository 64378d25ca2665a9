"""Whether a stack's workers are there yet: a process that was started polls nothing for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import polling

SERVED_WITHIN = 120.0
"""Seconds in which a worker comes, also on a busy machine."""

LOOKS_EVERY = 0.2


async def until_served(
    client: Client, within: float = SERVED_WITHIN, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Wait until every task queue is polled, so that whoever begins something is not told that no worker is
    there: for so many seconds at most, or until ``stopped``, since a worker that does not start is started
    again meanwhile. Whether every one is.
    """
    limit = asyncio.get_running_loop().time() + within
    while not stopped() and asyncio.get_running_loop().time() < limit:
        with suppress(RPCError):
            if all([await polling(client, queue) for queue in Queue]):
                return True
        await asyncio.sleep(LOOKS_EVERY)
    return False
