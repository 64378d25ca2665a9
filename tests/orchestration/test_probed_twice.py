"""A probe that is made again, since its worker died after it had told the campaign what it found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.messages import ReportKind, ZoneReport
from tests.harness.campaigns.stages import esc_stage, esc_zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]


class DiesOnce(Interceptor):
    """The first run of an activity does its work, and its answer is lost."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.died = False

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        once = self

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                answer = await super().execute_activity(input)
                if activity.info().activity_type == once._name and not once.died:
                    once.died = True
                    raise RuntimeError("the worker has died")
                return answer

        return Inbound(next)


async def test_what_the_later_probe_found_is_what_the_campaign_knows(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Each tells with a number of its own: with the same one the later word would not have counted, and
    people would have been shown what the zone proposes no more.
    """
    dies = DiesOnce("probe_esc_scope")
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), interceptors=[dies]) as stage:
        await stage.waits("a")
        assert dies.died
        words = []
        async for event in stage.play.campaign.fetch_history_events():
            said = event.workflow_execution_signaled_event_attributes
            if said.signal_name == "zone_report":
                words += await temporal_client.data_converter.decode(said.input.payloads, [ZoneReport])
        asked = [word.sequence for word in words if word.kind is ReportKind.AWAITING]
        assert len(asked) >= 2 and asked[0] < asked[1], asked
        assert (await stage.finish()).outcomes == {"settled": 1}
