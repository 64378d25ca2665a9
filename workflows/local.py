"""Local activities, which are made again where nobody but their worker called them off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

T = TypeVar("T")

MOST_CALLED_OFF = 20
"""How often a local activity is made again after a worker called it off; each leaves an event."""


async def locally(work: Callable[[], Awaitable[T]]) -> T:
    """What a local activity gives.

    A worker that is late with a workflow's task puts the workflow out of its cache, and with it calls off the
    local activities that are under way. Some of these come back as cancelled instead of being made anew. That
    says nothing of what they were to do, and nobody asked for it. Raises what the activity raises.
    """
    for _ in range(MOST_CALLED_OFF):
        try:
            return await work()
        except FailureError as failure:
            if not is_cancelled_exception(failure) or workflow.cancellation_reason() is not None:
                raise
            if not workflow.patched("called-off-is-made-again"):
                raise
    return await work()
