"""How a campaign's execution grows while it runs: what its runs carry, and how long their histories are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from temporalio.client import Client
from temporalio.service import RPCError

from bench.fleet import figures
from bench.fleet.histories import began_with
from bench.fleet.records import Grown

EVERY = 5.0
"""Seconds between two looks: one short call each, and one more for each new run."""


class Growing:
    """Looks at a campaign's execution until it is stopped, without a worker and without a query."""

    def __init__(self, client: Client, workflow_id: str) -> None:
        self._client, self._workflow_id = client, workflow_id
        self._run: str | None = None
        self._bytes = 0
        self.seen: list[Grown] = []

    async def look(self) -> None:
        """Note how it is; nothing where there is none, or the server does not answer."""
        handle = self._client.get_workflow_handle(self._workflow_id)
        try:
            described = await handle.describe()
            if described.run_id != self._run:
                self._bytes = await began_with(self._client, self._workflow_id, described.run_id)
                self._run = described.run_id
        except RPCError:
            return
        self.seen.append(
            Grown(at=datetime.now(UTC), state_bytes=self._bytes, events=described.history_length)
        )

    async def work(self) -> None:
        """Look again and again."""
        while True:
            await self.look()
            await asyncio.sleep(EVERY)


def series(seen: Sequence[Grown], began: datetime, over: datetime) -> dict[str, list[tuple[float, float]]]:
    """Over the seconds from ``began``: the bytes of the state that the campaign's run began with, and the
    events of its history so far, which begin again with each run.
    """
    within = [(round((one.at - began).total_seconds(), 1), one) for one in seen if began <= one.at <= over]
    return {
        "campaign_state_bytes": figures.thinned([(at, float(one.state_bytes)) for at, one in within]),
        "campaign_history_events": figures.thinned([(at, float(one.events)) for at, one in within]),
    }
