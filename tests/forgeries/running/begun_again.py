"""People begin zones again that an enemy has ended, as they would who are told of it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from temporalio.client import WorkflowExecutionStatus, WorkflowQueryFailedError, WorkflowUpdateFailedError
from temporalio.service import RPCError

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.operations.again import VERBS, begin_again, zones_at
from edgeshift.operations.errors import OperationError
from edgeshift.runtime.temporal import is_missing, memo_of
from edgeshift.testbed.invariants.seen import Word
from tests.forgeries.running.told import FINDS_OUT_WITHIN, told_as_ended
from tests.kit import OPERATOR
from tests.kit.faults import Stage

BEGINS_AGAIN = 60.0
LEFT_ALONE = 150.0
"""Seconds for zones that begin anew all at once."""

FAILED = (ZoneOutcome.FAILED, ZoneOutcome.UNKNOWN)
"""Outcomes that people retry; others they reopen."""


async def begun_again(stage: Stage, short: str) -> None:
    """People begin a zone again that has come to an end, as they would who are told of it."""
    play, name = stage.play, stage.name(short)
    limit = asyncio.get_running_loop().time() + BEGINS_AGAIN
    while not await _is_open(stage, name) or await _given_up(stage, name):
        # The campaign may not have heard of it yet, and of one that was ended by hand it has to find out.
        if await play.is_closed():
            await all_begun_again(stage)
            continue
        for verb in await _verbs(stage, name):
            with suppress(WorkflowUpdateFailedError, RPCError):
                await play.again(verb, name)
        if asyncio.get_running_loop().time() > limit:
            raise AssertionError(f"{short} is not begun again")
        await asyncio.sleep(0.5)


async def all_begun_again(stage: Stage) -> None:
    """People begin those zones again that have ended otherwise than they were to, as a closed campaign
    tells of them.
    """
    play = stage.play
    for verb, outcomes in VERBS.items():
        places = sorted(one.value for one in outcomes)
        found = await zones_at(play.client, play.spec.name, places)
        if not (indexes := [target.index for target in found.targets]):
            continue
        zones = [play.targets[index].zone.id for index in indexes]
        play.words += [Word(by=OPERATOR, at=play.now(), zone=one, reopens=verb == "reopen") for one in zones]
        with suppress(OperationError):
            await begin_again(
                play.client,
                play.spec.name,
                verb,
                by=OPERATOR,
                reason="again",
                indexes=indexes,
                places=places,
                pen=play.pen(OPERATOR),
                zones=zones,
            )
    stage.forget_signed()


async def all_wait(stage: Stage) -> None:
    """Every zone waits for its sign-off: people begin those again that the enemy has ended, also where
    the campaign has closed by that.
    """
    for short in stage.names:
        await begun_again(stage, short)
        await stage.waits(short, LEFT_ALONE)


async def put_right(stage: Stage, short: str) -> None:
    """A zone that does not go on by itself is ended by hand, and begun again."""
    with suppress(RPCError):
        await stage.play.zone(stage.name(short)).terminate("by hand")
    await asyncio.sleep(1)
    await begun_again(stage, short)


async def _verbs(stage: Stage, name: str) -> tuple[Literal["retry", "reopen"], ...]:
    """With which word people begin a zone again, by how it has ended; any, where nobody knows that."""
    with suppress(RPCError, WorkflowQueryFailedError):
        if (outcome := (await stage.play.state(name)).outcome) is not None:
            return ("retry",) if outcome in FAILED else ("reopen",)
    return "retry", "reopen"


async def _given_up(stage: Stage, name: str) -> bool:
    """Whether the campaign tells a zone as ended that is open, and goes on saying so: whoever looks after
    Temporal ends its workflow.
    """
    index = stage.play.index(name)
    for _ in range(FINDS_OUT_WITHIN):
        if index not in await told_as_ended(stage):
            return False
        await asyncio.sleep(1)
    with suppress(RPCError):
        await stage.play.zone(name).terminate("by hand")
    return True


async def _is_open(stage: Stage, name: str) -> bool:
    try:
        described = await stage.play.zone(name).describe()
    except RPCError as why:
        # It was not begun yet.
        return is_missing(why)
    if described.status is not WorkflowExecutionStatus.RUNNING:
        return False
    if (await memo_of(described) or {}).get("campaign") != stage.play.campaign.id:
        # Somebody else's campaign has taken its id while it was free: whoever looks after Temporal ends it.
        with suppress(RPCError):
            await stage.play.zone(name).terminate("by hand")
        return False
    with suppress(RPCError, WorkflowQueryFailedError):
        return (await stage.play.state(name)).phase is not ZonePhase.CLOSED
    return False
