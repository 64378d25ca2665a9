"""Reading until a change shows, or may no longer be expected to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from activities.boundary import refuse_held
from activities.connections import Connections
from edgeshift.messages import Settle, Shown, Verify
from edgeshift.service_api import ServiceError

LONGER = timedelta(minutes=4)
"""How much longer than a change may take is looked for it until it can be read, at most."""


def limits(message: Settle | Verify) -> tuple[float, float]:
    """For how many seconds a change is looked for, and for how many where the last look failed: one answer
    that went wrong at the very end is no reason to leave the target with a person.
    """
    limit = message.limit
    longest = limit + min(LONGER, message.start.policy.patience)
    return limit.total_seconds(), longest.total_seconds()


async def shown_in_time(
    connections: Connections, message: Settle, look: Callable[[], Awaitable[Shown | None]]
) -> tuple[Shown | None, str]:
    """What ``look`` gives, once it gives something, or None when the limit has passed; and what the last look
    failed with, if it did.
    """
    clock, pause = connections.clock, message.start.policy.poll.total_seconds()
    limit, longest = limits(message)
    began = clock.monotonic()
    while True:
        trouble = ""
        try:
            if (shown := await look()) is not None:
                return shown, ""
        except ServiceError as failure:
            refuse_held(failure)
            trouble = str(failure)[:150]
        if clock.monotonic() - began > (longest if trouble else limit):
            return None, trouble
        await clock.sleep(pause)
