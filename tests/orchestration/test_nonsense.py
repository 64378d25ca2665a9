"""Whatever anybody may send to a campaign, a quota or a hold, it goes on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.worker import Worker

from edgeshift.messages import Hold, LeaseRequest, QuotaStart, ReportKind, ZonePhase, ZoneReport
from edgeshift.rate_limit.slots import Lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.kit import eventually, fleet_of, scene
from worker.wiring import sandbox
from workflows import account_lock
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
async def running(
    client: Client,
    name: str,
    start: object,
    *,
    looks: Callable[[Hold], Awaitable[bool]] = holder_is_there,
    task_timeout: timedelta | None = None,
) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    """One workflow, on a task queue of its own. ``looks``: how a hold finds out that its holder is there."""
    tag = f"nonsense-{uuid.uuid4().hex[:8]}"
    async with Worker(
        client,
        task_queue=tag,
        workflows=[Quota, ZoneHold],
        activities=[looks],
        workflow_runner=sandbox(),
    ):
        handle = await client.start_workflow(name, start, id=tag, task_queue=tag, task_timeout=task_timeout)
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


async def test_a_hold_is_let_go_of_by_a_word_that_comes_while_its_run_looks_for_the_last_time(
    temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look takes longer than a workflow task, and finds the holder: the next run would not know of the
    word.
    """
    monkeypatch.setattr(account_lock, "MOST_LOOKS", 1)
    words = [1]

    @activity.defn(name="holder_is_there")
    async def lets_go_meanwhile(hold: Hold) -> bool:
        if words:
            words.pop()
            await temporal_client.get_workflow_handle(activity.info().workflow_id or "").signal("release")
            await asyncio.sleep(3)
        return True

    hold = Hold(
        zone_id="1" * 32, holder=f"account/{'2' * 32}/esc", campaign="c", look_every=timedelta(seconds=1)
    )
    async with running(
        temporal_client, "ZoneHold", hold, looks=lets_go_meanwhile, task_timeout=timedelta(seconds=1)
    ) as handle:
        await handle.result(rpc_timeout=SOON)


LEASE = LeaseRequest(holder="h", want=1, lane=Lane.NORMAL, terms=TERMS)
ODD_TERMS = (
    '{"holder": "h", "want": 1, "lane": "normal", "terms": {"limit": 1200, "window": %s, "urgent": %s}}'
)
ODD_HOLD = '{"hold": {"trouble": "outage", "said": "x", "since": "0001-01-01T00:00:00"}}'


async def test_a_quota_goes_on_whatever_it_is_asked(temporal_client: Client) -> None:
    """Null, too few and too many arguments, numbers that nobody can reckon with, times of no place."""
    async with running(temporal_client, "Quota", QuotaStart(user="u", terms=TERMS)) as handle:
        few: tuple[Sequence[object], ...] = ([], [None], ["x"], [{}, {}])
        terms = [raw(ODD_TERMS % (window, "0.125")) for window in ("1e-300", "1e-7", "1e999", "NaN", "-1")]
        terms += [raw(ODD_TERMS % ("300", urgent)) for urgent in ("0", "1", "-1e-300", "1e999", "NaN")]
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


async def test_a_quota_goes_on_where_somebody_asks_for_nearly_all_slots_to_be_urgent(
    temporal_client: Client,
) -> None:
    """Such terms count for everybody, since they are stricter, and are taken while slots of others are out:
    both lanes have slots by them.
    """
    short = PaceTerms(limit=1200, window=300, block=0.5)
    async with running(temporal_client, "Quota", QuotaStart(user="u", terms=short)) as handle:

        async def lease(request: object) -> Lease:
            found: Lease = await handle.execute_update("lease", request, result_type=Lease, rpc_timeout=SOON)
            return found

        ours = [LEASE.model_copy(update={"lane": lane, "terms": short}) for lane in Lane]
        assert (await lease(ours[0])).count
        assert not (await lease(raw(ODD_TERMS % ("400", "0.9999")))).count
        for one in ours:

            async def has_slots(one: LeaseRequest = one) -> bool:
                return (await lease(one)).count > 0

            await eventually(has_slots, 15, f"{one.lane} slots")


async def test_a_campaign_goes_on_whatever_number_a_word_has_that_says_again_what_is_known(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A number that no zone counts from, before sweeps and after them, of the fingerprint that waits and of
    another: the zone is signed, and the campaign comes to its end.
    """
    fleet = fleet_of({"name": "a.example", "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet) as play:
        state = await play.zone_until("a.example", lambda seen: seen.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.until(lambda seen: bool(seen.waiting))
        said = ZoneReport(
            campaign_run=(await play.campaign.describe()).run_id or "",
            index=0,
            attempt=1,
            sequence=-1,
            kind=ReportKind.AWAITING,
            step=state.step,
            digest=state.digest,
            fingerprint=state.fingerprint,
            again="x",
        )
        for _ in range(30):
            for odd in ({}, {"sequence": -(2**53)}, {"fingerprint": "f" * 64, "again": ""}):
                await play.campaign.signal("zone_report", said.model_copy(update=odd))
            await asyncio.sleep(0.1)
        async with asyncio.timeout(60):
            assert (await play.ask("pause")).text and (await play.ask("resume")).text
            await play.sign([state.fingerprint])
            assert (await play.result()).outcomes == {"migrated": 1}
        await play.check_rules(absent={3, 4})
