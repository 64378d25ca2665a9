"""Zones brought to a phase of their way, where somebody then does something."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError

from edgeshift.messages import ZonePhase, ZoneState
from tests.harness.disturbances.ways import Way, fix
from tests.kit import Looks, eventually
from tests.kit.faults import Stage

WITHIN = 240.0
"""Seconds within which a zone comes to a phase, also where each of its calls waits for a turn."""


class Missed(Exception):
    """The zone went through the phase without being seen in it, as it can on a busy machine."""


async def bring(stage: Stage, way: Way, short: str, phase: ZonePhase) -> None:
    """Return once the zone is in this phase, signing on the way whatever it asks for before. Raises Missed
    where it is past it; fails where it does not come there.
    """
    name = stage.name(short)
    if phase is ZonePhase.ASSESSING:
        # A zone answers no query while it reads: it has been started, and its first answer is slow.
        await eventually(lambda: _is_there(stage, name), WITHIN, f"{short} is started")
        await asyncio.sleep(0.5)
        return
    signed: set[str] = set()
    limit, looks = asyncio.get_running_loop().time() + WITHIN, Looks()
    state: ZoneState | None = None
    while True:
        try:
            state = await stage.play.state(name)
        except (RPCError, WorkflowQueryFailedError):
            state = None
        if state is not None and state.phase is phase:
            return
        if state is not None and state.phase is ZonePhase.AWAITING_SIGN_OFF and state.digest not in signed:
            signed.add(state.digest)
            await stage.play.sign_zone(name, digest=state.digest)
        if state is not None and state.phase is ZonePhase.NEEDS_SUPPORT and way.supported:
            await fix(stage, short)
        if state is not None and state.phase is ZonePhase.CLOSED:
            raise Missed(f"{short} of {way.name} was not seen {phase.value}")
        if asyncio.get_running_loop().time() > limit:
            raise AssertionError(f"{short} of {way.name} did not come to {phase.value}: {state}")
        await looks.pause()


async def come(stage: Stage, way: Way, phase: ZonePhase, *shorts: str) -> list[str]:
    """Bring zones to a phase, side by side; those that were seen in it. Fails where none was."""

    async def one(short: str) -> str:
        with suppress(Missed):
            await bring(stage, way, short, phase)
            return short
        return ""

    seen = [short for short in await asyncio.gather(*map(one, shorts)) if short]
    assert seen, f"none of {', '.join(shorts)} was seen {phase.value}"
    return seen


async def _is_there(stage: Stage, name: str) -> bool:
    try:
        await stage.play.zone(name).describe()
    except RPCError:
        return False
    return True
