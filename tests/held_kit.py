"""What the tests of held calls share: credentials that are refused for a while, and the calls meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from edgeshift.messages import CampaignSummary
from tests.kit import Scene

OUT: dict[str, Any] = {"kind": "server_error", "effect": "before", "status": 500}


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


def most_in(entries: list[dict[str, Any]], seconds: float) -> int:
    """The most calls in any window of so many real seconds."""
    times = [datetime.fromisoformat(entry["wall_time"]).timestamp() for entry in entries]
    return max((sum(1 for other in times if 0 <= other - time < seconds) for time in times), default=0)


async def stands_still(play: Scene, within: float = 60) -> CampaignSummary:
    """The campaign's summary once it has paused itself."""
    return await play.until(lambda found: bool(found.holds), within)


@asynccontextmanager
async def fault(play: Scene, **what: Any) -> AsyncIterator[None]:
    """A fault of the service until the block ends."""
    booked = await play.control.send("POST", "faults", what)
    try:
        yield
    finally:
        await play.control.send("DELETE", f"faults/{booked['id']}", None)
