"""A user's slots are leased by as many processes as there are, of the quota that runs; one that is missing
begins.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.model.fleet import quota_id
from edgeshift.quota.leases import Quotas, terms_of
from edgeshift.rate_limit.circuit import Trouble, held
from edgeshift.rate_limit.slots import SlotBook
from edgeshift.rate_limit.terms import LATEST, Lane
from edgeshift.runtime.settings import Settings, WorkerSettings
from tests.kit.queue import on_queue
from worker.wiring import workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]

PROCESSES = 15
"""More than a workflow takes updates at a time."""


@pytest.mark.long
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


async def test_a_quota_that_begins_again_waits_for_what_the_one_before_has_given(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Somebody ends it as soon as it has handed out slots. A user's first quota of all hands them out at
    once. So it is where a word that calls are held begins it.
    """
    user = f"u{uuid.uuid4().hex[:10]}"
    client = on_queue(temporal_client, f"leases-{user}")
    spec = CampaignSpec.model_validate(
        {
            "name": "again",
            "targets": {"all": True},
            "service": {
                "base_url": "http://127.0.0.1:1/client/v4",
                "credentials": [{"token": "env:NOBODYS", "user": user}],
            },
        }
    )
    credential = spec.service.credentials[0]
    caller, terms = spec.service.caller(credential), terms_of(spec)
    quota = temporal_client.get_workflow_handle(quota_id(caller))
    async with workers(client, Settings(state_dir=tmp_path, worker=WorkerSettings(queues="quota"))):
        one = Quotas(client, "one")
        await one.pacer(credential, spec).acquire(Lane.NORMAL)
        first = await quota.query("book", result_type=SlotBook)
        await quota.terminate("by hand")
        await one.hold(credential, spec, held(Trouble.REFUSED, "401", datetime.now(UTC), "env:OTHER"))
        again = await quota.query("book", result_type=SlotBook)
        other = Quotas(client, "other")
        await asyncio.wait_for(other.pacer(credential, spec).acquire(Lane.NORMAL), 60)
        spent = time.time()
        for process in (one, other):
            await process.close()
        await quota.terminate("the scene is over")
    out_until = (max(item.index for item in first.blocks) + 1) * terms.block_length
    assert first.blocked_until == again.blocked_until == first.opens_at == 0
    assert again.opens_at >= out_until and not again.blocks
    assert spent >= out_until - LATEST


async def test_processes_at_one_address_share_what_it_may_call(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Two processes call as three users each, who together may call far more than one address: no second has
    more calls than that. A process at another address is not held up by them.
    """
    drawn = uuid.uuid4().hex[:10]
    client = on_queue(temporal_client, f"leases-{drawn}")
    users = [{"token": f"env:NOBODYS_{number}", "user": f"u{number}-{drawn}"} for number in range(7)]
    spec = CampaignSpec.model_validate(
        {
            "name": "six",
            "targets": {"all": True},
            "service": {
                "base_url": f"http://127.0.0.1:1/{drawn}/client/v4",
                "credentials": users,
                "rate": {"requests": 6000, "per": "1m", "people": 0},
                "profile": "public-2025-04",
            },
        }
    )
    most = spec.service.facts.rate.per_address
    assert most is not None and most == 200
    names = [f"here-{drawn}", f"here-{drawn}", f"there-{drawn}"]
    async with workers(client, Settings(state_dir=tmp_path, worker=WorkerSettings(queues="quota"))):
        processes = [Quotas(client, f"process {number}", address=name) for number, name in enumerate(names)]
        moments: list[float] = []
        *six, seventh = spec.service.credentials

        async def calls(one: Quotas, credential: CredentialSpec) -> None:
            pacer = one.pacer(credential, spec)
            while len(moments) < 3 * most:
                await pacer.acquire(Lane.NORMAL)
                moments.append(time.monotonic())

        async def elsewhere() -> int:
            done = 0
            while len(moments) < 3 * most:
                await processes[2].pacer(seventh, spec).acquire(Lane.NORMAL)
                done += 1
            return done

        work = [calls(one, credential) for one in processes[:2] for credential in six for _ in range(20)]
        async with asyncio.timeout(60):
            *_, done = await asyncio.gather(*work, elsewhere())
        for one in processes:
            await one.close()
        ids = [
            *(spec.service.caller(credential) for credential in spec.service.credentials),
            *(spec.service.address(name) for name in set(names)),
        ]
        for caller in ids:
            await temporal_client.get_workflow_handle(quota_id(caller)).terminate("the scene is over")
    in_a_second = [
        sum(1 for at in moments[first:] if at < moments[first] + 1) for first in range(len(moments))
    ]
    assert max(in_a_second) <= 200
    assert done
