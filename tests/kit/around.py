"""What is done around the activities of a scene's worker: answers come late or are lost, work is left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

Work = Callable[[], Awaitable[Any]]
"""Does the activity with what ``asked`` has as its input by then."""


class Around(Interceptor, ABC):
    """An interceptor of one worker's activities. One object serves all of them."""

    @abstractmethod
    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Do an activity of this name; its answer."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor as the worker takes it."""
        outer = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                name, go_on = activity.info().activity_type, super().execute_activity
                return await outer.around(name, input, lambda: go_on(input))

        return Inbound(next)
