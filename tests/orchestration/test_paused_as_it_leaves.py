"""A campaign that is paused while a run of it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from tests.kit import eventually
from tests.kit.left_paused import left_paused

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]


async def test_who_holds_a_permit_is_told_that_it_is_taken_back(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The pause has answered, since the permit is given up in the archive; its holder does not wait for the
    permit's end, and its place in the window is free, though the run was leaving.
    """
    async with left_paused(temporal_client, tmp_path) as (play, run):

        async def goes_on() -> bool:
            return (await play.campaign.describe()).run_id != run

        await eventually(goes_on, 60, "the next run begins")
        holder = play.targets[0].zone.name
        history = await play.zone(holder).fetch_history()
        signals = [
            event.workflow_execution_signaled_event_attributes.signal_name
            for event in history.events
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
        ]
        assert "revoke" in signals, signals
        await play.until(lambda found: found.places.get("permitted", 0) == 0, 20)
        await play.ask("resume")
        await play.sign_zone(play.targets[1].zone.name)
        assert (await play.result()).outcomes == {"migrated": 2}
        await play.check_rules(absent={3, 4, 7})
