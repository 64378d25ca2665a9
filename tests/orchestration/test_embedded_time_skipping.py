"""The time-skipping test server: days pass in moments, on loopback, and it ends with its parent."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.runtime.temporal import CAMPAIGN, WAVE, ensure_search_attributes

pytestmark = pytest.mark.time_skipping

_START_AND_HANG = """
import asyncio, sys
from datetime import timedelta
from temporalio.testing import WorkflowEnvironment
async def main():
    env = await WorkflowEnvironment.start_time_skipping(
        test_server_existing_path=sys.argv[1], test_server_startup_timeout=timedelta(seconds=60)
    )
    print(env.client.service_client.config.target_host, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


@workflow.defn(name="WaitsThreeDays")
class WaitsThreeDays:
    """Ends after the default validation window."""

    @workflow.run
    async def run(self) -> float:
        started = workflow.now()
        await asyncio.sleep(72 * 3600)
        return (workflow.now() - started).total_seconds()


@workflow.defn(name="EndsAtOnce")
class EndsAtOnce:
    """Ends with its first task."""

    @workflow.run
    async def run(self) -> str:
        return "ended"


async def test_three_days_pass_in_moments(time_skipping_env: WorkflowEnvironment) -> None:
    """A 72-hour timer ends within the patience of a test, with edgeshift's search attributes set."""
    begun = time.monotonic()
    async with Worker(
        time_skipping_env.client,
        task_queue="three-days",
        workflows=[WaitsThreeDays],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        waited = await time_skipping_env.client.execute_workflow(
            WaitsThreeDays.run,
            id="three-days",
            task_queue="three-days",
            search_attributes=TypedSearchAttributes(
                [SearchAttributePair(CAMPAIGN, "c1"), SearchAttributePair(WAVE, 1)]
            ),
        )
    assert timedelta(seconds=waited) >= timedelta(hours=72)
    assert time.monotonic() - begun < 60


async def test_registering_search_attributes_again_changes_nothing(
    time_skipping_env: WorkflowEnvironment,
) -> None:
    """`ensure_search_attributes` can be called at every start."""
    await ensure_search_attributes(time_skipping_env.client)
    await ensure_search_attributes(time_skipping_env.client)


async def test_it_ends_with_a_killed_parent(test_server_path: Path) -> None:
    """SIGKILL of the process that runs it leaves no Java behind."""
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _START_AND_HANG, str(test_server_path), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    host, _, port = (await asyncio.wait_for(parent.stdout.readline(), 90)).decode().strip().rpartition(":")
    assert await _answers(host, int(port))
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    async with asyncio.timeout(60):
        while True:
            if not await _answers(host, int(port)):
                break
            await asyncio.sleep(0.2)


async def _answers(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True


async def test_the_chosen_environment_is_ready_for_edgeshift(temporal_env: WorkflowEnvironment) -> None:
    """Whatever --temporal chooses, a workflow can be started with edgeshift's search attributes at once."""
    async with Worker(
        temporal_env.client,
        task_queue="chosen",
        workflows=[EndsAtOnce],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        answer = await temporal_env.client.execute_workflow(
            EndsAtOnce.run,
            id="chosen",
            task_queue="chosen",
            search_attributes=TypedSearchAttributes([SearchAttributePair(CAMPAIGN, "c1")]),
        )
    assert answer == "ended"
