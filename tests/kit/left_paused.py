"""A pause that comes while a run of its campaign leaves."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ExecuteActivityInput

from tests.kit import Scene, eventually, fleet_of, scene
from tests.kit.around import Around, Work
from tests.kit.queue import on_queue

MOST_EVENTS = 150


class HeldUp(Around):
    """Holds activities up once they are named in ``held``, each until it is let go."""

    def __init__(self) -> None:
        self.held: dict[str, asyncio.Event] = {}
        self.begun: set[str] = set()

    def hold(self, *names: str) -> None:
        """From now on these do not begin."""
        for name in names:
            self.held[name] = asyncio.Event()

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Do it, once nothing holds it."""
        if name in self.held:
            self.begun.add(name)
            while not self.held[name].is_set():
                activity.heartbeat()
                await asyncio.sleep(0.1)
        return await work()

    async def until_begun(self, name: str) -> None:
        """Wait until one of this name is held up."""

        async def begun() -> bool:
            return name in self.begun

        await eventually(begun, 60, f"{name} begins")


@asynccontextmanager
async def left_paused(client: Client, folder: Path) -> AsyncIterator[tuple[Scene, str]]:
    """A campaign that is paused while a run of it leaves, and whose pause has answered while the zone that
    held the permit is still to be told; that run. The zone, the first of two, is told half a second later.
    """
    tag, held = uuid.uuid4().hex[:8], HeldUp()
    holder, other = f"holder.{tag}.example", f"waits.{tag}.example"
    fleet = fleet_of({"name": holder, "plan": "pro"}, {"name": other, "plan": "pro"})
    own = on_queue(client, f"left-{tag}")
    async with scene(own, folder, fleet, begin=False, sweep="24h", interceptors=[held]) as play:
        await play.begin(most_events=MOST_EVENTS)
        await play.until(lambda found: found.places.get("awaiting", 0) == 2)
        held.hold("change_zone", "describe_zones")
        await play.sign_zone(holder)
        await held.until_begun("change_zone")
        await held.until_begun("describe_zones")
        run = (await play.campaign.describe()).run_id or ""
        handle = play.client.get_workflow_handle(play.campaign.id, run_id=run)
        await play.ask("resume")
        while ((await handle.describe()).history_length or 0) <= MOST_EVENTS:
            await play.ask("resume")
        # It leaves now, as soon as the look is over that its sweep has begun.
        await play.ask("resume")
        held.hold("tell_zones")
        await play.ask("pause")
        await held.until_begun("tell_zones")
        held.held["describe_zones"].set()
        await asyncio.sleep(0.5)
        held.held["tell_zones"].set()
        held.held["change_zone"].set()
        yield play, run
