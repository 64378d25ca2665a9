"""Task queues of a scene's own, so that many are played at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from temporalio.client import (
    Client,
    ClientConfig,
    ListWorkflowsInput,
    OutboundInterceptor,
    StartWorkflowInput,
    StartWorkflowUpdateWithStartInput,
    WorkflowExecutionAsyncIterator,
    WorkflowHandle,
    WorkflowUpdateHandle,
)
from temporalio.client import Interceptor as ClientInterceptor
from temporalio.client import Plugin as ClientPlugin
from temporalio.service import ConnectConfig, ServiceClient
from temporalio.worker import Interceptor as WorkerInterceptor
from temporalio.worker import Plugin as WorkerPlugin
from temporalio.worker import (
    ReplayerConfig,
    StartActivityInput,
    Worker,
    WorkerConfig,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.workflow import ActivityHandle

from edgeshift.runtime.queues import Queue


def _queues(name: str) -> dict[str, str]:
    """The task queues in place of edgeshift's own."""
    return {queue.value: f"{name}-{queue.short}" for queue in Queue}


class OnQueue(ClientPlugin, WorkerPlugin):
    """Moves everything that a client starts, lists and serves from edgeshift's task queues to others, and the
    activities that workflows send to them.
    """

    def __init__(self, queue: str) -> None:
        self.queue = queue

    def configure_client(self, config: ClientConfig) -> ClientConfig:
        """The client with the moving interceptor."""
        config["interceptors"] = [*config["interceptors"], _Moving(self.queue)]
        return config

    async def connect_service_client(
        self, config: ConnectConfig, next: Callable[[ConnectConfig], Awaitable[ServiceClient]]
    ) -> ServiceClient:
        """As it is."""
        return await next(config)

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """A worker of a queue of edgeshift's serves the other one."""
        queue = config.get("task_queue", "")
        config["task_queue"] = _queues(self.queue).get(queue, queue)
        config["interceptors"] = [*config.get("interceptors", ()), _Sending(self.queue)]
        return config

    async def run_worker(self, worker: Worker, next: Callable[[Worker], Awaitable[None]]) -> None:
        """As it is."""
        await next(worker)

    def configure_replayer(self, config: ReplayerConfig) -> ReplayerConfig:
        """As it is."""
        return config

    def run_replayer(self, replayer: Any, histories: Any, next: Callable[..., Any]) -> Any:
        """As it is."""
        return next(replayer, histories)


class _Sending(WorkerInterceptor):
    """Has workflows send their activities to the moved queues."""

    def __init__(self, queue: str) -> None:
        self._queues = _queues(queue)

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor]:
        """One that moves activities."""
        queues = self._queues

        class Outbound(WorkflowOutboundInterceptor):
            def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:
                queue = input.task_queue
                moved = queues.get(queue, queue) if queue is not None else None
                return super().start_activity(replace(input, task_queue=moved))

        class Inbound(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(Outbound(outbound))

        return Inbound


class _Moving(ClientInterceptor):
    def __init__(self, queue: str) -> None:
        self._queue = queue

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        queues = _queues(self._queue)
        listed = ", ".join(f"'{queue}'" for queue in queues.values())

        class Outbound(OutboundInterceptor):
            async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
                queue = queues.get(input.task_queue, input.task_queue)
                return await super().start_workflow(replace(input, task_queue=queue))

            async def start_update_with_start_workflow(
                self, input: StartWorkflowUpdateWithStartInput
            ) -> WorkflowUpdateHandle[Any]:
                begun = input.start_workflow_input
                begun = replace(begun, task_queue=queues.get(begun.task_queue, begun.task_queue))
                return await super().start_update_with_start_workflow(
                    replace(input, start_workflow_input=begun)
                )

            def list_workflows(self, input: ListWorkflowsInput) -> WorkflowExecutionAsyncIterator:
                narrowed = " AND ".join(filter(None, (input.query, f"TaskQueue IN ({listed})")))
                return super().list_workflows(replace(input, query=narrowed))

        return Outbound(next)


def on_queue(client: Client, queue: str) -> Client:
    """The same client, on a task queue of its own."""
    config = client.config()
    config["plugins"] = [OnQueue(queue)]
    return Client(**config)
