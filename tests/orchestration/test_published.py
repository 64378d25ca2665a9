"""A campaign publishes its summary: whoever follows it asks no worker."""

from __future__ import annotations

import asyncio
import io
import itertools
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle

from edgeshift.messages import CampaignSummary
from edgeshift.operations.campaigns import published
from edgeshift.views.watching import watch_campaign
from tests.kit import Looks, Scene, fleet_of, scene
from workflows.campaign.publishing import EVERY

pytestmark = pytest.mark.embedded

LEAST = EVERY.total_seconds()


async def seen(play: Scene) -> CampaignSummary:
    """What the newest run has published."""
    found = await published(await play.campaign.describe())
    assert found is not None
    return found


async def publishings(play: Scene) -> list[float]:
    """When the campaign's newest run published, in seconds since 1970."""
    kind = EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED
    return [
        event.event_time.ToNanoseconds() / 1e9
        async for event in play.campaign.fetch_history_events()
        if event.event_type == kind
    ]


async def test_a_campaign_is_followed_to_its_end_without_a_query(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits, who decided, and that it has closed. It publishes where something is new, seldom enough."""
    fleet = fleet_of({"name": "a.example", "plan": "pro"}, {"name": "b.example", "plan": "pro"})
    said = io.StringIO()
    async with scene(temporal_client, tmp_path, fleet) as play:

        async def refused(*_: Any, **__: Any) -> None:
            raise AssertionError("a worker was asked")

        with monkeypatch.context() as patch:
            patch.setattr(WorkflowHandle, "query", refused)
            console = Console(file=said, width=200, force_terminal=False)
            watching = asyncio.create_task(watch_campaign(play.client, play.spec.name, console=console))
            async with asyncio.timeout(60):
                looks = Looks()
                while (found := await seen(play)).places.get("awaiting") != 2:
                    await looks.pause()
            (waiting,) = found.waiting
            assert (waiting.zones, found.fingerprints_waiting, found.open_runs) == (2, 1, 2)
            before = len(await publishings(play))
            await asyncio.sleep(2 * LEAST)
            assert len(await publishings(play)) == before, "nothing was new"
            await play.sign([waiting.fingerprint])
            closed = await watching
        assert closed.state == "closed" and closed.places == {"migrated": 2}
        last = await seen(play)
        assert last.state == "closed" and last.places == {"migrated": 2}
        assert [(one.fingerprint, one.decisions[0].by) for one in last.book] == [(waiting.fingerprint, "ann")]
        assert last == (await play.summary()).model_copy(update={"now": last.now})
        moments = await publishings(play)
        apart = [after - before for before, after in itertools.pairwise(moments)]
        assert min(apart) > 0.95 * LEAST
        assert "2/2 finished" in said.getvalue()
        await play.check_rules(absent={3, 4})


async def test_what_was_published_is_there_in_the_next_run(temporal_client: Client, tmp_path: Path) -> None:
    """A campaign that goes on in a new run has published before anybody can look again."""
    fleet = fleet_of({"name": "a.example", "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet) as play:
        start = await play.until(lambda summary: summary.places.get("awaiting") == 1)
        first = (await play.campaign.describe()).run_id
        for _ in range(700):
            if (await play.campaign.describe()).run_id != first:
                break
            await asyncio.gather(*(play.campaign.signal("zone_report", "nonsense") for _ in range(50)))
        described = await play.campaign.describe()
        assert described.run_id != first
        found = await published(described)
        assert found is not None and found.waiting == start.waiting
        await play.sign([found.waiting[0].fingerprint])
        await play.result()
        await play.check_rules(absent={3, 4})
