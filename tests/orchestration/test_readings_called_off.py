"""An abort while a zone is read or a scope is probed, which may take hours: nobody waits for that then."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from tests.harness.aimed.scene import Stalled
from tests.harness.campaigns.stages import esc_stage, esc_zone
from tests.kit.faults import Stage, staged, zone
from worker.wiring import replayer

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

SILENCE = "40d"
"""Long, so that what is held up is not taken for lost."""


async def is_called_off(stage: Stage, stalled: Stalled) -> None:
    """The campaign is aborted once it goes on: the zone ends, though no worker has let go of it."""
    play = stage.play
    await asyncio.wait_for(stalled.begun.wait(), 90)
    await play.ask("abort")
    assert await stage.outcome("a") is ZoneOutcome.ABORTED
    history = await play.zone(stage.name("a")).fetch_history()
    called_off = [
        event for event in history.events if event.HasField("activity_task_cancel_requested_event_attributes")
    ]
    assert len(called_off) == 1 and not stalled.go.is_set()
    stalled.go.set()
    assert (await play.result()).outcomes == {"aborted": 1}
    await replayer().replay_workflow(history)


async def test_an_abort_calls_a_reading_off(temporal_client: Client, tmp_path: Path) -> None:
    """It may wait for its turn in the rate limit."""
    stalled = Stalled("prepare_waf_zone")
    more: dict[str, Any] = {"interceptors": [stalled], "silence": SILENCE}
    async with staged(temporal_client, tmp_path, zone("a"), **more) as stage:
        await is_called_off(stage, stalled)


async def test_an_abort_calls_a_probe_off(temporal_client: Client, tmp_path: Path) -> None:
    """No more of the scope's URLs are asked."""
    stalled = Stalled("probe_esc_scope")
    more: dict[str, Any] = {"interceptors": [stalled], "silence": SILENCE}
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), **more) as stage:
        await is_called_off(stage, stalled)
