"""A campaign publishes its summary: whoever follows it asks no worker."""

from __future__ import annotations

import asyncio
import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle

from edgeshift.messages import CampaignSummary
from edgeshift.operations.campaigns import published
from edgeshift.views.watching import watch_campaign
from tests.kit import Scene, fleet_of, scene
from tests.kit.clock import Looks
from workflows.campaign.publishing import EVERY

pytestmark = pytest.mark.embedded

LEAST = EVERY.total_seconds()


async def seen(play: Scene, place: str, number: int) -> CampaignSummary:
    """What the newest run has published, once it says that so many targets are at a place."""
    looks, limit = Looks(), asyncio.get_running_loop().time() + 60
    while True:
        found = await published(await play.campaign.describe())
        if found is not None and found.places.get(place) == number:
            return found
        assert asyncio.get_running_loop().time() < limit, found
        await looks.pause()


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
            found = await seen(play, "awaiting", 2)
            (waiting,) = found.waiting
            assert (waiting.zones, found.fingerprints_waiting, found.open_runs) == (2, 1, 2)
            before = len(await publishings(play))
            await asyncio.sleep(2 * LEAST)
            assert len(await publishings(play)) == before, "nothing was new"
            await play.sign([waiting.fingerprint])
            closed = await watching
        assert closed.state == "closed" and closed.places == {"migrated": 2}
        last = await seen(play, "migrated", 2)
        assert last.state == "closed" and last.places == {"migrated": 2}
        assert [(one.fingerprint, one.decisions[0].by) for one in last.book] == [(waiting.fingerprint, "ann")]
        assert last == (await play.summary()).model_copy(update={"now": last.now})
        moments = await publishings(play)
        apart = [after - before for before, after in pairwise(moments[:-1])]
        assert min(apart) > 0.95 * LEAST
        assert "2/2 finished" in said.getvalue()
        await play.check_rules(absent={3, 4, 7})


@pytest.mark.long
async def test_what_was_published_is_there_in_the_next_run(temporal_client: Client, tmp_path: Path) -> None:
    """A campaign that goes on in new runs of 60 events each: its memo goes with it, or is there at once."""
    names = [f"z{number}.example" for number in range(12)]
    fleet = fleet_of(*({"name": name, "plan": "pro"} for name in names))
    async with scene(temporal_client, tmp_path, fleet, begin=False, window=4) as play:
        await play.begin(most_events=60)
        found = await seen(play, "awaiting", 12)
        signing = asyncio.create_task(play.sign([found.waiting[0].fingerprint]))
        runs: set[str] = set()
        while (described := await play.campaign.describe()).close_time is None:
            runs.add(described.run_id)
            assert await published(described) is not None
            await Looks().pause()
        await signing
        assert len(runs) > 1
        assert (await seen(play, "migrated", 12)).state == "closed"
        await play.check_rules(absent={3, 4, 7})
