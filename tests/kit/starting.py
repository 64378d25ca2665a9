"""A batch of zones that is slow to start: what they say meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.messages import ZonePhase
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster

LONG = "240h"
"""Until the next sweep, longer than a test takes: nothing is found out by one."""


class StartsSlowly(Interceptor):
    """A batch's zones are started, and the batch does not end before it is told to."""

    def __init__(self) -> None:
        self.go, self.looked = asyncio.Event(), asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        slowly = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                answer = await super().execute_activity(input)
                match activity.info().activity_type:
                    case "start_zones":
                        await slowly.go.wait()
                    case "describe_zones":
                        slowly.looked.set()
                return answer

        return Inbound(next)


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
