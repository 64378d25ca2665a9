"""What Temporal's own list finds by the search attributes that operators filter by."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome, assessment_id
from edgeshift.operations import assess, freeze
from edgeshift.operations.campaigns import describe, store_spec
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import CAMPAIGN, PERSON, NamespaceMissing, connect, targets_of
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.kit import OPERATOR, eventually, fleet_of, scene
from tests.kit.faults import staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

OPERATORS = Path(__file__).parents[2] / "docs" / "operators.md"

REFUSED = '{"success":false,"errors":[{"code":1000,"message":"not now"}],"messages":[],"result":null}'


async def found_by(client: Client, query: str) -> set[str]:
    """The identifiers that a filter finds."""
    return {execution.id async for execution in client.list_workflows(query)}


async def in_bare_namespace(embedded: EmbeddedTemporal, client: Client) -> Client:
    """A client of a namespace in which no worker has been."""
    request = RegisterNamespaceRequest(namespace="unlisted")
    request.workflow_execution_retention_period.FromSeconds(86_400)
    await client.workflow_service.register_namespace(request)
    settings = TemporalSettings(address=embedded.address, namespace="unlisted")
    async with asyncio.timeout(30):
        while True:
            # The frontend learns of a new namespace by and by.
            with contextlib.suppress(NamespaceMissing):
                return await connect(settings)
            await asyncio.sleep(0.5)


async def test_the_documented_filter_finds_the_failed_and_the_unknown_zones(
    temporal_client: Client, tmp_path: Path
) -> None:
    """All of them and no other, whatever else the campaign has."""
    (written,) = re.findall(r"`(EdgeshiftCampaign = '[^`]*EdgeshiftOutcome[^`]*)`", OPERATORS.read_text())
    zones = [zone(name) for name in ("failed", "unknown", "done", "waits")]
    async with staged(temporal_client, tmp_path, *zones, commit={"resend_unchanged": 0}) as stage:
        await stage.fault(
            "server_error", "entrypoint.put", "failed", effect="before", status=400, body=REFUSED
        )
        await stage.fault("server_error", "entrypoint.put", "unknown", effect="before", status=502)
        for short in ("failed", "unknown", "done", "waits"):
            await stage.waits(short)
        for short in ("failed", "unknown", "done"):
            await stage.play.sign_zone(stage.name(short))
        assert await stage.outcome("failed") is ZoneOutcome.FAILED
        assert await stage.outcome("unknown") is ZoneOutcome.UNKNOWN
        assert await stage.outcome("done") is ZoneOutcome.MIGRATED
        asked = written.replace("waf-autumn", stage.play.spec.name)
        assert asked != written
        expected = {stage.play.zone(stage.name(short)).id for short in ("failed", "unknown")}

        async def finds_them() -> bool:
            return await found_by(temporal_client, asked) == expected

        await eventually(finds_them, 30, "the filter finds the two zones")
        migrated = f"EdgeshiftCampaign = '{stage.play.spec.name}' AND EdgeshiftOutcome = 'migrated'"
        assert await found_by(temporal_client, migrated) == {stage.play.zone(stage.name("done")).id}


async def test_a_plan_and_a_list_of_targets_are_found_by_campaign_and_person(
    temporal_client: Client, tmp_path: Path
) -> None:
    """As every other run is; and they are none of the campaign's targets."""
    async with scene(temporal_client, tmp_path, fleet_of(zone("a.example")), begin=False) as play:
        digest = await store_spec(play.archive, play.spec)
        await assess(play.client, play.archive, play.spec, by=OPERATOR)
        await freeze(play.client, play.archive, play.spec, digest, by=OPERATOR)
        name = play.spec.name
        asked = f"{CAMPAIGN.name} = '{name}' AND {PERSON.name} = '{OPERATOR}'"
        expected = {assessment_id(name), f"targets/{name}/{digest[:16]}"}

        async def finds_them() -> bool:
            return await found_by(temporal_client, asked) == expected

        await eventually(finds_them, 30, "both are found")
        assert await found_by(temporal_client, targets_of(name)) == set()


async def test_a_plan_waits_for_a_worker_also_where_none_has_registered_search_attributes(
    embedded: EmbeddedTemporal, temporal_client: Client, tmp_path: Path
) -> None:
    """It begins without them: the first worker may come later."""
    client = await in_bare_namespace(embedded, temporal_client)
    async with scene(client, tmp_path, fleet_of(zone("a.example")), serve=False) as play:
        planning = asyncio.create_task(assess(client, play.archive, play.spec, by=OPERATOR))

        async def begins() -> bool:
            return await describe(client, assessment_id(play.spec.name)) is not None

        await eventually(begins, 30, "the plan begins")
        assert not planning.done()
        planning.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await planning
