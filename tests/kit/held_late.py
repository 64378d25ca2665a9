"""A look whose answer comes late: it found calls held that have gone on since."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.messages import DescribedZones
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble, held
from tests.kit import Scene, scene
from tests.kit.held import set_status
from tests.kit.queue import on_queue
from tests.kit.users import begin_held, fleet_of_users


class LooksLate(Interceptor):
    """The first look finds calls held, and has no answer before it is told to."""

    def __init__(self) -> None:
        self.hold: OpenCircuit | None = None
        self.begun, self.go, self.answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        late = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                answer = await super().execute_activity(input)
                if activity.info().activity_type != "describe_zones" or late.begun.is_set():
                    return answer
                assert isinstance(answer, DescribedZones)
                late.begun.set()
                while not late.go.is_set():
                    activity.heartbeat()
                    await asyncio.sleep(0.2)
                late.answered.set()
                return answer.model_copy(update={"hold": late.hold})

        return Inbound(next)


@asynccontextmanager
async def held_late(client: Client, folder: Path) -> AsyncIterator[Scene]:
    """A campaign that hears that calls are held from a look which had asked before they went on."""
    tag, late = uuid.uuid4().hex[:8], LooksLate()
    fleet = fleet_of_users(["ann"], 1, tag)
    own = on_queue(client, f"held-{tag}")
    async with scene(own, folder, fleet, begin=False, interceptors=[late]) as play:
        reference = play.spec.service.credentials[0].reference
        late.hold = held(Trouble.REFUSED, "401", datetime.now(UTC), reference)
        await begin_held(play)
        await asyncio.wait_for(late.begun.wait(), 60)
        await set_status(play, "active")
        await play.until(lambda seen: not seen.holds, 60)
        late.go.set()
        await late.answered.wait()
        yield play
