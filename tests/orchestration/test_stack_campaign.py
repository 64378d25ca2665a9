"""A campaign on an embedded stack outlives the stack."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.campaign_file.spec import (
    CampaignSpec,
    CommitSpec,
    ServiceSpec,
    TargetSpec,
    TicketSpec,
    ValidationSpec,
)
from edgeshift.messages import CampaignSummary
from edgeshift.model.fleet import Area, Target, campaign_id
from edgeshift.model.sign_off import SignOffPolicy
from edgeshift.operations.campaigns import start_campaign
from edgeshift.operations.pen import Pen
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from edgeshift.testbed.demo.approver import Approver
from edgeshift.testbed.demo.course import Played
from edgeshift.testbed.demo.parts import PARTS
from edgeshift.testbed.demo.verdict import gather, judge
from edgeshift.testbed.simulator.fleet_file import Fleet, FleetZone
from edgeshift.testbed.stack import Stack, stack
from edgeshift.testbed.stack.serving import until_served

pytestmark = [pytest.mark.embedded, pytest.mark.stack, pytest.mark.long]

SCALE = 14_400
NAME = "outlives"
WAF = PARTS[Area.WAF]
WITHOUT_CASES = frozenset({4, 7})
"""Rules of support cases and of stops: this scenario has none."""


def fleet() -> Fleet:
    plans = ["pro"] * 5 + ["enterprise"] * 2
    return Fleet(
        zones=[
            FleetZone.model_validate({"name": f"z{n}.example", "plan": plan}) for n, plan in enumerate(plans)
        ]
    )


def spec(running: Stack) -> CampaignSpec:
    return CampaignSpec(
        name=NAME,
        targets=TargetSpec(all=True),
        service=ServiceSpec(
            base_url=running.service, credentials=running.credentials, request_limit=timedelta(seconds=10)
        ),
        validation=ValidationSpec(window=timedelta(hours=24)),
        # What a worker had taken and not begun when it was stopped is tried again when this has passed.
        commit=CommitSpec(
            poll=timedelta(hours=1), send_window=timedelta(seconds=10), margin=timedelta(seconds=5)
        ),
        # What waits must not expire while the stack is stopped.
        sign_off=SignOffPolicy(expires_after=timedelta(days=1000), valid_for=timedelta(days=1000)),
        tickets=TicketSpec(folder=str(running.places.tickets)),
        time_scale=SCALE,
    )


async def client_of(running: Stack) -> Client:
    return await connect(TemporalSettings(address=running.address, namespace=running.namespace))


async def summary(client: Client) -> CampaignSummary:
    handle = client.get_workflow_handle(campaign_id(NAME))
    found: CampaignSummary = await handle.query("summary", result_type=CampaignSummary)
    return found


async def test_a_campaign_goes_on_after_the_stack_was_stopped(tmp_path: Path) -> None:
    """Stopped while zones wait for sign-off and window; started again, every zone comes to its end, once."""
    async with stack(tmp_path, fleet=fleet(), time_scale=SCALE) as first:
        await first.control.send("PUT", "options", {"migration_seconds": 3600, "visibility_seconds": 3600})
        client = await client_of(first)
        assert await until_served(client)
        archive = Archive(first.archive)
        pen = Pen(first.keyring.signer("olga"), archive, "olga")
        start = await start_campaign(client, archive, spec(first), by="olga", pen=pen)
        async with asyncio.timeout(120):
            waiting = False
            while not waiting:
                await asyncio.sleep(0.5)
                waiting = bool((await summary(client)).waiting)
    async with stack(tmp_path) as second:
        client, archive = await client_of(second), Archive(second.archive)
        targets = [Target.model_validate(item) for item in await archive.get_json(start.targets)]
        approver = Approver(
            client,
            archive,
            NAME,
            targets,
            area=Area.WAF,
            judge=WAF.judge,
            by="ada",
            pen=Pen(second.keyring.signer("ada"), archive, "ada"),
            spec=start.spec,
        )
        async with asyncio.timeout(120):
            work = asyncio.create_task(approver.work())
            await client.get_workflow_handle(campaign_id(NAME)).result()
            work.cancel()
        last = await summary(client)
        played = Played(
            signatures=approver.signatures,
            bodies=approver.bodies,
            summaries={NAME: last},
            targets={NAME: targets},
        )
        evidence = await gather(second, client, WAF, played, [spec(second)], [])
        checks = judge(evidence, absent=WITHOUT_CASES)
    assert [violation for check in checks for violation in check.violations] == []
    assert sum(last.places.get(place, 0) for place in ("migrated", "rejected")) == len(targets), last.places
    assert last.places["migrated"] >= 5
