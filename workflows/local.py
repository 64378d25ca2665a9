"""Local activities: made again where only their worker called them off, and failing as in a replay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    TimeoutError,
    is_cancelled_exception,
)

M = TypeVar("M")
T = TypeVar("T")

MOST_CALLED_OFF = 20
"""How often a local activity is made again after a worker called it off; each leaves an event."""


async def locally(activity: Callable[[Any, M], Awaitable[T]], message: M, *, summary: str, **how: Any) -> T:
    """What a local activity gives. ``how``: its time-outs and retries, as in workflows/options.py.

    A worker that is late with a workflow's task puts the workflow out of its cache, and with it calls off the
    local activities that are under way. Some of these come back as cancelled instead of being made anew. That
    says nothing of what they were to do, and nobody asked for it. Raises what the activity raises; where it
    did not succeed in time, ApplicationError.
    """
    called_off = 0
    while True:
        try:
            return await workflow.execute_local_activity_method(activity, message, summary=summary, **how)
        except FailureError as failure:
            # A replay is given the cause alone, which is another failure than the one that has it as a cause.
            cause = failure.cause if isinstance(failure, ActivityError) else failure
            if isinstance(cause, TimeoutError):
                text = f"{summary}: not done in time, however often it was tried"
                raise ApplicationError(text, non_retryable=True) from failure
            if not is_cancelled_exception(failure) or workflow.cancellation_reason() is not None:
                raise
            called_off += 1
            if called_off > MOST_CALLED_OFF:
                raise
