"""A batch of zones that is slow to start: what they say meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.worker import ExecuteActivityInput

from edgeshift.messages import ZonePhase
from tests.kit.around import Around, Work
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster

LONG = "240h"
"""Until the next sweep, longer than a test takes: nothing is found out by one."""


class StartsSlowly(Around):
    """A batch's zones are started, and the batch does not end before it is told to."""

    def __init__(self) -> None:
        self.go, self.looked = asyncio.Event(), asyncio.Event()

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Hold the batch's answer back; say that somebody has looked."""
        answer = await work()
        if name == "start_zones":
            await self.go.wait()
        elif name == "describe_zones":
            self.looked.set()
        return answer


@asynccontextmanager
async def ended_while_starting(client: Client, folder: Path) -> AsyncIterator[Stage]:
    """A campaign of two zones, of which one is found migrated, and says so while their batch is starting."""
    slowly, done = StartsSlowly(), zone("done", migration={"state": "complete"})
    async with staged(
        client, folder, done, zone("b"), authority=Roster(), sweep=LONG, interceptors=[slowly]
    ) as stage:
        await stage.phase("done", ZonePhase.CLOSED)
        with suppress(TimeoutError):
            # Whoever looked now would find that it has ended, and could not say so.
            await asyncio.wait_for(slowly.looked.wait(), 3)
        slowly.go.set()
        yield stage
