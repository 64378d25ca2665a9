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
from temporalio.worker import ExecuteActivityInput

from edgeshift.rate_limit.circuit import OpenCircuit, Trouble, held
from tests.kit import Scene, scene
from tests.kit.around import Around, Work
from tests.kit.held import set_status
from tests.kit.queue import on_queue
from tests.kit.users import begin_held, fleet_of_users


class LooksLate(Around):
    """The first look finds calls held, and has no answer before it is told to."""

    def __init__(self) -> None:
        self.hold: OpenCircuit | None = None
        self.begun, self.go, self.answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Hold the first look's answer back, which says that calls are held."""
        answer = await work()
        if name != "describe_zones" or self.begun.is_set():
            return answer
        self.begun.set()
        while not self.go.is_set():
            activity.heartbeat()
            await asyncio.sleep(0.2)
        self.answered.set()
        return answer.model_copy(update={"hold": self.hold})


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
