"""What an operator does by Temporal's own tools: workflows and activities reset, paused, terminated,
cancelled.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyType
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    ResetWorkflowExecutionRequest,
    UnpauseActivityRequest,
)
from temporalio.client import (
    Client,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.operations.again import zones_at
from edgeshift.operations.campaigns import start_campaign
from edgeshift.operations.errors import ServiceTrouble
from edgeshift.runtime.temporal import is_away
from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.harness.disturbances.patience import NO_ANSWER, in_any_case, seen_through
from tests.kit import OPERATOR
from tests.kit.faults import Stage

Handle = WorkflowHandle[Any, Any]


async def tasks(handle: Handle) -> list[int]:
    """The events at which the workflow can be reset: each workflow task that was completed."""
    completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return [event.event_id async for event in handle.fetch_history_events() if event.event_type == completed]


async def task_before(handle: Handle, activity: str) -> int | None:
    """The workflow task that scheduled the last activity of this type."""
    found, task = None, 0
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            task = event.event_id
        if event.activity_task_scheduled_event_attributes.activity_type.name == activity:
            found = task
    return found


async def reset(client: Client, handle: Handle, event: int, *, reapplies: bool = True) -> bool:
    """What ``temporal workflow reset --event-id`` does; whether the server did it. ``reapplies``: whether
    what the workflow was told since is told to the new run.
    """
    kept = ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE
    try:
        described = await handle.describe()
        await client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=described.run_id),
                reason="by hand",
                workflow_task_finish_event_id=event,
                reset_reapply_type=kept if reapplies else ResetReapplyType.RESET_REAPPLY_TYPE_NONE,
                request_id=uuid.uuid4().hex,
            )
        )
    except RPCError as refused:
        if refused.status not in (RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.NOT_FOUND):
            raise
        return False
    return True


async def reset_activity(client: Client, handle: Handle, kind: str) -> bool:
    """What ``temporal activity reset`` does to the pending activity of a type; whether there was one."""
    described = await handle.describe()
    return await _on_activity(
        client.workflow_service.reset_activity(
            ResetActivityRequest(
                namespace=client.namespace,
                execution=WorkflowExecution(workflow_id=handle.id, run_id=described.run_id),
                identity=OPERATOR,
                type=kind,
            )
        )
    )


async def pause_activity(client: Client, handle: Handle, kind: str, seconds: float) -> bool:
    """Pause the pending activity of a type, and unpause it; whether there was one."""
    described = await handle.describe()
    execution = WorkflowExecution(workflow_id=handle.id, run_id=described.run_id)
    if not await _on_activity(
        client.workflow_service.pause_activity(
            PauseActivityRequest(
                namespace=client.namespace,
                execution=execution,
                identity=OPERATOR,
                type=kind,
                reason="by hand",
            )
        )
    ):
        return False
    try:
        await asyncio.sleep(seconds)
    finally:
        await _on_activity(
            client.workflow_service.unpause_activity(
                UnpauseActivityRequest(
                    namespace=client.namespace,
                    execution=execution,
                    identity=OPERATOR,
                    type=kind,
                    reset_attempts=True,
                )
            )
        )
    return True


async def _on_activity(asked: Any) -> bool:
    try:
        await asked
    except RPCError as refused:
        if refused.status not in (RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.NOT_FOUND):
            raise
        return False
    return True


INSISTS = 150.0
"""Seconds for which a campaign is started again where the service does not let its targets be found."""


async def start_again(stage: Stage) -> None:
    """What ``edgeshift start --again`` does after a campaign's workflow was ended from outside, as often as
    it takes: the service may not answer for now. Its people sign anew: what they signed was of the start of
    before.
    """
    play = stage.play
    async with asyncio.timeout(INSISTS):
        while True:
            with suppress(ServiceTrouble):
                play.start = await seen_through(
                    lambda: start_campaign(
                        play.client,
                        play.archive,
                        play.spec,
                        by=OPERATOR,
                        again=True,
                        pen=play.pen(OPERATOR),
                    )
                )
                break
            await asyncio.sleep(1)
    # Its new run counts from none.
    play.accepted.append(play.now())
    stage.forget_signed()


async def terminate_campaign(acting: Acting) -> bool:
    """Terminate the campaign's workflow, and start it again; whether it was open."""
    play = acting.stage.play
    try:
        await seen_through(lambda: play.campaign.terminate("by hand"))
    except RPCError as over:
        if over.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    await start_again(acting.stage)
    return True


# --- at random moments


def _some_zone(acting: Acting) -> Handle:
    return acting.stage.play.zone(acting.stage.name(acting.chance.choice(acting.stage.names)))


PASSING = frozenset(
    {
        RPCStatusCode.NOT_FOUND,
        RPCStatusCode.FAILED_PRECONDITION,
        *NO_ANSWER,
    }
)
"""What an operator meets who comes too early, too late, or while the server is away."""


async def _now_and_then(acting: Acting, kind: str, do: Callable[[], Any], pause: tuple[float, float]) -> None:
    for _ in range(acting.chance.randint(3, 20)):
        await asyncio.sleep(acting.chance.uniform(*pause))
        try:
            if await do():
                acting.told(kind)
        except RPCError as gone:
            if not is_away(gone) and gone.status not in PASSING:
                raise


async def _reset_zones(acting: Acting) -> None:
    async def once() -> bool:
        handle = _some_zone(acting)
        return bool(at := await tasks(handle)) and await reset(
            acting.stage.play.client, handle, acting.chance.choice(at)
        )

    await _now_and_then(acting, "zone reset", once, (0.5, 3.0))


async def _reset_campaign(acting: Acting) -> None:
    async def once() -> bool:
        handle = acting.stage.play.campaign
        return bool(at := await tasks(handle)) and await reset(
            acting.stage.play.client, handle, acting.chance.choice(at)
        )

    for _ in range(acting.chance.randint(1, 3)):
        await asyncio.sleep(acting.chance.uniform(1.0, 5.0))
        if await seen_through(once):
            acting.told("campaign reset")


async def _reset_activities(acting: Acting) -> None:
    async def once() -> bool:
        handle = _some_zone(acting)
        pending = (await handle.describe()).raw_description.pending_activities
        if not pending:
            return False
        kind = acting.chance.choice(list(pending)).activity_type.name
        if acting.chance.random() < 0.5:
            return await reset_activity(acting.stage.play.client, handle, kind)
        return await pause_activity(acting.stage.play.client, handle, kind, acting.chance.uniform(0.2, 5.0))

    await _now_and_then(acting, "activity reset or paused", once, (0.1, 0.5))


async def _terminate_zones(acting: Acting) -> None:
    """In a pause, so that the campaign stays open until it has found them, and begins them again."""
    play = acting.stage.play
    await asyncio.sleep(acting.chance.uniform(0.1, 2.5))
    key = uuid.uuid4().hex
    try:
        await seen_through(lambda: play.ask("pause", "zones are ended by hand", key))
        await _terminate_some(acting)
    except (RPCError, WorkflowUpdateFailedError, WorkflowQueryFailedError) as over:
        if isinstance(over, RPCError) and over.status is not RPCStatusCode.NOT_FOUND:
            raise
    finally:
        with suppress(RPCError, WorkflowUpdateFailedError):
            await in_any_case(lambda: play.ask("resume"))


async def _terminate_some(acting: Acting) -> None:
    play = acting.stage.play
    for _ in range(60):
        waiting = await seen_through(lambda: zones_at(play.client, play.spec.name, ("awaiting", "ready")))
        if len(waiting.targets) > 1:
            break
        await asyncio.sleep(0.5)
    # At least one keeps the campaign open.
    count = min(len(waiting.targets) - 1, acting.chance.randint(1, 3))
    if count < 1:
        return
    chosen = acting.chance.sample(sorted(one.index for one in waiting.targets), count)
    for index in chosen:
        handle = play.zone(play.targets[index].zone.name)
        await seen_through(
            handle.cancel if acting.chance.random() < 0.3 else partial(handle.terminate, "by hand")
        )
        acting.told("zone terminated or cancelled")
    asked: set[int] = set()
    async with asyncio.timeout(150):
        while asked != set(chosen):
            await asyncio.sleep(0.5)
            found = await seen_through(lambda: zones_at(play.client, play.spec.name, ("failed", "unknown")))
            if fresh := {one.index for one in found.targets} & set(chosen) - asked:
                names = [play.targets[index].zone.name for index in sorted(fresh)]
                await seen_through(partial(play.again, "retry", *names))
                asked |= fresh


async def _terminate_campaign(acting: Acting) -> None:
    await asyncio.sleep(acting.chance.uniform(1.0, 8.0))
    if await terminate_campaign(acting):
        acting.told("campaign terminated and started again")


disturbance(Disturbance("reset-zone", _reset_zones))
disturbance(Disturbance("reset-campaign", _reset_campaign))
disturbance(Disturbance("reset-activity", _reset_activities))
disturbance(Disturbance("terminate-zone", _terminate_zones, leaves_people_work=True))
disturbance(Disturbance("terminate-campaign", _terminate_campaign, leaves_people_work=True))

__all__ = [
    "pause_activity",
    "reset",
    "reset_activity",
    "start_again",
    "task_before",
    "tasks",
    "terminate_campaign",
]
