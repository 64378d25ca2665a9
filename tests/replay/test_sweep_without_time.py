"""A campaign whose file once gave no time between two sweeps goes on: its tasks come to their ends."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from temporalio.client import WorkflowHistory

from tests.replay.test_replay import HISTORIES
from worker.wiring import replayer


def first_task(sweep: float) -> WorkflowHistory:
    """A campaign that has just begun, as an earlier version began it, with this time between sweeps."""
    events: list[dict[str, Any]] = json.loads((HISTORIES / "campaign-running.json").read_text())["events"]
    started = events[0]["workflowExecutionStartedEventAttributes"]
    given = started["input"]["payloads"][0]
    campaign = {**json.loads(base64.b64decode(given["data"])), "sweep": sweep}
    given["data"] = base64.b64encode(json.dumps(campaign).encode()).decode()
    kinds = [event["eventType"] for event in events]
    upto = kinds.index("EVENT_TYPE_WORKFLOW_TASK_STARTED") + 1
    return WorkflowHistory.from_json(started["workflowId"], {"events": events[:upto]})


@pytest.mark.parametrize("sweep", [600.0, 0.0])
def test_a_task_of_a_campaign_ends(sweep: float) -> None:
    """With a usual time, and with none. In a process of its own, since a task that never ends cannot be
    stopped.
    """
    run = [sys.executable, "-m", "tests.replay.test_sweep_without_time", str(sweep)]
    ended = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[-600:]


async def _play(sweep: float) -> None:
    result = await replayer().replay_workflow(first_task(sweep), raise_on_replay_failure=False)
    if result.replay_failure is not None:
        sys.stderr.write(str(result.replay_failure))
        sys.stderr.flush()
    # What hangs must not keep the process.
    os._exit(result.replay_failure is not None)


if __name__ == "__main__":
    asyncio.run(_play(float(sys.argv[1])))
