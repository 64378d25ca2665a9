"""A Temporal server of one case's own, which is killed and started again on the same port and database."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal, embedded_temporal


class OwnServer:
    """The server; ``running``: the present process of it."""

    def __init__(self, data: Path, port: int = 0) -> None:
        self._data = data
        self._port = port
        self._entered = AsyncExitStack()
        self.running: EmbeddedTemporal | None = None

    @property
    def address(self) -> str:
        """HOST:PORT, the same for all its processes."""
        assert self.running is not None
        return self.running.address

    async def start(self) -> None:
        """Start it, on the port that it had before."""
        self.running = await self._entered.enter_async_context(embedded_temporal(self._data, port=self._port))
        self._port = int(self.running.address.rpartition(":")[2])

    async def kill(self) -> None:
        """As a power cut does."""
        assert self.running is not None
        os.kill(self.running.pid, signal.SIGKILL)
        await self._entered.aclose()

    async def restart(self, down: float = 0.0) -> None:
        """Kill it, and start it again after so many seconds."""
        await self.kill()
        await asyncio.sleep(down)
        await self.start()

    async def aclose(self) -> None:
        """End it."""
        await self._entered.aclose()


@asynccontextmanager
async def own_server(data: Path) -> AsyncIterator[OwnServer]:
    """A server whose database is in this folder. Enter it on the main thread."""
    server = OwnServer(data)
    await server.start()
    try:
        yield server
    finally:
        await server.aclose()
