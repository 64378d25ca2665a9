"""Waiting for a workflow while looking how far it is, without waiting for a worker that is not there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

from temporalio.api.common.v1 import Payloads
from temporalio.client import Client, WorkflowExecutionDescription

from edgeshift.model.failures import hint_of
from edgeshift.operations.calls import errors_for_people, no_worker
from edgeshift.operations.errors import ServiceTrouble
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import polling

Result = TypeVar("Result")

Trouble = Callable[[str], None]
"""Hears why something is being tried again."""

LOOK_EVERY = 0.5
"""Seconds between two looks at how far it is."""

FIRST_ACTIVITY = "resolve_targets"
NOT_CONNECTED = "ConnectionRefused"
TRIES_TO_CONNECT = 2
"""Who waits for a plan is told that the service is not there after so many tries of the first activity, which
lists the zones: half a second lies between them. A campaign goes on trying.
"""

PATIENCE = 15.0
"""Seconds that a task queue may be without a worker before waiting is given up: a restart takes less."""


ASSESSING = (Queue.CONTROL, Queue.ZONES, Queue.QUOTA)
"""What has to be served for what people wait for here: listing, reading, and leave to call."""


async def pollers(client: Client) -> list[str]:
    """The identities of the workers that poll the task queues of an assessment, as Temporal has seen them in
    the last minutes; none where one of the queues has none.
    """
    seen: set[str] = set()
    for queue in ASSESSING:
        with errors_for_people(f"task queue {queue}"):
            found = await polling(client, queue)
        if not found:
            return []
        seen |= {poller.identity for poller in found}
    return sorted(seen)


def unattended(described: WorkflowExecutionDescription, now: datetime) -> float:
    """Seconds for which a task of the workflow has waited for a worker; 0 where none waits."""
    raw = described.raw_description
    if not raw.HasField("pending_workflow_task") or raw.pending_workflow_task.HasField("started_time"):
        return 0.0
    since = raw.pending_workflow_task.scheduled_time.ToDatetime(tzinfo=UTC)
    return max(0.0, (now - since).total_seconds())


async def with_progress(
    result: Awaitable[Result],
    client: Client,
    workflow_id: str,
    *,
    look: Callable[[WorkflowExecutionDescription], Awaitable[None]] | None = None,
    trouble: Trouble | None = None,
) -> Result:
    """The result, with a ``look`` at the workflow's description now and then. Raises TemporalTrouble
    when no worker is there to make it, and ServiceTrouble when the service cannot be connected to at all.
    """
    waiting = asyncio.ensure_future(result)
    loop = asyncio.get_running_loop()
    alone_since: float | None = None
    try:
        while not (await asyncio.wait({waiting}, timeout=LOOK_EVERY))[0]:
            if await pollers(client):
                alone_since = None
                described = await _described(client, workflow_id)
                if look is not None:
                    await look(described)
                await _hear(client, described, trouble)
                continue
            alone_since = alone_since or loop.time()
            if loop.time() - alone_since > PATIENCE:
                raise no_worker("the task")
        return await waiting
    finally:
        waiting.cancel()


async def _described(client: Client, workflow_id: str) -> WorkflowExecutionDescription:
    with errors_for_people(workflow_id):
        return await client.get_workflow_handle(workflow_id).describe()


async def _hear(client: Client, described: WorkflowExecutionDescription, trouble: Trouble | None) -> None:
    """Pass on why an activity of the workflow failed last, while it is being tried again, or why it waits.
    Raises ServiceTrouble where the very first one cannot connect: a person who waits is told at once. Whoever
    has listed the zones has been at the service; from then on an outage is waited for.
    """
    for pending in described.raw_description.pending_activities:
        failure = pending.last_failure
        if pending.attempt > 1 and failure.message and trouble is not None:
            trouble(failure.message)
        if trouble is not None:
            for why in await _why_it_waits(client, pending.heartbeat_details):
                trouble(why)
        kind = failure.application_failure_info.type
        first = pending.activity_type.name == FIRST_ACTIVITY
        if first and kind == NOT_CONNECTED and pending.attempt > TRIES_TO_CONNECT:
            raise ServiceTrouble(failure.message, hint_of(kind))


async def _why_it_waits(client: Client, told: Payloads) -> list[str]:
    """What the heartbeats of a plan's batch say beside its parts while it waits."""
    # Whoever reaches Temporal may tell heartbeats: what makes no sense is left out.
    try:
        details = await client.data_converter.decode_wrapper(told)
    except Exception:
        # Whatever a codec or converter raises, nothing can be told of it.
        return []
    found = [one.get("why") for one in details if isinstance(one, dict)]
    return [why for why in found if isinstance(why, str)]
