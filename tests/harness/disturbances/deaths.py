"""Workers that die one after the other, all at once and for a while, or that are told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.harness.switches import Switches


def send(pid: int, number: signal.Signals) -> bool:
    """Send a process a signal; whether it was there."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


async def all_dead(acting: Acting, seconds: float) -> None:
    """Let nobody work for so long."""
    switches = Switches(acting.order.folder)
    switches.hold(True)
    try:
        for pid in acting.processes.pids:
            send(pid, signal.SIGKILL)
        acting.told("all workers dead")
        await asyncio.sleep(seconds)
    finally:
        switches.hold(False)


async def stop_in_order(acting: Acting) -> None:
    """Tell each of the present workers to stop, as a rollout does; others take their places."""
    for pid in acting.processes.pids:
        if send(pid, signal.SIGTERM):
            acting.told("worker told to stop")
        await asyncio.sleep(0.5)


async def _deaths(acting: Acting) -> None:
    for _ in range(acting.chance.randint(2, 6)):
        await asyncio.sleep(acting.chance.uniform(2.0, 8.0))
        if acting.chance.random() < 0.3:
            await all_dead(acting, acting.chance.uniform(0.5, 12.0))
        elif pids := acting.processes.pids:
            pid = acting.chance.choice(pids)
            number = acting.chance.choice([signal.SIGKILL, signal.SIGTERM])
            if send(pid, number):
                acting.told(f"worker got {number.name}")


disturbance(Disturbance("deaths", _deaths))
