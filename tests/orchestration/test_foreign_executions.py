"""Executions that somebody else has started under a zone's identifier: a campaign looks, and goes on."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import TypedSearchAttributes
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.account_lock import _is_of
from activities.connections import Connections
from activities.looks import Looks, attempt_of, described
from edgeshift.audit.chain import Kind
from edgeshift.audit.spool import Spool
from edgeshift.audit.temporal_outcomes import add_temporal_outcomes
from edgeshift.messages import DescribeZones, HoldZones
from edgeshift.model.fleet import (
    MOST_ATTEMPTS,
    Area,
    Plan,
    Target,
    Zone,
    assessment_id,
    attempt_in,
    campaign_id,
    migration_id,
)
from edgeshift.operations.errors import NotFound, Refused
from edgeshift.operations.plans import last_plan
from edgeshift.operations.repair import repair
from edgeshift.runtime.temporal import memo_of, of_campaign
from edgeshift.stores.archive import Archive
from edgeshift.views.finding import Named, zone_runs
from edgeshift.views.gathering import known_campaign, zone_rows
from tests.kit import eventually
from tests.kit.faults import staged, zone
from tests.kit.foreign import Forged, sealed

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

QUEUE = "of-somebody-else"


@workflow.defn(name="Foreign", sandboxed=False)
class Foreign:
    """Ends at once, with something that is no result of a zone."""

    @workflow.run
    async def run(self) -> str:
        """It."""
        return "x"


@asynccontextmanager
async def foreign_worker(client: Client) -> AsyncIterator[None]:
    """Somebody who runs such executions."""
    async with Worker(
        client, task_queue=QUEUE, workflows=[Foreign, Forged], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        yield


async def foreign(client: Client, identifier: str, memo: dict[str, Any]) -> None:
    """One that has ended."""
    await client.execute_workflow("Foreign", id=identifier, task_queue=QUEUE, memo=memo)


def spooled(targets: Sequence[Target]) -> Spool:
    """What an audit file of a campaign over these targets has before Temporal is asked."""
    spool = Spool()
    spool.areas.add(Area.WAF)
    spool.add(Kind.TARGETS, "t", {})
    for index, target in enumerate(targets):
        spool.add_target("t", index, target.model_dump(mode="json"))
    return spool


def batch_of(campaign: str, run: str) -> DescribeZones:
    """As much of a batch as says whose it is."""
    return cast(DescribeZones, SimpleNamespace(campaign=campaign, campaign_run=run))


async def test_what_a_foreign_execution_ends_with_and_says_of_itself_is_no_zones(
    temporal_client: Client,
) -> None:
    """Its result and its attempt are none, whatever they are."""
    connections = cast(Connections, SimpleNamespace(temporal=temporal_client))
    mine, batch = {"campaign": "campaign/a", "campaign_run": "r"}, batch_of("campaign/a", "r")
    async with foreign_worker(temporal_client):
        await foreign(temporal_client, "zone/z/waf", {**mine, "attempt": 1})
        found = await described(temporal_client, "zone/z/waf")
        assert found is not None and await attempt_of(found, batch) == 1
        assert await Looks(connections, {})._result("zone/z/waf", found.run_id) is None
        await foreign(temporal_client, "zone/z/waf", {**mine, "attempt": "x"})
        found = await described(temporal_client, "zone/z/waf")
        assert found is not None and await attempt_of(found, batch) == 0
        unknown = Payload(metadata={"encoding": b"nobodys"}, data=b"x")
        found.raw_description.workflow_execution_info.memo.fields["campaign"].CopyFrom(unknown)
        assert await memo_of(found) is None and await attempt_of(found, batch) == 0


@pytest.mark.parametrize(
    ("said", "attempt"),
    [
        (1, 1),
        (255, 255),
        (MOST_ATTEMPTS, MOST_ATTEMPTS),
        ("x", 0),
        ("7", 0),
        (None, 0),
        (True, 0),
        (1.5, 0),
        (-1, 0),
        (MOST_ATTEMPTS + 1, 0),
        ([1], 0),
    ],
)
def test_an_attempt_is_a_number(said: object, attempt: int) -> None:
    """Anything else is none."""
    assert attempt_in({"attempt": said}) == attempt
    start = SimpleNamespace(campaign_run="r", attempt=MOST_ATTEMPTS)
    message = cast(HoldZones, SimpleNamespace(holder="h", start=start))
    assert _is_of(message, {"holder": "h", "campaign_run": "r", "attempt": said})


@pytest.mark.parametrize("attempt", [1, "x"])
async def test_a_foreign_execution_under_a_zones_identifier_hangs_no_campaign(
    temporal_client: Client, tmp_path: Path, attempt: object
) -> None:
    """Somebody ends the zone's workflow and starts another in the campaign's name: the service is read, and
    the zone begins again: by itself where there is no attempt of it, or by a retry.
    """
    async with (
        foreign_worker(temporal_client),
        staged(temporal_client, tmp_path, zone("a"), zone("b")) as stage,
    ):
        for short in stage.names:
            await stage.waits(short)
        campaign, name = stage.play.campaign, stage.name("a")
        run = (await campaign.describe()).run_id
        await stage.play.zone(name).terminate("by somebody else")
        memo = {"campaign": campaign.id, "campaign_run": run, "attempt": attempt}
        await foreign(temporal_client, stage.play.zone(name).id, memo)
        if attempt == 1:
            await stage.play.until(lambda seen: seen.places.get("failed") == 1, 60)
            await stage.play.again("retry", name)
        else:
            await stage.play.until(lambda seen: any("once more" in note for note in seen.notes), 60)
        await stage.waits("a")
        assert (await stage.finish()).outcomes == {"migrated": 2}


async def test_views_leave_out_what_somebody_else_started_in_a_campaigns_name(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A memo, a result or an attempt that is no zone's: rows, runs and the audit's lines are as without."""
    async with (
        foreign_worker(temporal_client),
        staged(temporal_client, tmp_path, zone("a"), zone("b")) as stage,
    ):
        for short in stage.names:
            await stage.waits(short)
        name, campaign = stage.play.spec.name, stage.play.campaign
        run = (await campaign.describe()).run_id
        of = TypedSearchAttributes(of_campaign(name, "mallory"))
        claims = {"campaign": campaign.id, "campaign_run": run, "attempt": 1}
        index = {target.zone.name: place for place, target in enumerate(stage.play.targets)}
        await stage.play.zone(stage.name("a")).terminate("by somebody else")
        started: list[tuple[Client, str, dict[str, Any]]] = [
            (sealed(temporal_client), "elsewhere/1", {"index": 0}),
            (temporal_client, "elsewhere/2", {**claims, "attempt": 99, "index": index[stage.name("b")]}),
            (
                temporal_client,
                stage.play.zone(stage.name("a")).id,
                {**claims, "index": index[stage.name("a")]},
            ),
        ]
        for client, identifier, memo in started:
            identifier = identifier.replace("elsewhere", f"elsewhere-{name}")
            await client.execute_workflow(
                "Foreign", id=identifier, task_queue=QUEUE, memo=memo, search_attributes=of
            )
        await stage.play.until(lambda seen: seen.places.get("failed") == 1, 60)
        query = f"EdgeshiftCampaign = '{name}' AND WorkflowType = 'Foreign'"

        async def listed() -> bool:
            return (await temporal_client.count_workflows(query)).count == len(started)

        await eventually(listed)
        known = await known_campaign(temporal_client, name)
        rows = {row.name: row for row in await zone_rows(temporal_client, stage.play.archive, known)}
        assert rows[stage.name("a")].place == "failed"
        shown = rows[stage.name("b")]
        assert (shown.place, shown.attempt) == ("awaiting", 1) and shown.digest
        hidden = f"elsewhere-{name}/1/waf"
        with spooled(stage.play.targets) as spool:
            assert await add_temporal_outcomes(temporal_client, name, spool)
            assert {kind for kind, _ in spool.lines()} == {Kind.TARGETS, Kind.TARGET, Kind.CAMPAIGN}
        await sealed(temporal_client).execute_workflow(
            "Foreign", id=f"zone/{hidden}", task_queue=QUEUE, memo=claims
        )
        named = Named(hidden.removesuffix("/waf"), Area.WAF)
        assert len(await zone_runs(temporal_client, named)) == 1
        with pytest.raises(NotFound):
            await zone_runs(temporal_client, named, name)


async def test_an_audit_has_outcomes_of_its_targets_workflows_alone(temporal_client: Client) -> None:
    """What somebody else starts in a campaign's name and ends with a zone's result is none of a target's. No
    number that it writes there keeps anybody from the file.
    """
    tag = uuid.uuid4().hex
    name, ids = f"told-{tag[:8]}", (tag, tag[::-1])
    zones = [Zone(id=one, name=f"{one}.example", account="a" * 32, plan=Plan.PRO) for one in ids]
    first, second = (migration_id(one, Area.WAF) for one in zones)
    started: list[tuple[str, dict[str, Any]]] = [
        (first, {"index": 0, "attempt": 1}),
        (first, {"index": 2**60, "attempt": 1}),
        (first, {"index": 0, "attempt": 2**60}),
        (first, {"index": 0, "attempt": 0}),
        (second, {"index": 0, "attempt": 1}),
        (second, {"index": True, "attempt": 1}),
        (second, {"index": 2, "attempt": 1}),
        (second, {"index": -1, "attempt": 1}),
        (f"{name}/elsewhere", {"index": 0, "attempt": 1}),
    ]
    of = TypedSearchAttributes(of_campaign(name, "mallory"))
    async with foreign_worker(temporal_client):
        for identifier, memo in started:
            result = {"outcome": "migrated"}
            await temporal_client.execute_workflow(
                "Forged", result, id=identifier, task_queue=QUEUE, memo=memo, search_attributes=of
            )
        counted = {"outcomes": {"migrated": 2**60}}
        await temporal_client.execute_workflow("Forged", counted, id=campaign_id(name), task_queue=QUEUE)

        async def listed() -> bool:
            query = f"EdgeshiftCampaign = '{name}' AND ExecutionStatus = 'Completed'"
            return (await temporal_client.count_workflows(query)).count == len(started)

        await eventually(listed)
        with spooled([Target(zone=one, wave=0) for one in zones]) as spool:
            assert await add_temporal_outcomes(temporal_client, name, spool)
            told = {kind: json.loads(data) for kind, data in spool.lines() if kind is not Kind.TARGET}
            assert [kind for kind, _ in spool.lines()].count(Kind.OUTCOME) == 1
    assert (told[Kind.CAMPAIGN]["state"], told[Kind.CAMPAIGN]["outcomes"]) == ("completed", {})
    outcome = told[Kind.OUTCOME]
    assert (outcome["workflow"], outcome["index"], outcome["attempt"]) == (first, 0, 1)


async def test_a_foreign_assessment_is_no_plan(temporal_client: Client) -> None:
    """Whatever it ended with, and whatever its memo is."""
    async with foreign_worker(temporal_client):
        for client in (temporal_client, sealed(temporal_client)):
            await client.execute_workflow(
                "Foreign", id=assessment_id("of-nobody"), task_queue=QUEUE, memo={"spec": "x"}
            )
            assert await last_plan(temporal_client, "of-nobody") is None


async def test_what_is_not_known_to_be_edgeshifts_is_not_repaired(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its memo would say whether somebody has to sign."""
    monkeypatch.setattr("edgeshift.operations.repair.FAILS_OFTEN", 0)
    handle = await sealed(temporal_client).start_workflow(
        "Foreign", id="zone/of-nobody/waf", task_queue=QUEUE, memo={"campaign": "campaign/a"}
    )

    async def replays(_: object) -> None:
        return None

    with pytest.raises(Refused, match="its memo says cannot be read"):
        await repair(
            temporal_client, handle.id, by="olga", reason="x", replay=replays, archive=Archive(tmp_path)
        )
    await handle.terminate()
