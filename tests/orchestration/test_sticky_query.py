"""A query that waits for a dead worker reaches another one, which may then go on from a state that no replay
comes to: with the plain SDK, whatever its sticky time-out is; not with this project's workers.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, Worker

from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.kit.queue import on_queue
from tests.orchestration.queried_kit import ALL, InBatches
from worker.forgetting import Forgetting
from worker.queues import STICKY
from worker.wiring import workers

pytestmark = pytest.mark.embedded

THE_SDKS = timedelta(seconds=10)
"""The sticky time-out that the SDK has of itself."""

MOMENTS = ((0.3, 1.15), (0.5, 1.25), (0.7, 1.35), (0.6, 1.4))
"""When the two words come, in sticky time-outs after the query: the first while that waits, and the second
after it was answered, before the task of the first has waited for as long.
"""

KINDS = ("signal", "update")


@asynccontextmanager
async def to_be_killed(client: Client, address: str, queue: str, sticky: timedelta) -> AsyncIterator[Any]:
    """A worker process that has the workflows of ``begun`` in its cache."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.orchestration.queried_kit"),
        *(address, queue, str(sticky.total_seconds())),
        cwd=Path(__file__).parents[2],
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def played(
    client: Client,
    address: str,
    queue: str,
    sticky: timedelta,
    next_worker: AbstractAsyncContextManager[Any],
) -> list[str]:
    """Query workflows whose worker was killed, then have two words come; why each history does not replay,
    empty where it does.
    """
    async with to_be_killed(client, address, queue, sticky) as process:
        tries = [
            (
                await client.start_workflow(InBatches.run, id=f"{queue}-{place}", task_queue=queue),
                kind,
                moments,
            )
            for place, (kind, moments) in enumerate((kind, one) for kind in KINDS for one in MOMENTS)
        ]
        for handle, _, _ in tries:
            assert await handle.query("count") == 0
        process.kill()
        await process.wait()
        async with next_worker:
            return await asyncio.gather(*(one_try(*one, sticky) for one in tries))


async def one_try(
    handle: WorkflowHandle[Any, list[int]], kind: str, moments: tuple[float, float], sticky: timedelta
) -> str:
    """One workflow, from its query to its end."""
    first, second = (moment * sticky.total_seconds() for moment in moments)
    query = asyncio.create_task(handle.query("count"))
    await asyncio.sleep(first)
    await handle.signal("say", "first")
    await asyncio.sleep(second - first)
    if kind == "signal":
        await handle.signal("say", "second")
    else:
        assert await handle.execute_update("ask", "second") == ALL
    await query
    # It has come to its end, whatever its history says.
    assert (await handle.result())[-1] == ALL
    replayer = Replayer(workflows=[InBatches], workflow_runner=UnsandboxedWorkflowRunner())
    replayed = await replayer.replay_workflow(await handle.fetch_history(), raise_on_replay_failure=False)
    return f"{kind}: {replayed.replay_failure}" if replayed.replay_failure else ""


@pytest.mark.parametrize(
    "sticky",
    [pytest.param(THE_SDKS, id="ten-seconds", marks=pytest.mark.long), pytest.param(STICKY, id="one-second")],
)
async def test_the_plain_sdk_writes_histories_that_it_does_not_replay(
    sticky: timedelta, temporal_client: Client, embedded: EmbeddedTemporal
) -> None:
    """With a shorter time-out the words have to come at shorter distances, and then it is the same. Where
    this fails, the SDK may have fixed it, and worker/forgetting.py may go.
    """
    queue = f"queried-{uuid.uuid4().hex[:8]}"
    plain = Worker(
        temporal_client,
        task_queue=queue,
        workflows=[InBatches],
        workflow_runner=UnsandboxedWorkflowRunner(),
        sticky_queue_schedule_to_start_timeout=sticky,
    )
    found = await played(temporal_client, embedded.address, queue, sticky, plain)
    assert any(why.startswith("signal") for why in found), found
    assert any("Update machine does not handle this event" in why for why in found), found


async def test_workers_forget_what_a_query_has_left(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with this project's workers: each history replays, and some had to be forgotten for it."""
    queue, forgotten = f"queried-{uuid.uuid4().hex[:8]}", []
    left = Forgetting._left

    def noted(self: Forgetting, run: str) -> None:
        forgotten.append(run)
        left(self, run)

    monkeypatch.setattr(Forgetting, "_left", noted)
    ours = workers(
        on_queue(temporal_client, queue),
        Settings(state_dir=tmp_path),
        pacer=lambda credential, campaign: Unpaced(),
        quota=False,
        extra=[InBatches],
    )
    served = f"{queue}-{Queue.ZONES.short}"
    found = await played(temporal_client, embedded.address, served, STICKY, ours)
    assert not any(found), found
    # At least some tries have come to what the plain SDK fails at.
    assert len(forgotten) >= len(MOMENTS)
