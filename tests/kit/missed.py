"""A zone that was to be started and was not, and a look at it of which the answer comes late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.worker import ExecuteActivityInput

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from tests.kit.around import Around, Work
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster


class Without(Around):
    """One zone is not started though it is asked for, as where a campaign's task, played again after a
    worker's death, believes that it has asked for more than it did. ``times``: how often. ``late``: a look
    into a word that it has ended has no answer before that is set.
    """

    def __init__(self, index: int, times: int, *, late: asyncio.Event | None = None) -> None:
        self.index, self.times, self.asked, self.late = index, times, 0, late
        self.looked, self.answered = asyncio.Event(), asyncio.Event()

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Leave the zone out of what is started; hold the look's answer back."""
        batch: Any = asked.args[0]
        if name == "start_zones" and self.index in batch.indexes:
            self.asked += 1
            if self.asked <= self.times:
                kept = tuple(index for index in batch.indexes if index != self.index)
                asked.args = [batch.model_copy(update={"indexes": kept})]
        if name != "describe_zones" or self.late is None:
            return await work()
        if self.index not in batch.ended:
            await self.looked.wait()
            return await work()
        answer = await work()
        self.looked.set()
        await self.late.wait()
        self.answered.set()
        return answer


@asynccontextmanager
async def missed_while_looked_at(client: Client, folder: Path) -> AsyncIterator[Stage]:
    """A campaign of three zones, of which one was not started. Somebody says that it has ended; a look finds
    nothing of it, and before the answer comes, a sweep has missed it, and it was started.
    """
    late = asyncio.Event()
    without = Without(2, 1, late=late)
    zones = [zone(name) for name in "abc"]
    async with staged(client, folder, *zones, authority=Roster(), interceptors=[without]) as stage:
        await stage.waits("a")
        await stage.play.say_ended(stage.name("c"), ZoneOutcome.FAILED)
        await stage.phase("c", ZonePhase.AWAITING_SIGN_OFF)
        assert without.asked == 2
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 3)
        late.set()
        await without.answered.wait()
        yield stage
