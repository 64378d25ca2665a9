"""The acts of the capture in which several users share a campaign's window: of two, where a run ends amid its
sweep; and of four.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.testbed.simulator.fleet_file import Fleet
from tests.kit import scene
from tests.kit.swept import SweepHeldUp, run_ends_amid_its_sweep
from tests.replay.keeping import keep
from workflows.campaign.sweeper import SLICE

USERS = ("ann", "bob")
FOUR = (*USERS, "cem", "dee")
MANY = SLICE + 10
"""Zones: more than a sweep looks at in one batch."""

MOST_EVENTS = 150


def fleet_of_users(names: Sequence[str], count: int) -> Fleet:
    """A fleet of so many zones, in turn one of each user."""
    return Fleet.model_validate(
        {
            "users": [{"email": f"{name}@example.com"} for name in names],
            "credentials": [
                {"label": name, "user": f"{name}@example.com", "accounts": [name]} for name in names
            ],
            "accounts": [{"name": name} for name in names],
            "zones": [
                {"name": f"z{number}.example", "plan": "pro", "account": names[number % len(names)]}
                for number in range(count)
            ],
        }
    )


async def shared(client: Client, folder: Path) -> None:
    """A campaign's first run, which starts zones of both users, and one that leaves the rest of its sweep to
    the next one.
    """
    fleet = fleet_of_users(USERS, MANY)
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


async def four(client: Client, folder: Path) -> None:
    """A campaign of four users with as many places, in which one has two zones signed while the others wait
    for people. ``campaign-four-apart`` is what the version before ``shares-are-rounded-together`` made of it.
    """
    async with scene(client, folder, fleet_of_users(FOUR, len(FOUR) + 1), window=len(FOUR)) as play:
        await play.until(lambda found: found.places.get("awaiting", 0) == len(FOUR) + 1)
        await play.ask("pause")
        signed = ("z0.example", f"z{len(FOUR)}.example")
        for name in signed:
            await play.sign_zone(name)
        await play.until(lambda found: found.places.get("ready") == len(signed))
        await play.ask("resume")
        for name in signed:
            await play.zone(name).result()
        await play.until(lambda found: found.places.get("migrated") == len(signed))
        await keep("campaign-four-together", client.get_workflow_handle(play.campaign.id))
