"""Attacks by workflows and workers that are not edgeshift's: starts under any id, changes that a workflow of
the enemy's schedules, and a worker of his that serves edgeshift's queue for a while.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from pydantic import BaseModel
from temporalio import activity
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowQueryFailedError
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError
from temporalio.worker import Worker

from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import (
    Change,
    ChangeResult,
    ChangeStatus,
    PermitGrant,
    Step,
    ZonePhase,
)
from edgeshift.messages.areas.waf import Verification, Verify
from edgeshift.model.fleet import Plan
from edgeshift.runtime.queues import Queue
from tests.forgeries.running.attack import BOTH, ENEMY, WORKFLOWS, Attack, Trace
from tests.forgeries.running.kinds import KINDS, Kind, kind
from tests.forgeries.running.scheduling import queue_of
from tests.kit import foreign

ASKS_AT_ONCE = ("waf", "log-fields")
"""Areas whose zones come to their sign-off without a step before."""

SERVES_SECONDS = 3.0
PATIENCE = 60.0


async def scheduled(
    a: Attack, name: str, message: BaseModel, queue: Queue = Queue.CHANGES
) -> tuple[WorkflowHandle[Any, Any], Any]:
    """Have an activity of edgeshift's done for a workflow of the enemy's; its handle, and what came back."""
    async with foreign.scheduled(a.enemy, name, message, queue_of(a, queue), PATIENCE) as handle:
        found = None
        with suppress(WorkflowFailureError):
            found = await asyncio.wait_for(handle.result(), PATIENCE)
        return handle, found


async def forged_change(a: Attack, **more: Any) -> Change:
    """A change of the zone, whose messages say that everybody has approved it, by a policy that asks for
    nobody else.
    """
    start = await a.started_with()
    weak = start.policy.sign_off.model_copy(update={"required": 1, "four_eyes": False})
    policy = start.policy.model_copy(update={"sign_off": weak})
    bare = {"policy": policy, "permit": None, "carried": None, "planned": None}
    return Change(
        start=start.model_copy(update={**bare, **more}),
        step=a.state.step or Step.COMMIT,
        permit=a.permit(),
        snapshot=a.state.snapshot,
        proposal=a.state.proposal,
        digest=a.state.digest,
        fingerprint=a.state.fingerprint,
        config=await a.configuration(),
        decisions=tuple(a.word(name) for name in BOTH),
        evidence=a.state.evidence,
    )


@kind
async def a_change_by_a_foreign_workflow(a: Attack) -> Trace:
    """The activity itself, with decisions, a policy and a permit of the enemy's own."""
    await a.genuine()
    handle, _ = await scheduled(a, "change_zone", await forged_change(a))
    return handle


@kind
async def a_change_of_a_place_that_nobody_signed(a: Attack) -> Trace:
    """Both have signed, of the zone at its place in the list; the message has another place."""
    handle, _ = await scheduled(a, "change_zone", await forged_change(a, index=99))
    return handle


async def a_validation_under_another_plan(a: Attack) -> Trace:
    """Of a Professional zone, which a message calls Enterprise: nobody need sign a validation."""
    target = (await a.started_with()).target
    zone = target.zone.model_copy(update={"plan": Plan.ENTERPRISE})
    change = await forged_change(a, target=target.model_copy(update={"zone": zone}))
    asked = change.model_copy(update={"step": Step.VALIDATE, "mode": ValidationMode.SHADOW})
    handle, _ = await scheduled(a, "change_zone", asked)
    return handle


KINDS["a_validation_under_another_plan"] = Kind(a_validation_under_another_plan, ("waf",))


@kind
async def a_change_that_is_given_up_by_a_foreign_workflow(a: Attack) -> Trace:
    """Who gives up a permit that nobody has keeps nothing from being sent."""
    handle, _ = await scheduled(a, "give_up_change", await forged_change(a))
    return handle


@kind
async def a_campaign_of_the_same_name(a: Attack) -> Trace:
    """The server has one of this id already."""
    start = a.stage.play.start
    assert start is not None
    try:
        await a.enemy.start_workflow(
            "Campaign", args=start.arguments(), id=a.campaign.id, task_queue=Queue.CONTROL
        )
    except WorkflowAlreadyStartedError:
        return "refused"
    return a.campaign


@kind
async def a_campaign_of_another_name(a: Attack) -> Trace:
    """Over the same zones, started by nobody: they are another's, and the door has no start of it."""
    start = a.stage.play.start
    assert start is not None
    name = f"{start.name}-{ENEMY}-{uuid.uuid4().hex[:6]}"
    handle = await a.enemy.start_workflow(
        "Campaign",
        args=start.model_copy(update={"name": name, "started_by": ENEMY}).arguments(),
        id=f"campaign/{name}",
        task_queue=Queue.CONTROL,
    )
    with suppress(TimeoutError):
        await asyncio.wait_for(handle.result(), 20)
    await ended(handle)
    return handle


async def a_zone_under_another_id(a: Attack) -> Trace:
    """A zone's workflow with a policy and a campaign's run of the enemy's own, who then approves it."""
    start = await a.started_with()
    weak = start.policy.sign_off.model_copy(update={"required": 1, "four_eyes": False, "approvers": (ENEMY,)})
    forged = start.model_copy(
        update={
            "campaign_run": ENEMY,
            "attempt": 77,
            "policy": start.policy.model_copy(update={"sign_off": weak}),
            "permit": None,
            "planned": None,
        }
    )
    handle = await a.enemy.start_workflow(
        WORKFLOWS[start.area.value],
        forged,
        id=f"zone/{uuid.uuid4().hex}/{start.area.value}",
        task_queue=Queue.ZONES,
    )
    a.theirs.add((await handle.describe()).run_id or "")
    if not (state := await waits_there(handle)):
        return handle
    await handle.signal("sign_off", a.word(ENEMY, digest=state["digest"]))
    await handle.signal("permit", PermitGrant(campaign_run=ENEMY, permit=a.permit()))
    with suppress(TimeoutError, WorkflowFailureError):
        await asyncio.wait_for(handle.result(), 20)
    await ended(handle)
    return handle


KINDS["a_zone_under_another_id"] = Kind(a_zone_under_another_id, ASKS_AT_ONCE)


async def waits_there(handle: WorkflowHandle[Any, Any]) -> dict[str, Any]:
    """The state of a zone's workflow once it waits for a sign-off; empty where it does not come to that."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(WorkflowQueryFailedError, RPCError):
                state: dict[str, Any] = await handle.query("state")
                if state["phase"] == ZonePhase.AWAITING_SIGN_OFF.value:
                    return state
                if state["phase"] == ZonePhase.CLOSED.value:
                    return {}
            await asyncio.sleep(0.2)


async def ended(handle: WorkflowHandle[Any, Any]) -> None:
    """Whoever looks after Temporal ends what the enemy started."""
    if (await handle.describe()).close_time is None:
        await handle.terminate("whoever looks after Temporal has seen it")


@activity.defn(name="change_zone")
async def answers_without_a_call(change: Change) -> ChangeResult:
    """As if the service had been asked, and had answered."""
    return ChangeResult(status=ChangeStatus.ANSWERED)


@asynccontextmanager
async def _serving(
    a: Attack, queue: Queue = Queue.CHANGES, answers: Callable[..., Any] = answers_without_a_call
) -> AsyncIterator[None]:
    """A worker of the enemy's polls the queue of the changes, or another one."""
    async with Worker(
        a.enemy,
        task_queue=queue_of(a, queue),
        activities=[answers],
        max_concurrent_activities=8,
    ):
        yield


@activity.defn(name="verify_waf_zone")
async def answers_without_a_look(message: Verify) -> Verification:
    """As if the service had been read, and had shown it."""
    return Verification(reached=True, record="1" * 64)


async def a_worker_that_answers_for_the_service(a: Attack) -> Trace:
    """It answers changes without a call, and what reads them back as well: the zone's workflow believes it,
    and ends as migrated.
    """
    async with _serving(a), _serving(a, Queue.LONG, answers_without_a_look):
        await a.claim()
        await asyncio.sleep(SERVES_SECONDS)
    return await a.this_run()


KINDS["a_worker_that_answers_for_the_service"] = Kind(a_worker_that_answers_for_the_service, ("waf",))


async def a_worker_that_answers_changes(a: Attack) -> Trace:
    """It takes some of the changes and answers them without a call: what is read back does not show them."""
    async with _serving(a):
        await a.claim()
        await asyncio.sleep(SERVES_SECONDS)
    return await a.this_run()


KINDS["a_worker_that_answers_changes"] = Kind(a_worker_that_answers_changes, ("waf",))
