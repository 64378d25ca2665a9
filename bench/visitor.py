"""Somebody who visits the edge all the time, and knows since when a URL fails and when it is well again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

SELDOM, OFTEN = 0.5, 0.1
"""Seconds between two visits while all is well, and while it is not."""

METHOD = "HEAD"
"""Which no probe of the bench uses: so the edge's list of visits tells the two apart."""


@dataclass
class Sightings:
    """What was seen of one host's URL: the status at first, and each later change with its time."""

    first: int
    changes: list[tuple[datetime, int]] = field(default_factory=list)

    def failing(self) -> datetime | None:
        """When it was first seen otherwise than at first."""
        return next((at for at, status in self.changes if status != self.first), None)

    def well_again(self, since: datetime) -> datetime | None:
        """When it was first seen as at first, after ``since``."""
        return next((at for at, status in self.changes if at > since and status == self.first), None)


@asynccontextmanager
async def visiting(edge: str, paths: Mapping[str, str]) -> AsyncIterator[dict[str, Sightings]]:
    """Visit a path of each host for as long as the block lasts; what was seen, by host."""
    limits = httpx.Limits(max_connections=20)
    async with httpx.AsyncClient(base_url=edge, limits=limits, trust_env=False, timeout=30) as http:

        async def status(host: str) -> int:
            return (await http.request(METHOD, paths[host], headers={"host": host})).status_code

        async def visit(host: str, seen: Sightings) -> None:
            last = seen.first
            while True:
                await asyncio.sleep(SELDOM if last == seen.first else OFTEN)
                now = await status(host)
                if now != last:
                    seen.changes.append((datetime.now(UTC), now))
                    last = now

        found = {host: Sightings(await status(host)) for host in paths}
        visits = [asyncio.create_task(visit(host, seen)) for host, seen in found.items()]
        try:
            yield found
        finally:
            for one in visits:
                one.cancel()
            for one in visits:
                with contextlib.suppress(asyncio.CancelledError):
                    await one
