"""The steps of a plan done, and a look at who is stuck meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

from temporalio.client import WorkflowExecutionStatus

from edgeshift.messages import Person, ZonePhase
from edgeshift.model.sign_off import Choice
from edgeshift.operations.campaigns import assess
from edgeshift.operations.errors import OperationError
from edgeshift.runtime.temporal import FAILS_OFTEN
from edgeshift.testbed.invariants.seen import Signature
from tests.harness.campaigns.people import NOBODY_ANSWERS
from tests.harness.disturbances import Acting
from tests.harness.disturbances.deaths import all_dead, send
from tests.harness.disturbances.signals import forge, looked_at, repeat
from tests.harness.disturbances.stops import pause_while
from tests.kit import OPERATOR
from tests.schedules.plans import Plan, Step

ANSWER_SECONDS = 25.0
"""How long anybody waits for an answer."""

LOOKS_EVERY = 2.0

ASKING = ("kill-and-ask", "all-dead", "freeze-and-ask")
"""Steps with queries that wait, and words that come meanwhile."""


async def do(plan: Plan, acting: Acting) -> None:
    """Begin each step at its time, whether the one before has ended or not; until all have."""
    one_at_a_time = asyncio.Lock()

    async def pause(seconds: float) -> None:
        # Whoever has asked for a pause has to be there to end it, so nobody gives up asking.
        async with one_at_a_time:
            if not await pause_while(acting, lambda: asyncio.sleep(seconds)):
                # Whether it was paused nobody was told; its end is not a resumption that a checker judges by.
                resumed = Person(by=OPERATOR, reason="in case")
                await _quietly(acting.stage.play.campaign.execute_update("resume", resumed))

    async with asyncio.TaskGroup() as steps:
        for step in plan.steps:
            await asyncio.sleep(step.gap)
            acting.told(f"step {step.kind}")
            steps.create_task(_quietly(_one(step, acting)))
            if step.kind == "pause":
                steps.create_task(pause(step.seconds))
            elif step.kind in ASKING:
                steps.create_task(pause_later(acting, pause))


async def pause_later(acting: Acting, pause: Callable[[float], Awaitable[None]]) -> None:
    """An update that comes to the campaign while a query waits, or just after."""
    await asyncio.sleep(
        acting.chance.choice((acting.chance.uniform(0.1, 0.9), acting.chance.uniform(1.0, 1.6)))
    )
    await pause(0.1)


async def look_for_stuck(acting: Acting, found: set[str]) -> None:
    """Without end: which open workflows have a task that has failed so often that an alarm names them."""
    client = acting.stage.play.client
    while True:
        with suppress(*NOBODY_ANSWERS):
            async for run in client.list_workflows("ExecutionStatus = 'Running'"):
                described = await client.get_workflow_handle(run.id, run_id=run.run_id).describe()
                attempts = described.raw_description.pending_workflow_task.attempt
                is_open = described.status is WorkflowExecutionStatus.RUNNING
                # A task that nobody takes in time has attempts too.
                if is_open and attempts >= FAILS_OFTEN:
                    found.add(run.id)
        await asyncio.sleep(LOOKS_EVERY)


async def _quietly(work: Awaitable[object]) -> None:
    """Nobody has to answer in time, nor to be there."""
    with suppress(TimeoutError, OperationError, *NOBODY_ANSWERS):
        async with asyncio.timeout(ANSWER_SECONDS):
            await work


async def _one(step: Step, acting: Acting) -> None:
    short = acting.chance.choice(acting.stage.names)
    match step.kind:
        case "kill":
            _kill(acting)
        case "kill-and-ask":
            _kill(acting)
            await _ask_and_say(acting)
        case "all-dead":
            await asyncio.gather(all_dead(acting, step.seconds), _ask_and_say(acting))
        case "freeze":
            await _freeze(acting, step.seconds)
        case "freeze-and-ask":
            await asyncio.gather(_freeze(acting, step.seconds), _ask_and_say(acting))
        case "busy":
            await _busy(step.seconds)
        case "ask":
            await _ask(acting)
            await asyncio.sleep(step.seconds)
            await _ask(acting)
        case "decide":
            await _decide(acting, short)
        case "repeat":
            await repeat(acting, short)
        case "forge":
            await forge(acting, short)
        case "assess":
            play = acting.stage.play
            await assess(play.client, play.archive, play.spec)


def _kill(acting: Acting) -> None:
    """One worker, at once; another takes its place."""
    if pids := acting.processes.pids:
        send(acting.chance.choice(pids), signal.SIGKILL)


async def _freeze(acting: Acting, seconds: float) -> None:
    """One worker stands still for so long."""
    if not (pids := acting.processes.pids):
        return
    pid = acting.chance.choice(pids)
    send(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        send(pid, signal.SIGCONT)


async def _busy(seconds: float) -> None:
    """A process that takes a core for so long."""
    busy = await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass")
    try:
        await asyncio.sleep(seconds)
    finally:
        os.kill(busy.pid, signal.SIGKILL)
        await busy.wait()


async def _ask(acting: Acting) -> None:
    """The campaign's summary and each zone's state, all at once."""
    play = acting.stage.play
    zones = (looked_at(acting.stage, short) for short in acting.stage.names)
    await asyncio.gather(_quietly(play.summary()), *zones)


async def _ask_and_say(acting: Acting) -> None:
    """Queries that wait for who has just died or stands still, and words that come to the same workflows
    while they wait, and after.
    """
    stage = acting.stage

    async def say(after: float) -> None:
        await asyncio.sleep(after)
        await asyncio.gather(*(_quietly(repeat(acting, short)) for short in stage.names))

    words = [say(acting.chance.uniform(0.1, 0.9)), say(acting.chance.uniform(1.0, 1.6))]
    await asyncio.gather(_ask(acting), *words)


async def _decide(acting: Acting, short: str) -> None:
    """Approve a zone that waits, by the zone's update."""
    stage = acting.stage
    state = await looked_at(stage, short)
    if state is None or state.phase is not ZonePhase.AWAITING_SIGN_OFF or not state.digest:
        return
    play, name = stage.play, stage.name(short)
    # Said as soon as it is sent: the answer to it may be lost.
    play.signatures += [
        Signature(
            by=by, choice=Choice.APPROVE.value, digest=state.digest, at=play.now(), zone=stage.id(short)
        )
        for by in play.approvers
    ]
    await play.sign_zone(name, digest=state.digest, plain=False)
