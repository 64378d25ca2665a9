"""A workflow for which it matters what comes together, and a worker process of it that is to be killed."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

ALL = 2
"""Words after which the workflow below ends."""


@workflow.defn(name="InBatches")
class InBatches:
    """Waits a moment for each batch of words: two that come together are one batch."""

    def __init__(self) -> None:
        self._words: list[str] = []

    @workflow.run
    async def run(self) -> list[int]:
        """How many words there were after each batch."""
        told: list[int] = []
        while (before := told[-1] if told else 0) < ALL:
            await workflow.wait_condition(lambda seen=before: len(self._words) > seen)  # type: ignore[misc]
            told.append(len(self._words))
            await workflow.sleep(0.001)
        return told

    @workflow.signal
    def say(self, word: str) -> None:
        """A word."""
        self._words.append(word)

    @workflow.update
    def ask(self, word: str) -> int:
        """A word; how many there are."""
        self._words.append(word)
        return len(self._words)

    @workflow.query
    def count(self) -> int:
        """How many words there are."""
        return len(self._words)


async def serve(address: str, queue: str, sticky: float) -> None:
    """The plain SDK's worker, without end. ``sticky``: seconds."""
    async with Worker(
        await Client.connect(address),
        task_queue=queue,
        workflows=[InBatches],
        workflow_runner=UnsandboxedWorkflowRunner(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=sticky),
    ):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], float(sys.argv[3])))
