"""The act of the capture in which two users share a campaign's window, and a run ends amid its sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.testbed.simulator.fleet_file import Fleet
from tests.kit import scene
from tests.replay.keeping import keep
from tests.swept_kit import SweepHeldUp, run_ends_amid_its_sweep
from workflows.campaign.sweeper import SLICE

USERS = ("ann", "bob")
MANY = SLICE + 10
"""Zones: more than a sweep looks at in one batch."""

MOST_EVENTS = 150


async def shared(client: Client, folder: Path) -> None:
    """A campaign's first run, which starts zones of both users, and one that leaves the rest of its sweep to
    the next one.
    """
    fleet = Fleet.model_validate(
        {
            "users": [{"email": f"{name}@example.com"} for name in USERS],
            "credentials": [
                {"label": name, "user": f"{name}@example.com", "accounts": [name]} for name in USERS
            ],
            "accounts": [{"name": name} for name in USERS],
            "zones": [
                {"name": f"z{number}.example", "plan": "pro", "account": USERS[number % 2]}
                for number in range(MANY)
            ],
        }
    )
    held = SweepHeldUp()
    # So slow that none of them expires until all wait.
    slow: dict[str, Any] = {"time_scale": 1_000.0, "sweep": "2h", "window": 60}
    async with scene(client, folder, fleet, begin=False, interceptors=[held], **slow) as play:
        await play.begin(most_events=MOST_EVENTS)
        first = (await play.campaign.describe()).run_id
        await play.until(lambda found: found.places.get("awaiting", 0) == MANY, 600)
        left = await run_ends_amid_its_sweep(play, held, MOST_EVENTS)
        for name, run in (("campaign-shared-begun", first), ("campaign-shared-left", left)):
            await keep(name, client.get_workflow_handle(play.campaign.id, run_id=run))
