"""The workers of one process: one for each task queue that it serves, with slots and pollers of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import PollerBehaviorSimpleMaximum, Worker

from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import WorkerSettings
from worker.forgetting import forgetting

STICKY = timedelta(seconds=1)
"""How long a workflow task waits for the worker that has the workflow in its cache.

With a worker dead, or too busy, a task waits that long in vain, and a query too. The SDK's ten seconds leave
people waiting, and more time for what a query may leave (docs/decisions.md); that this does no harm is
``forgetting``'s to see to, not this time's.
"""


HEARD_WITHIN = timedelta(seconds=0.2)
"""How often a change, which has no heartbeat time-out, may heartbeat: by that it hears that it is called off.
The SDK's thirty seconds would have whoever pauses a campaign wait for that long.
"""


@dataclass(frozen=True)
class Serves:
    """What the worker of one queue registers, and the SDK's options of its slots."""

    workflows: Sequence[type]
    activities: Sequence[Callable[..., Any]]
    slots: Mapping[str, Any]


def slots(settings: WorkerSettings) -> dict[Queue, dict[str, Any]]:
    """The SDK's options of each queue's slots and pollers."""
    return {
        Queue.CONTROL: {
            "max_cached_workflows": settings.control_cached,
            "max_concurrent_workflow_tasks": settings.control_workflow_tasks,
            "max_concurrent_activities": settings.control_activities,
            "max_concurrent_local_activities": settings.control_local_activities,
            "workflow_task_poller_behavior": PollerBehaviorSimpleMaximum(settings.control_workflow_pollers),
            "activity_task_poller_behavior": PollerBehaviorSimpleMaximum(settings.control_activity_pollers),
        },
        Queue.ZONES: {
            "max_cached_workflows": settings.zones_cached,
            "max_concurrent_workflow_tasks": settings.zones_workflow_tasks,
            "max_concurrent_activities": settings.zones_activities,
            "max_concurrent_local_activities": settings.zones_local_activities,
            "workflow_task_poller_behavior": PollerBehaviorSimpleMaximum(settings.zones_workflow_pollers),
            "activity_task_poller_behavior": PollerBehaviorSimpleMaximum(settings.zones_activity_pollers),
        },
        Queue.CHANGES: {
            "max_concurrent_activities": settings.changes_activities,
            "default_heartbeat_throttle_interval": HEARD_WITHIN,
            "activity_task_poller_behavior": PollerBehaviorSimpleMaximum(settings.changes_activity_pollers),
        },
        Queue.LONG: {
            "max_concurrent_activities": settings.long_activities,
            "activity_task_poller_behavior": PollerBehaviorSimpleMaximum(settings.long_activity_pollers),
        },
        Queue.QUOTA: {
            "max_cached_workflows": settings.quota_cached,
            "max_concurrent_workflow_tasks": settings.quota_workflow_tasks,
            "workflow_task_poller_behavior": PollerBehaviorSimpleMaximum(settings.quota_workflow_pollers),
        },
    }


@asynccontextmanager
async def serving(
    client: Client, queues: Mapping[Queue, Serves], **shared: Any
) -> AsyncIterator[dict[Queue, Worker]]:
    """Run a worker for each of these queues until the block ends. ``shared``: options of all of them.

    All end at once, but for the quotas', which end last: whoever sees something through may need a slot.
    """
    running: dict[Queue, Worker] = {}
    async with AsyncExitStack() as stack:
        for queue in sorted(queues, key=lambda queue: queue is not Queue.QUOTA):
            serves = queues[queue]
            worker = forgetting(
                client,
                task_queue=queue,
                workflows=serves.workflows,
                activities=serves.activities,
                sticky_queue_schedule_to_start_timeout=STICKY,
                **serves.slots,
                **shared,
            )
            running[queue] = await stack.enter_async_context(worker)
        stack.push_async_callback(_end, [one for queue, one in running.items() if queue is not Queue.QUOTA])
        yield running


async def _end(workers: Sequence[Worker]) -> None:
    await asyncio.gather(*(worker.shutdown() for worker in workers))
