"""Zones that were terminated or reset, and a campaign that continues as new: nothing is lost, nothing is sent
twice.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from edgeshift.campaign.ledger import Ledger
from edgeshift.messages import CampaignStart, ZonePhase
from edgeshift.model.fleet import ZoneOutcome, campaign_id
from tests.kit import Scene
from tests.kit.faults import again, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long]


async def test_a_terminated_zone_is_found_named_and_can_be_retried(
    temporal_client: Client, tmp_path: Path
) -> None:
    """An operator terminates a zone that waits: the sweep settles it by the service; a retry begins it."""
    async with staged(temporal_client, tmp_path, zone("gone"), zone("open")) as stage:
        await stage.waits("gone")
        await stage.waits("open")
        await stage.play.zone(stage.name("gone")).terminate("by hand")
        summary = await stage.play.until(lambda seen: seen.places.get("failed") == 1)
        name = stage.name("gone")
        assert any(f"{name} ended before its word came: failed" in note for note in summary.notes)
        assert await stage.changes() == []
        await again(stage, "retry", "gone")
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await stage.check()


async def test_a_zone_terminated_after_its_commit_is_settled_by_reading_the_service(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nobody commits it again: the service shows that it is migrated."""
    async with staged(
        temporal_client,
        tmp_path,
        zone("gone"),
        zone("open"),
        simulator={"migration_seconds": 43_200},
        commit={"migration_limit": "20s"},
        # The sweep looks for it once the migration is over.
        sweep="24h",
    ) as stage:
        await stage.waits("gone")
        await stage.waits("open")
        await stage.play.sign_zone(stage.name("gone"))
        await stage.phase("gone", ZonePhase.VERIFYING)
        await stage.play.zone(stage.name("gone")).terminate("by hand")
        found = await stage.play.until(lambda seen: not seen.places.get("permitted"))
        assert found.places in ({"awaiting": 1, "migrated": 1}, {"awaiting": 1, "failed": 1})
        if "failed" in found.places:
            await again(stage, "retry", "gone")
        assert (await stage.finish()).outcomes.get("failed") is None
        assert sum(entry["effect"] != "none" for entry in await stage.play.commits(stage.name("gone"))) == 1


async def test_continue_as_new_in_mid_flight_loses_nothing(temporal_client: Client, tmp_path: Path) -> None:
    """Forty zones in runs of 60 events each: the campaign goes on in new runs with book and permits. A run is
    handed the ledger in bytes, beside its start, and continue-as-new writes no text of it.
    """
    names = [f"z{number}" for number in range(40)]
    async with staged(temporal_client, tmp_path, *map(zone, names), begin=False, window=8) as stage:
        play = stage.play
        await play.begin(most_events=60)
        first = (await play.campaign.describe()).run_id
        assert (await stage.finish(120)).outcomes == {"migrated": 40}
        name = campaign_id(play.spec.name)
        runs = [run.run_id async for run in play.client.list_workflows(f"WorkflowId = '{name}'")]
        assert first in runs
        assert len(runs) >= 3
        for run in runs:
            start, ledger = await _handed(play.client, name, run)
            assert ledger.metadata["encoding"] == b"binary/plain" and bool(ledger.data) is (run != first)
            if run != first:
                carried = Ledger(40, datetime.now(UTC), timedelta(hours=1))
                carried.unpack(ledger.data)
                assert any(carried.attempts)
                assert CampaignStart.model_validate_json(start.data).arguments()[1] == b""
        assert await stage.changes() == [("entrypoint.put", "pending")] * 40
        await stage.check()


async def _handed(client: Client, name: str, run: str) -> Sequence[Payload]:
    """What a run was started with."""
    async for event in client.get_workflow_handle(name, run_id=run).fetch_history_events(page_size=1):
        return event.workflow_execution_started_event_attributes.input.payloads
    raise AssertionError(f"run {run} has no history")


@pytest.mark.parametrize("moment", ["while it is verified", "once it has closed"])
async def test_a_zone_that_is_reset_to_before_its_commit_does_not_send_twice(
    moment: str, temporal_client: Client, tmp_path: Path
) -> None:
    """The intent of the permit is in the archive: the new run finds out what happened and sends nothing."""
    simulator = {"migration_seconds": 40_000}
    async with staged(
        temporal_client,
        tmp_path,
        zone("a"),
        zone("open"),
        simulator=simulator,
        commit={"migration_limit": "15s", "lease": "2m"},
    ) as stage:
        play = stage.play
        await stage.waits("a")
        await stage.waits("open")
        await play.sign_zone(stage.name("a"))
        if moment == "while it is verified":
            await stage.phase("a", ZonePhase.VERIFYING)
        else:
            assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await _reset(play, stage.name("a"))
        assert await stage.outcome("a", 40) is ZoneOutcome.MIGRATED
        assert len(await play.commits(stage.name("a"))) == 1
        await stage.finish()
        await stage.check()


async def test_a_zone_that_is_reset_to_before_its_validation_does_not_send_it_twice(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its readings do not come any more, so that it never gets to the intent that is there already: that they
    did not come in time does not say that nothing was sent.
    """
    async with staged(
        temporal_client, tmp_path, zone("a", plan="enterprise"), zone("open"), commit={"lease": "2m"}
    ) as stage:
        await stage.waits("a", within=120)
        await stage.fault("hang", "pagerules.list", "a", times=None)
        await _reset(stage.play, stage.name("a"))
        await stage.phase("a", ZonePhase.VALIDATING)
        await stage.waits("a", within=60)
        assert await stage.changes("a") == [("entrypoint.put", "validation")]
        await stage.play.control.send("DELETE", "faults")
        await stage.finish()
        assert await stage.changes("a") == [("entrypoint.put", "validation"), ("entrypoint.put", "pending")]
        await stage.check()


async def test_a_zone_that_is_reset_to_before_its_validation_when_it_is_migrated_is_read_anew(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The service refuses its configuration, as of any zone that is migrated: the new run does not ask for
    permits to validate it for ever, but finds its own commit.
    """
    async with staged(
        temporal_client, tmp_path, zone("a", plan="enterprise"), zone("open"), commit={"lease": "2m"}
    ) as stage:
        state = await stage.waits("a", within=120)
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await _reset(stage.play, stage.name("a"), first=True)
        assert await stage.outcome("a", 60) in {ZoneOutcome.MIGRATED, ZoneOutcome.ALREADY_MIGRATED}
        await stage.finish()
        assert await stage.changes("a") == [("entrypoint.put", "validation"), ("entrypoint.put", "pending")]
        await stage.check()


async def test_a_zone_that_is_reset_to_before_its_validation_once_its_permit_ran_out_does_not_send_it_twice(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The new run gets another permit, under which nothing was sent: what was sent under the one that ran out
    is looked for (rule 9).
    """
    async with staged(
        temporal_client,
        tmp_path,
        zone("a", plan="enterprise"),
        zone("open"),
        commit={"lease": "8s"},
        validation={"window": "80h"},
    ) as stage:
        await stage.phase("a", ZonePhase.VALIDATING)
        await asyncio.sleep(8)
        await _reset(stage.play, stage.name("a"))
        await stage.finish()
        await stage.check()
        assert await stage.changes("a") == [("entrypoint.put", "validation"), ("entrypoint.put", "pending")]


async def _reset(play: Scene, name: str, *, first: bool = False) -> None:
    """What an operator's ``temporal workflow reset`` does, to the workflow task before the last change, or
    the first one.
    """
    handle = play.zone(name)
    described = await handle.describe()
    at, event_id = 0, 0
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            at = event.event_id
        scheduled = event.activity_task_scheduled_event_attributes.activity_type.name
        if scheduled == "change_zone" and not (first and event_id):
            event_id = at
    assert event_id
    await play.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=play.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=described.run_id),
            reason="by hand",
            workflow_task_finish_event_id=event_id,
            request_id=uuid.uuid4().hex,
        )
    )
