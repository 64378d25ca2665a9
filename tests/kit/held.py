"""What the tests of held calls share: troubles of the service as a whole, and the calls meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from temporalio.service import RPCError

from edgeshift.messages import CampaignSummary
from tests.kit import OUT, REVOKED, Scene, eventually

TROUBLES = {"revoked": REVOKED, "outage": OUT}

MINUTE = 1.0
"""The shortest scaled minute, in seconds."""


async def set_status(play: Scene, status: str) -> None:
    """Let the service refuse every credential of the scene, or take it again."""
    for credential in play.fleet.credentials:
        await play.control.send("PUT", f"credentials/{credential.label}", {"status": status})


async def last(play: Scene) -> int:
    """The number of the journal's last entry."""
    return int((await play.control.get("health"))["journal"])


async def calls_since(play: Scene, sequence: int) -> list[dict[str, Any]]:
    """Every call to the service after an entry of its journal, with whichever credential."""
    found = await play.control.get("journal", after=sequence, limit=1000)
    entries: list[dict[str, Any]] = found["entries"]
    return entries


def few(calls: list[dict[str, Any]]) -> bool:
    """Whether there was at most one call a minute from the first to the last of them. They leave no closer
    than that; on a busy machine one may arrive late, and the next one in time.
    """
    times = [datetime.fromisoformat(entry["wall_time"]).timestamp() for entry in calls]
    return not times or len(times) <= (times[-1] - times[0]) / MINUTE + 2


async def watched(play: Scene, seconds: float = 4.0) -> list[dict[str, Any]]:
    """The calls of the next seconds, once those that were on their way have come."""
    await asyncio.sleep(1.5)
    before = await last(play)
    await asyncio.sleep(seconds)
    return await calls_since(play, before)


async def stands_still(play: Scene, within: float = 60) -> CampaignSummary:
    """The campaign's summary once it has paused itself."""

    async def holds() -> bool:
        try:
            return bool((await play.summary()).holds)
        except RPCError:
            return False

    await eventually(holds, within, "the campaign pauses itself")
    return await play.summary()


@asynccontextmanager
async def fault(play: Scene, trouble: dict[str, Any], **match: Any) -> AsyncIterator[None]:
    """A trouble of the service until the block ends. ``match``: which calls meet it; without, all."""
    booked = await play.control.send("POST", "faults", {**trouble, "match": match, "times": 1_000_000})
    try:
        yield
    finally:
        await play.control.send("DELETE", f"faults/{booked['id']}", None)
