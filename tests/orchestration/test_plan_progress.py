"""How far a plan is, is published: whoever waits for it asks nothing of a worker."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, Interceptor, OutboundInterceptor, QueryWorkflowInput

from edgeshift.messages import PROGRESS, AssessmentProgress
from edgeshift.model.fleet import assessment_id
from edgeshift.operations import assess
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect, memo_value_of
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.harness.aimed.scene import Stalled
from tests.kit import eventually, fleet_of, scene

pytestmark = pytest.mark.embedded


class Asked(Interceptor):
    """Which queries a client makes."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        """The interceptor of one client."""
        queries = self.queries

        class Outbound(OutboundInterceptor):
            async def query_workflow(self, input: QueryWorkflowInput) -> Any:
                queries.append(input.query)
                return await super().query_workflow(input)

        return Outbound(next)


async def test_a_plan_that_takes_its_time_is_followed_without_a_query(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """A reading of 100,000 zones takes days, with a look twice a second."""
    stalled, asked, heard = Stalled("assess_targets"), Asked(), list[AssessmentProgress]()
    fleet = fleet_of(*({"name": f"{name}.example", "plan": "pro"} for name in "abc"))
    settings = TemporalSettings(address=embedded.address)
    person = await connect(settings, identity="person", interceptors=[asked])
    serving: dict[str, Any] = {"begin": False, "paced": True, "interceptors": [stalled]}
    async with scene(temporal_client, tmp_path, fleet, **serving) as play:
        plan = asyncio.create_task(assess(person, play.archive, play.spec, progress=heard.append))
        await stalled.begun.wait()
        await eventually(
            lambda: _said(heard, AssessmentProgress(done=0, count=3)), 30, "it says how far it is"
        )
        stalled.go.set()
        report, _ = await plan
        assert len(report.zones) == 3 and asked.queries == []
        described = await temporal_client.get_workflow_handle(assessment_id(play.spec.name)).describe()
        found = await memo_value_of(described, PROGRESS, AssessmentProgress)
        assert found == AssessmentProgress(done=3, count=3)


async def _said(heard: list[AssessmentProgress], wanted: AssessmentProgress) -> bool:
    return wanted in heard
