"""How long looks at changes and outcomes may take, by what workflows of committed histories ask the engine
for.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.worker import (
    Interceptor,
    Replayer,
    StartActivityInput,
    UnsandboxedWorkflowRunner,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from edgeshift.areas.esc.terms import LONGEST_PROBE
from edgeshift.runtime.payloads import data_converter
from tests.replay.test_replay import HISTORIES, history
from workflows.campaign.workflow import Campaign
from workflows.esc import EscScope
from workflows.options import READ_WITHIN

ASKED: dict[str, list[timedelta]] = {}
"""Of each activity, how long each of its tries may take."""


class Noted(Interceptor):
    """Notes which activities are asked for."""

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor] | None:
        """For each workflow."""
        return Inbound


class Inbound(WorkflowInboundInterceptor):
    """Puts the one for what goes out in its place."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """As the engine asks."""
        super().init(Outbound(outbound))


class Outbound(WorkflowOutboundInterceptor):
    """Sees each activity."""

    def start_activity(self, input: StartActivityInput) -> Any:
        """Note it."""
        assert input.start_to_close_timeout is not None
        ASKED.setdefault(input.activity, []).append(input.start_to_close_timeout)
        return super().start_activity(input)


async def replayed(name: str) -> None:
    """Note which activities the workflow of a history asks for."""
    ASKED.clear()
    asks = Replayer(
        workflows=[EscScope, Campaign],
        data_converter=data_converter,
        workflow_runner=UnsandboxedWorkflowRunner(),
        interceptors=[Noted()],
    )
    await asks.replay_workflow(history(HISTORIES / f"{name}.json"))


@pytest.mark.parametrize("name", ["esc-settled", "esc-rolled_back"])
async def test_whatever_probes_a_scope_has_as_long_as_its_first_probe(name: str) -> None:
    """The looks while it is watched, and the one that says whether it shows: what it may take is told by what
    the first one took, which may be hours.
    """
    await replayed(name)
    probes = {"probe_esc_scope", "settle_esc_scope", "watch_esc_scope"}
    assert probes <= ASKED.keys()
    assert min(limit for probe in probes for limit in ASKED[probe]) > LONGEST_PROBE


async def test_a_comparison_has_as_long_as_a_reading_of_the_service() -> None:
    """Of a thousand outcomes that nobody has signed each is read, and waits for its turn. A comparison that
    is cut off begins afresh, so that a campaign which has less time than that never closes.
    """
    await replayed("campaign-signed-closed")
    assert ASKED["compare_outcomes"] == [READ_WITHIN]
