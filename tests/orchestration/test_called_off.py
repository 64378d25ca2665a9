"""A local activity that its worker called off, as where it was late with a task, is made again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.worker import (
    Interceptor,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.workflow import ActivityHandle

from tests.faults_kit import staged, zone
from tests.harness.campaigns.stages import ESC, esc_stage, esc_zone, over

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

TIMES = 2
"""How often each kind of local activity of a zone is called off."""


class _Outbound(WorkflowOutboundInterceptor):
    def __init__(self, next: WorkflowOutboundInterceptor) -> None:
        super().__init__(next)
        self.seen: Counter[str] = Counter()

    def start_local_activity(self, input: StartLocalActivityInput) -> ActivityHandle[Any]:
        handle = super().start_local_activity(input)
        self.seen[input.activity] += 1
        if self.seen[input.activity] <= TIMES:
            # The command alone: the workflow's own code is not to see that anybody asked.
            handle._request_cancel()  # type: ignore[attr-defined]
        return handle


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class CalledOff(Interceptor):
    """Of each workflow, the first local activities of each kind are cancelled, though the workflow is not."""

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[_Inbound]:
        """The interceptor of one workflow."""
        return _Inbound


async def test_a_zone_is_migrated_though_its_worker_called_off_what_it_did(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Its reading and its words to the campaign are made again; nothing is sent twice."""
    async with staged(temporal_client, tmp_path, zone("a"), interceptors=[CalledOff()]) as stage:
        assert (await stage.finish(90)).outcomes == {"migrated": 1}
        await stage.check({3, 4, 7})


async def test_a_scope_is_turned_off_though_its_worker_called_off_what_it_did(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The same of esc."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a", own=True), interceptors=[CalledOff()], **over(ESC)
    ) as stage:
        assert (await stage.finish(90)).outcomes == {"settled": 1}
