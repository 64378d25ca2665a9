"""Local activities that a worker calls off, as one does that is late with a workflow's task."""

from __future__ import annotations

from collections import Counter
from typing import Any

from temporalio.worker import (
    Interceptor,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.workflow import ActivityHandle

TIMES = 2
"""How often each kind of local activity of a workflow is called off."""


class _Outbound(WorkflowOutboundInterceptor):
    def __init__(self, next: WorkflowOutboundInterceptor) -> None:
        super().__init__(next)
        self.seen: Counter[str] = Counter()

    def start_local_activity(self, input: StartLocalActivityInput) -> ActivityHandle[Any]:
        handle = super().start_local_activity(input)
        self.seen[input.activity] += 1
        if self.seen[input.activity] <= TIMES:
            # The command alone: the workflow's own code is not to see that anybody asked.
            handle._request_cancel()  # type: ignore[attr-defined]
        return handle


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class CalledOff(Interceptor):
    """Of each workflow, the first local activities of each kind are cancelled, though the workflow is not."""

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[_Inbound]:
        """The interceptor of one workflow."""
        return _Inbound
