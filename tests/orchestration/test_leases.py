"""A user's slots are leased by as many processes as there are, of the quota that runs; one that is missing
begins.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import quota_id
from edgeshift.quota.leases import Quotas
from edgeshift.rate_limit.slots import Lane
from edgeshift.runtime.settings import Settings, WorkerSettings
from tests.queue_kit import on_queue
from worker.wiring import workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]

PROCESSES = 15
"""More than a workflow takes updates at a time."""


async def test_fifteen_processes_of_a_user_call_at_once(temporal_client: Client, tmp_path: Path) -> None:
    """All of them ask for their first slots in one moment, of a quota that is not there: each is given some,
    soon, and it is one quota. A quota that somebody ended begins again.
    """
    user = f"u{uuid.uuid4().hex[:10]}"
    client = on_queue(temporal_client, f"leases-{user}")
    spec = CampaignSpec.model_validate(
        {
            "name": "fifteen",
            "targets": {"all": True},
            "service": {
                "base_url": "http://127.0.0.1:1/client/v4",
                "credentials": [{"token": "env:NOBODYS", "user": user}],
                "rate": {"requests": 3000, "per": "1m"},
            },
        }
    )
    credential = spec.service.credentials[0]
    quota = temporal_client.get_workflow_handle(quota_id(spec.service.caller(credential)))
    async with workers(client, Settings(state_dir=tmp_path, worker=WorkerSettings(queues="quota"))):
        processes = [Quotas(client, f"process {number}") for number in range(PROCESSES)]

        async def calls(one: Quotas, lane: Lane) -> None:
            for _ in range(5):
                await one.pacer(credential, spec).acquire(lane)

        async def all_call() -> float:
            began = time.monotonic()
            await asyncio.gather(*(calls(one, lane) for one in processes for lane in Lane))
            return time.monotonic() - began

        # 150 calls are three seconds of the limit.
        assert await asyncio.wait_for(all_call(), 60) < 20
        assert await asyncio.wait_for(all_call(), 60) < 20
        first = (await quota.describe()).run_id
        await quota.terminate("by hand")
        assert await asyncio.wait_for(all_call(), 60) < 20
        described = await quota.describe()
        assert described.run_id != first
        begun = [
            event
            async for event in quota.fetch_history_events()
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
        ]
        assert len(begun) == 1
        for one in processes:
            await one.close()
        await quota.terminate("the scene is over")
