"""A zone that was to be started and was not, and a look at it of which the answer comes late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.messages import DescribeZones, ReportKind, StartZones, ZonePhase, ZoneReport
from edgeshift.model.fleet import ZoneOutcome
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster


class Without(Interceptor):
    """One zone is not started though it is asked for, as where a campaign's task, played again after a
    worker's death, believes that it has asked for more than it did. ``times``: how often. ``late``: a look
    into a word that it has ended has no answer before that is set.
    """

    def __init__(self, index: int, times: int, *, late: asyncio.Event | None = None) -> None:
        self.index, self.times, self.asked, self.late = index, times, 0, late
        self.looked, self.answered = asyncio.Event(), asyncio.Event()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        without = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                batch: Any = input.args[0]
                match activity.info().activity_type:
                    case "start_zones" if without.index in batch.indexes:
                        assert isinstance(batch, StartZones)
                        without.asked += 1
                        if without.asked <= without.times:
                            kept = tuple(index for index in batch.indexes if index != without.index)
                            input.args = [batch.model_copy(update={"indexes": kept})]
                    case "describe_zones" if without.late is not None:
                        assert isinstance(batch, DescribeZones)
                        return await self._late(batch, input, without.late)
                return await super().execute_activity(input)

            async def _late(
                self, batch: DescribeZones, input: ExecuteActivityInput, late: asyncio.Event
            ) -> Any:
                if without.index not in batch.ended:
                    await without.looked.wait()
                    return await super().execute_activity(input)
                answer = await super().execute_activity(input)
                without.looked.set()
                await late.wait()
                without.answered.set()
                return answer

        return Inbound(next)


@asynccontextmanager
async def missed_while_looked_at(client: Client, folder: Path) -> AsyncIterator[Stage]:
    """A campaign of three zones, of which one was not started. Somebody says that it has ended; a look finds
    nothing of it, and before the answer comes, a sweep has missed it, and it was started.
    """
    late = asyncio.Event()
    without = Without(2, 1, late=late)
    zones = [zone(name) for name in "abc"]
    async with staged(client, folder, *zones, authority=Roster(), interceptors=[without]) as stage:
        campaign = stage.play.campaign
        word = ZoneReport(
            campaign_run=(await campaign.describe()).run_id or "",
            index=2,
            attempt=1,
            sequence=60_000,
            kind=ReportKind.FINISHED,
            outcome=ZoneOutcome.FAILED,
        )
        await stage.waits("a")
        await campaign.signal("zone_report", word)
        await stage.phase("c", ZonePhase.AWAITING_SIGN_OFF)
        assert without.asked == 2
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 3)
        late.set()
        await without.answered.wait()
        yield stage
