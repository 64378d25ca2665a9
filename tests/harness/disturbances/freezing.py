"""A worker process that is stopped at a chosen place and woken past every time-out, while others go on."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.harness.disturbances.ways import PAST_EVERY_TIMEOUT
from tests.harness.switches import FENCED, Switches, place_of
from tests.kit import eventually

AROUND = (
    "start_zones",
    "tell_zones",
    "change_zone",
    "prepare_waf_zone",
    "verify_waf_zone",
    "open_ticket",
    "prepare_esc_scope",
    "probe_esc_scope",
    "settle_esc_scope",
    "watch_esc_scope",
    "prepare_log_fields_zone",
    "settle_log_fields_zone",
    "watch_log_fields_zone",
    "tell_campaign",
)

WAITED = 180.0


async def freeze_at(acting: Acting, place: str, seconds: float, nth: int = 1) -> bool:
    """Stop the process that comes to a place as the ``nth``, and wake it ``seconds`` later. False where
    nobody came in time.
    """
    known = len(Switches(acting.order.folder).frozen())
    Switches(acting.order.folder).arm(place, nth)
    return await frozen_at(acting, place, seconds, known, WAITED)


async def frozen_at(acting: Acting, place: str, seconds: float, known: int, within: float) -> bool:
    """The same at a place that is armed already: once more have been stopped than the ``known``."""
    switches = Switches(acting.order.folder)
    try:
        await eventually(lambda: _more(switches, known), within)
        acting.told(f"frozen {place}")
        await asyncio.sleep(seconds)
        return True
    except AssertionError:
        return False
    finally:
        switches.disarm()
        wake(acting)


async def _more(switches: Switches, known: int) -> bool:
    return len(switches.frozen()) > known


def wake(acting: Acting) -> None:
    """Wake every worker process."""
    for pid in acting.processes.pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


async def _somewhere(acting: Acting) -> None:
    places = [*FENCED, *(place_of(name, moment) for name in AROUND for moment in ("before", "after"))]
    for _ in range(acting.chance.randint(1, 4)):
        seconds = acting.chance.choice([0.5, 5.0, PAST_EVERY_TIMEOUT])
        await freeze_at(acting, acting.chance.choice(places), seconds, acting.chance.randint(1, 3))


disturbance(Disturbance("freeze", _somewhere))
