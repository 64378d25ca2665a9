"""Workflows that wait for weeks must go on under today's code: committed histories replay, offline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from edgeshift.messages import ZonePhase
from worker.wiring import WORKFLOWS, sandbox
from workflows.quota import Quota

HISTORIES = Path(__file__).parent / "histories"
WAITING = (
    ZonePhase.AWAITING_VALIDATION,
    ZonePhase.VALIDATING,
    ZonePhase.AWAITING_SIGN_OFF,
    ZonePhase.AWAITING_PERMIT,
    ZonePhase.NEEDS_SUPPORT,
    ZonePhase.WAITING_FOR_SERVICE,
)

REVERSIBLE = (
    "esc-awaiting_first_permit",
    "esc-awaiting_sign_off",
    "esc-watching",
    "account-awaiting_sign_off",
    "hold-held",
    "log-fields-awaiting_sign_off",
    "log-fields-watching",
)
"""The same of the changes that can be undone, and of a zone that is held with its account."""


@workflow.defn(name="WafZone", sandboxed=False)
class Other:
    """A workflow of the same name that does something else."""

    @workflow.run
    async def run(self, start: dict[str, object]) -> None:
        """Sleep, where the real one reads the zone."""
        await workflow.sleep(1)


def history(path: Path) -> WorkflowHistory:
    """A committed history; its workflow id is in its first event."""
    document = json.loads(path.read_text())
    started = document["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(started["workflowId"], document)


@pytest.mark.parametrize("path", sorted(HISTORIES.glob("*.json")), ids=lambda path: path.stem)
async def test_a_committed_history_replays(path: Path) -> None:
    """No history that may be waiting somewhere meets a different course of events."""
    replayer = Replayer(
        workflows=[*WORKFLOWS, Quota],
        data_converter=pydantic_data_converter,
        workflow_runner=sandbox(),
    )
    await replayer.replay_workflow(history(path))


def test_every_state_that_waits_has_a_history() -> None:
    """A zone can wait for weeks in each of these, so each is replayed."""
    names = {path.stem for path in HISTORIES.glob("*.json")}
    missing = [phase.value for phase in WAITING if f"zone-{phase.value}" not in names]
    missing += [name for name in REVERSIBLE if name not in names]
    assert not missing
    assert {"campaign-running", "campaign-paused", "campaign-held", "quota"} <= names


async def test_a_changed_course_does_not_replay() -> None:
    """The replay is able to fail: a workflow of the same name that does something else is found out."""

    replayer = Replayer(workflows=[Other], data_converter=pydantic_data_converter)
    with pytest.raises(workflow.NondeterminismError):
        await replayer.replay_workflow(history(HISTORIES / "zone-migrated-professional.json"))
