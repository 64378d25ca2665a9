"""Somebody else in the namespace: payloads that nobody here can read, activities that they schedule."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.converter import PayloadCodec
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

ENCODING = b"nobodys"


class Sealed(PayloadCodec):
    """Payloads of an encoding that is nobody's here, as encrypted ones are without their key."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Sealed."""
        return [Payload(metadata={"encoding": ENCODING}, data=one.SerializeToString()) for one in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """As they were, where they are sealed."""
        return [
            Payload.FromString(one.data) if one.metadata.get("encoding") == ENCODING else one
            for one in payloads
        ]


def sealed(client: Client) -> Client:
    """Another client of the same namespace, which seals what it sends."""
    return Client(
        client.service_client,
        namespace=client.namespace,
        data_converter=replace(client.data_converter, payload_codec=Sealed()),
    )


@workflow.defn(name="Foreign")
class Foreign:
    """Schedules one activity on any queue."""

    @workflow.run
    async def run(self, asked: dict[str, Any]) -> Any:
        """``activity``, with ``message``, on ``queue``, for ``seconds``. ``silence``: seconds after which one
        that says nothing of itself counts as lost, and in which it is told to stop when its time is over.
        """
        silence = asked.get("silence")
        return await workflow.execute_activity(
            asked["activity"],
            asked["message"],
            task_queue=asked["queue"],
            start_to_close_timeout=timedelta(seconds=asked["seconds"]),
            heartbeat_timeout=timedelta(seconds=silence) if silence else None,
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


@workflow.defn(name="Forged", sandboxed=False)
class Forged:
    """Ends at once, with whatever it is told."""

    @workflow.run
    async def run(self, result: dict[str, Any]) -> dict[str, Any]:
        """It."""
        return result


@asynccontextmanager
async def foreign_worker(enemy: Client) -> AsyncIterator[str]:
    """A worker that is nobody's, as long as the block runs; its queue."""
    own = f"foreign-{uuid.uuid4().hex[:8]}"
    async with Worker(
        enemy, task_queue=own, workflows=[Foreign, Forged], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        yield own


@asynccontextmanager
async def scheduled(
    enemy: Client, name: str, message: BaseModel, queue: str, seconds: float
) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    """Have an activity of edgeshift's done, once, for a workflow that is nobody's; its handle, as long as the
    block runs.
    """
    asked = {
        "activity": name,
        "message": message.model_dump(mode="json"),
        "queue": queue,
        "seconds": seconds,
    }
    async with foreign_worker(enemy) as own:
        yield await enemy.start_workflow("Foreign", asked, id=own, task_queue=own)
