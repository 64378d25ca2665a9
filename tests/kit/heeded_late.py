"""An abort that is signed and told to nobody, found by the look that finds the campaign's last zone ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.worker import ExecuteActivityInput

from tests.kit.around import Around, Work
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster


class EndsFirst(Around):
    """A sweep's look begins once one into a word that a zone has ended is over, where such is waited for."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.over.set()

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Hold the sweep's look up."""
        if name != "describe_zones":
            return await work()
        batch: Any = asked.args[0]
        if not batch.ended:
            await self.over.wait()
            return await work()
        answer = await work()
        self.over.set()
        return answer


@asynccontextmanager
async def heeded_late(client: Client, folder: Path) -> AsyncIterator[tuple[Stage, EndsFirst]]:
    """A campaign of one zone, which waits for its sign-off. Its sweeps' looks wait once ``over`` is cleared:
    then the first look that finds a signed abort finds also that the zone has ended.
    """
    first = EndsFirst()
    async with staged(client, folder, zone("a"), authority=Roster(), interceptors=[first]) as stage:
        await stage.waits("a")
        yield stage, first
