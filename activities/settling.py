"""Reading until a change shows, or may no longer be expected to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from activities.boundary import refuse_held
from activities.connections import Connections
from edgeshift.messages import Settle, Shown
from edgeshift.service_api import ServiceError


async def shown_in_time(
    connections: Connections, message: Settle, look: Callable[[], Awaitable[Shown | None]]
) -> tuple[Shown | None, str]:
    """What ``look`` gives, once it gives something, or None when the limit has passed; and what the last look
    failed with, if it did.
    """
    clock, pause = connections.clock, message.start.policy.poll.total_seconds()
    began = clock.monotonic()
    while True:
        trouble = ""
        try:
            if (shown := await look()) is not None:
                return shown, ""
        except ServiceError as failure:
            refuse_held(failure)
            trouble = str(failure)[:150]
        if clock.monotonic() - began > message.limit.total_seconds():
            return None, trouble
        await clock.sleep(pause)
