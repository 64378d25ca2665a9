"""Whatever anybody may send to a workflow that is not a campaign's zone, it goes on."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.worker import Worker

from edgeshift.messages import Hold, LeaseRequest, QuotaStart
from edgeshift.rate_limit.slots import Lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from worker.wiring import sandbox
from workflows.account_lock import ZoneHold
from workflows.quota import Quota

pytestmark = pytest.mark.embedded

SOON = timedelta(seconds=15)
TERMS = PaceTerms(limit=1200, window=300)


def raw(text: str) -> RawValue:
    """JSON as it is."""
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=text.encode()))


@activity.defn(name="holder_is_there")
async def holder_is_there(hold: Hold) -> bool:
    """It is."""
    return True


@asynccontextmanager
async def running(client: Client, name: str, start: object) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    """One workflow, on a task queue of its own."""
    tag = f"nonsense-{uuid.uuid4().hex[:8]}"
    async with Worker(
        client,
        task_queue=tag,
        workflows=[Quota, ZoneHold],
        activities=[holder_is_there],
        workflow_runner=sandbox(),
    ):
        handle = await client.start_workflow(name, start, id=tag, task_queue=tag)
        yield handle
        if name == "Quota":
            await handle.terminate(reason="the test is over")


@pytest.mark.parametrize("args", [[], [None], ["now", 2], [{"by": "ann"}]], ids=str)
async def test_a_hold_is_let_go_of_whatever_comes_with_the_word(
    temporal_client: Client, args: Sequence[object]
) -> None:
    """The signal has no message: whether the SDK drops what was sent with it or not, it counts."""
    hold = Hold(
        zone_id="1" * 32, holder=f"account/{'2' * 32}/esc", campaign="c", look_every=timedelta(hours=1)
    )
    async with running(temporal_client, "ZoneHold", hold) as handle:
        await handle.signal("release", args=args)
        await handle.result(rpc_timeout=SOON)


LEASE = LeaseRequest(holder="h", want=1, lane=Lane.NORMAL, terms=TERMS)
ODD_TERMS = '{"holder": "h", "want": 1, "lane": "normal", "terms": {"limit": 1200, "window": %s}}'
ODD_HOLD = '{"hold": {"trouble": "outage", "said": "x", "since": "0001-01-01T00:00:00"}}'


async def test_a_quota_goes_on_whatever_it_is_asked(temporal_client: Client) -> None:
    """Null, too few and too many arguments, numbers that nobody can reckon with, times of no place."""
    async with running(temporal_client, "Quota", QuotaStart(user="u", terms=TERMS)) as handle:
        few: tuple[Sequence[object], ...] = ([], [None], ["x"], [{}, {}])
        terms = [raw(ODD_TERMS % window) for window in ("1e-300", "1e999", "NaN", "-1")]
        odd: list[tuple[str, Sequence[object]]] = [
            *(("lease", args) for args in few),
            *(("probe", args) for args in few),
            *(("lease", [one]) for one in terms),
        ]
        for name, args in odd:
            with pytest.raises(WorkflowUpdateFailedError):
                await handle.execute_update(name, args=args, rpc_timeout=SOON)
        for name in ("blocked", "hold", "fixed"):
            for arg in (None, "x", raw('{"seconds": 1e999}'), raw('{"seconds": NaN}'), raw(ODD_HOLD)):
                await handle.signal(name, arg)
        found = await handle.execute_update("lease", LEASE, result_type=Lease, rpc_timeout=SOON)
        assert found.holds == () and found.again_in < 100
