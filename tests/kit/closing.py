"""A campaign at its close: it compares its outcomes, until it is let go on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from activities.comparing import Comparing
from edgeshift.messages import ComparedOutcomes, ReportKind, ZoneReport
from tests.kit.faults import Stage


@contextmanager
def comparison_waits() -> Iterator[asyncio.Event]:
    """Until it is told to go on, no campaign of this process comes to the end of its comparison."""
    go, compare = asyncio.Event(), Comparing.all

    async def waits(self: Comparing, **how: Any) -> ComparedOutcomes:
        await go.wait()
        return await compare(self, **how)

    with patch.object(Comparing, "all", waits):
        yield go


async def begin_at_the_close(stage: Stage, ended: str, again: str) -> None:
    """While a campaign compares its outcomes, a zone that had ended says that it works; somebody begins
    another one again then.
    """
    play = stage.play
    run = (await play.campaign.describe()).run_id or ""
    index = play.index(stage.name(ended))
    word = ZoneReport(campaign_run=run, index=index, attempt=1, sequence=900, kind=ReportKind.WAITING)
    await play.campaign.signal("zone_report", word)
    await play.until(lambda seen: seen.state != "closed")
    await play.again("retry", stage.name(again))
