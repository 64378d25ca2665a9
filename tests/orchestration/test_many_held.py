"""Many credentials are refused at a time: each is held by name, and goes on as soon as it is mended."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from tests.kit import eventually, scene
from tests.kit.held import set_status
from tests.kit.queue import on_queue
from tests.kit.users import begin_held, fleet_of_users, names_of

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(300)]

MANY = 22


async def test_of_many_users_whose_calls_are_held_each_goes_on_by_itself(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The one that was heard last, too: its zone waits with the others, and once its token alone is taken
    again, it is read, and nobody has to resume.
    """
    tag = uuid.uuid4().hex[:8]
    own, fleet = on_queue(temporal_client, f"held-{tag}"), fleet_of_users(names_of(MANY), MANY, tag)
    async with scene(own, tmp_path, fleet, begin=False) as play:
        await begin_held(play)
        found = await play.summary()
        references = [credential.reference for credential in play.spec.service.credentials]
        assert {waits.credential: waits.zones for waits in found.held_by} == dict.fromkeys(references, 1)
        last = references.index(found.holds[-1].credential)
        label = play.fleet.credentials[last].label
        await play.control.send("PUT", f"credentials/{label}", {"status": "active"})
        mended = play.fleet.zones[last].name
        await play.zone_until(mended, lambda state: state.phase is ZonePhase.AWAITING_SIGN_OFF, 120)
        assert len((await play.until(lambda found: len(found.holds) < MANY)).holds) == MANY - 1
        await set_status(play, "active")
        await play.sign_everything(120)
        assert (await play.result()).outcomes == {"migrated": MANY}
        await play.check_rules(absent={3, 4, 7})


async def test_a_zone_that_waits_for_the_service_is_not_asked_at_each_sweep(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its campaign knows what it waits for, and looks at it without a word."""
    tag = uuid.uuid4().hex[:8]
    own = on_queue(temporal_client, f"held-{tag}")
    # So slow that the zone does not try by itself meanwhile.
    async with scene(own, tmp_path, fleet_of_users(["ann"], 1, tag), time_scale=600.0, begin=False) as play:
        await begin_held(play)

        async def looks() -> int:
            events = [event async for event in play.campaign.fetch_history_events()]
            asked = [event.activity_task_scheduled_event_attributes.activity_type.name for event in events]
            return asked.count("describe_zones")

        before = await looks()

        async def swept() -> bool:
            return await looks() >= before + 3

        await eventually(swept, 60, "three sweeps")
        (zone,) = play.fleet.zones
        told = [
            event.workflow_execution_signaled_event_attributes.signal_name
            async for event in play.zone(zone.name).fetch_history_events()
        ]
        assert "say_again" not in told, told
        await set_status(play, "active")
        await play.sign_everything(120)
        assert (await play.result()).outcomes == {"migrated": 1}
        await play.check_rules(absent={3, 4, 7})
