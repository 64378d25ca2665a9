"""The acts of the capture in which several users share a campaign's window: of two, where a run ends amid its
sweep; of four; and of more whose calls are held than a campaign once kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.messages import AssessmentStart
from edgeshift.model.fleet import assessment_id
from edgeshift.operations.campaigns import store_spec
from edgeshift.runtime.queues import Queue
from tests.kit import scene
from tests.kit.swept import SweepHeldUp, run_ends_amid_its_sweep
from tests.kit.users import begin_held, fleet_of_users, names_of
from tests.replay.keeping import keep
from workflows.campaign.sweeper import SLICE

USERS = ("ann", "bob")
FOUR = (*USERS, "cem", "dee")
MANY = SLICE + 10
"""Zones: more than a sweep looks at in one batch."""

MOST_EVENTS = 150


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


async def planned_apart(client: Client, folder: Path) -> None:
    """A plan of four users' zones. ``assessment-mixed`` is what the version before
    ``callers-are-read-apart`` made of it.
    """
    async with scene(client, folder, fleet_of_users(FOUR, 60), begin=False) as play:
        digest = await store_spec(play.archive, play.spec)
        handle = await client.start_workflow(
            "Assessment",
            AssessmentStart(name=play.spec.name, spec=digest),
            id=assessment_id(play.spec.name),
            task_queue=Queue.CONTROL,
        )
        await handle.result()
        await keep("assessment-apart", handle)


async def many_held(client: Client, folder: Path) -> None:
    """A campaign of two and twenty users, each of whom has lost the token."""
    async with scene(client, folder, fleet_of_users(names_of(22), 22), begin=False) as play:
        await begin_held(play)
        await keep("campaign-many-held", client.get_workflow_handle(play.campaign.id))
