"""A worker with a build id takes work once its build is the deployment's current version, and not before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.kit import eventually, fleet_of, scene

pytestmark = pytest.mark.embedded


async def test_a_versioned_worker_works_once_its_build_is_current(tmp_path: Path) -> None:
    """Its campaign waits until then, and then takes every zone to its outcome."""
    # A server of its own: the current version counts for everything on its task queue.
    async with embedded_temporal(None) as server:
        await _works_once_current(await connect(TemporalSettings(address=server.address)), tmp_path)


async def _works_once_current(temporal_client: Client, tmp_path: Path) -> None:
    fleet = fleet_of({"name": "a.example", "plan": "pro"})
    tuning = {"deployment": "edgeshift-test", "build_id": "b1"}
    async with scene(temporal_client, tmp_path, fleet, worker=tuning, begin=False) as play:
        beginning = asyncio.create_task(play.begin())
        await asyncio.sleep(2)
        assert not beginning.done()

        async def made_current() -> bool:
            try:
                await temporal_client.workflow_service.set_worker_deployment_current_version(
                    SetWorkerDeploymentCurrentVersionRequest(
                        namespace=temporal_client.namespace,
                        deployment_name="edgeshift-test",
                        build_id="b1",
                        identity="test",
                    )
                )
            except RPCError:
                return False
            return True

        await eventually(made_current, what="the build is known to the server")
        await beginning
        result = await play.sign_everything()
        assert result.outcomes == {"migrated": 1}
        await play.check_rules(absent={3, 4, 7})
