"""The Temporal server killed and started again on the same database."""

from __future__ import annotations

import asyncio

from tests.harness.disturbances import Acting, Disturbance, disturbance


async def kill_server(acting: Acting, down: float) -> None:
    """Kill the case's own server, and start it again after so many seconds."""
    server = acting.server
    assert server is not None, "it needs a server of its own"
    # One that has begun is seen through, so that a server is there at the end.
    await asyncio.shield(asyncio.ensure_future(server.restart(down)))
    acting.told("server killed")


async def _restarts(acting: Acting) -> None:
    for _ in range(acting.chance.randint(1, 3)):
        await asyncio.sleep(acting.chance.uniform(1.0, 8.0))
        await kill_server(acting, acting.chance.choice([0.0, 0.0, 3.0, 12.0]))


disturbance(Disturbance("server-restart", _restarts, own_server=True))
