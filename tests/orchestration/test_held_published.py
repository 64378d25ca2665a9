"""What is held of a user's calls is published: whoever waits asks nothing of a worker."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import HoldCalls, QuotaStart
from edgeshift.model.fleet import quota_id
from edgeshift.quota.leases import Quotas, terms_of
from edgeshift.rate_limit.circuit import Circuit, OpenCircuit, Trouble, held, opened
from edgeshift.runtime.queues import Queue
from tests.kit import Scene, fleet_of, scene
from worker.wiring import workers

pytestmark = pytest.mark.embedded

FLEET = fleet_of({"name": "a.example", "plan": "pro"})


def outage() -> OpenCircuit:
    """The service is out, since now."""
    return held(Trouble.OUTAGE, "503", datetime.now(UTC), "")


def user_of(play: Scene) -> str:
    """Whose calls the campaign makes."""
    return play.spec.service.caller(play.spec.service.credentials[0])


async def test_what_is_held_is_read_without_a_worker(temporal_client: Client, tmp_path: Path) -> None:
    """Once a hold has been answered it is published, and once the calls go on that is, too."""
    async with scene(temporal_client, tmp_path, FLEET, serve=False) as play:
        quotas, user = Quotas(play.client), user_of(play)
        credential, hold = play.spec.service.credentials[0], outage()
        assert (await quotas.standing(user)).holds == ()
        async with workers(play.client, play.settings):
            await quotas.hold(credential, play.spec, hold)
            assert (await quotas.standing(user)).holds == (hold,)
            due = (await quotas.standing(user)).probe_at
            assert due > hold.since.timestamp()
        # Nobody is there who could answer a query.
        assert (await quotas.standing(user)).holds == (hold,)
        async with workers(play.client, play.settings):
            await quotas.fixed(user, [])
            assert await quotas.probe(user, []) is None, "the signal has been taken"
        assert (await quotas.standing(user)).holds == ()
        # What was fixed since is not held again by older news.
        async with workers(play.client, play.settings):
            await quotas.hold(credential, play.spec, hold)
        assert (await quotas.standing(user)).holds == ()


async def test_a_quota_that_was_ended_holds_nothing(temporal_client: Client, tmp_path: Path) -> None:
    """Nobody could have it let the calls go on; the next lease begins another one."""
    async with scene(temporal_client, tmp_path, FLEET, serve=False) as play:
        quotas, user = Quotas(play.client), user_of(play)
        async with workers(play.client, play.settings):
            await quotas.hold(play.spec.service.credentials[0], play.spec, outage())
        assert (await quotas.standing(user)).holds
        await play.client.get_workflow_handle(quota_id(user)).terminate()
        assert (await quotas.standing(user)).holds == ()


async def test_the_next_run_publishes_what_it_was_handed(temporal_client: Client, tmp_path: Path) -> None:
    """Before anybody has said anything to it."""
    async with scene(temporal_client, tmp_path, FLEET, serve=False) as play:
        user, terms, hold = user_of(play), terms_of(play.spec), outage()
        circuit = opened(Circuit(), hold, hold.since.timestamp(), terms.minute)
        handle = await play.client.start_workflow(
            "Quota",
            QuotaStart(user=user, terms=terms, circuit=circuit),
            id=quota_id(user),
            task_queue=Queue.QUOTA,
        )
        async with workers(play.client, play.settings):
            await handle.execute_update("hold_calls", HoldCalls(hold=hold))
        assert (await Quotas(play.client).standing(user)).holds == (hold,)
        events = [event async for event in handle.fetch_history_events()]
        said = [one for one in events if one.HasField("workflow_properties_modified_event_attributes")]
        assert len(said) == 1, "what was handed on, and no more: it was held already"
