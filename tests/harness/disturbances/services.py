"""The service as a whole: a credential that it takes no more, half an hour of 500, a user who is blocked."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.kit import OUT, REVOKED, SCALE, eventually

HALF_AN_HOUR = 1800 / SCALE
"""Of simulated time, in seconds."""

CALLED_WITHIN = 40.0
"""Seconds within which a call is made, where any is to be made."""

BLOCKED: dict[str, Any] = {"kind": "rate_limit"}
"""Somebody else has used up the user's limit: every call is refused, of whatever zone, and has no effect."""


async def every_call(acting: Acting, fault: dict[str, Any], kind: str, seconds: float) -> None:
    """Let every call go wrong in the same way for so many seconds, and until one was made meanwhile."""
    control = acting.stage.play.control
    booked = await control.send("POST", "faults", fault)
    identity = booked["id"]

    async def met() -> bool:
        return bool((await control.get(f"faults/{identity}"))["fired"])

    try:
        await asyncio.sleep(seconds)
        with suppress(AssertionError):
            await eventually(met, CALLED_WITHIN)
    finally:
        if await met():
            acting.told(kind)
        await control.send("DELETE", f"faults/{identity}", None)


async def revoked(acting: Acting, seconds: float) -> None:
    """Let the service not take the credential, for a while."""
    await every_call(acting, REVOKED, "token revoked", seconds)


async def out(acting: Acting, seconds: float) -> None:
    """Let the service answer everything with 500, for a while."""
    await every_call(acting, OUT, "outage", seconds)


async def blocked(acting: Acting, seconds: float) -> None:
    """Let the service answer everything with 429, for a while."""
    await every_call(acting, BLOCKED, "user blocked", seconds)


async def _revoked(acting: Acting) -> None:
    await asyncio.sleep(acting.chance.uniform(0.5, 6.0))
    await revoked(acting, acting.chance.uniform(2.0, 10.0))


async def _out(acting: Acting) -> None:
    await asyncio.sleep(acting.chance.uniform(0.5, 6.0))
    await out(acting, max(HALF_AN_HOUR, acting.chance.uniform(2.0, 12.0)))


async def _blocked(acting: Acting) -> None:
    await asyncio.sleep(acting.chance.uniform(0.5, 6.0))
    await blocked(acting, acting.chance.uniform(0.2, 5.0))


disturbance(Disturbance("token-revoked", _revoked))
disturbance(Disturbance("blocked", _blocked))
disturbance(Disturbance("outage", _out))
