"""A local activity that its worker called off, as where it was late with a task, is made again; one that is
not done in time fails as it does in a replay.
"""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer, Worker

from tests.harness.campaigns.stages import ESC, esc_stage, esc_zone, over
from tests.kit.called_off import CalledOff
from tests.kit.faults import staged, zone
from workflows.local import locally
from workflows.zone.failures import LOCAL_FAILURES, said

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]


async def test_a_zone_is_migrated_though_its_worker_called_off_what_it_did(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its reading and its words to the campaign are made again; nothing is sent twice."""
    async with staged(temporal_client, tmp_path, zone("a"), interceptors=[CalledOff()]) as stage:
        assert (await stage.finish(90)).outcomes == {"migrated": 1}
        await stage.check({3, 4, 7})


async def test_a_scope_is_turned_off_though_its_worker_called_off_what_it_did(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The same of esc."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a", own=True), interceptors=[CalledOff()], **over(ESC)
    ) as stage:
        assert (await stage.finish(90)).outcomes == {"settled": 1}


class Slow:
    """An activity that is never done in time."""

    @activity.defn(name="slow")
    async def work(self, message: str) -> None:
        """Sleep."""
        await asyncio.sleep(60)


@workflow.defn(name="Hurried", sandboxed=False)
class Hurried:
    """Does something that is not done in time, and goes on."""

    @workflow.run
    async def run(self) -> str:
        """Why it was not done."""
        limit = timedelta(milliseconds=300)
        try:
            await locally(Slow.work, "a", summary="a long work", schedule_to_close_timeout=limit)
        except LOCAL_FAILURES as failure:
            await workflow.sleep(timedelta(milliseconds=1))
            return said(failure)
        return ""


async def test_what_is_not_done_in_time_fails_alike_in_a_replay(temporal_client: Client) -> None:
    """A workflow that has gone on after it can be asked, and goes on, on another worker."""
    tag = f"hurried-{uuid.uuid4().hex[:8]}"
    async with Worker(temporal_client, task_queue=tag, workflows=[Hurried], activities=[Slow().work]):
        handle = await temporal_client.start_workflow(Hurried.run, id=tag, task_queue=tag)
        assert await handle.result() == "a long work: not done in time, however often it was tried"
    replayer = Replayer(workflows=[Hurried], data_converter=pydantic_data_converter)
    await replayer.replay_workflow(await handle.fetch_history())
