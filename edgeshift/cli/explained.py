"""What ``--verbose`` says of requests to Temporal, as they are made: each that is about workflows. What asks
about the server itself, as the doctor does, passes no interceptor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from temporalio.client import Interceptor, OutboundInterceptor

Say = Callable[[str], None]


class Explaining(Interceptor):
    """Says each request of a client of Temporal's."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        """Put it before what makes the requests."""
        return _Requests(next, self._say)


class _Requests(OutboundInterceptor):
    def __init__(self, next: OutboundInterceptor, say: Say) -> None:
        super().__init__(next)
        self._say = say

    async def start_workflow(self, input: Any) -> Any:
        self._say(f"Temporal: start {input.workflow} {input.id}")
        return await super().start_workflow(input)

    async def query_workflow(self, input: Any) -> Any:
        self._say(f"Temporal: ask {input.id} for {input.query}")
        return await super().query_workflow(input)

    async def signal_workflow(self, input: Any) -> None:
        self._say(f"Temporal: tell {input.id} {input.signal}")
        await super().signal_workflow(input)

    async def start_workflow_update(self, input: Any) -> Any:
        self._say(f"Temporal: tell {input.id} {input.update}, and wait for its answer")
        return await super().start_workflow_update(input)

    async def cancel_workflow(self, input: Any) -> None:
        self._say(f"Temporal: cancel {input.id}")
        await super().cancel_workflow(input)

    async def describe_workflow(self, input: Any) -> Any:
        self._say(f"Temporal: describe {input.id}")
        return await super().describe_workflow(input)

    def fetch_workflow_history_events(self, input: Any) -> Any:
        self._say(f"Temporal: read the history of {input.id}")
        return super().fetch_workflow_history_events(input)

    def list_workflows(self, input: Any) -> Any:
        self._say(f"Temporal: list {input.query}")
        return super().list_workflows(input)
