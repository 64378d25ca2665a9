"""The embedded Temporal: it keeps its state, ends with its parent, and says what is in its way."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import CAMPAIGN, SEARCH_ATTRIBUTES, connect
from edgeshift.testbed.temporal_server.embedded import (
    DataFolderInUse,
    EmbeddedTemporal,
    PortInUse,
    ServerBroken,
    ServerPanicked,
    embedded_temporal,
)
from tests.kit.processes import listening

pytestmark = pytest.mark.embedded

_QUEUE = "embedded-test"


@workflow.defn(name="AwaitsWord")
class AwaitsWord:
    """Ends with the word it is told."""

    def __init__(self) -> None:
        self._word = ""

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: bool(self._word))
        return self._word

    @workflow.signal
    def tell(self, word: str) -> None:
        self._word = word


@pytest.mark.long
async def test_workflows_and_histories_outlive_a_restart(tmp_path: Path) -> None:
    """With a folder, a closed workflow's history is still there and a waiting one goes on."""
    async with embedded_temporal(tmp_path) as server:
        client = await _client(server)
        async with _worker(client):
            done = await client.start_workflow(AwaitsWord.run, id="done", task_queue=_QUEUE)
            await done.signal(AwaitsWord.tell, "first")
            assert await done.result() == "first"
            await client.start_workflow(
                AwaitsWord.run,
                id="waiting",
                task_queue=_QUEUE,
                search_attributes=TypedSearchAttributes([SearchAttributePair(CAMPAIGN, "c1")]),
            )
        before = len((await done.fetch_history()).events)

    async with embedded_temporal(tmp_path) as server:
        client = await _client(server)
        assert len((await client.get_workflow_handle("done").fetch_history()).events) == before
        waiting = client.get_workflow_handle("waiting", result_type=str)
        description = await waiting.describe()
        assert description.status == WorkflowExecutionStatus.RUNNING
        assert description.typed_search_attributes[CAMPAIGN] == "c1"
        async with _worker(client):
            await waiting.signal(AwaitsWord.tell, "second")
            assert await waiting.result() == "second"


async def test_histories_are_kept_as_long_as_asked(tmp_path: Path) -> None:
    """The namespace's retention is what was asked for, also when a later start asks for another."""
    for days in (90, 30):
        async with embedded_temporal(tmp_path, retention=timedelta(days=days)) as server:
            client = await _client(server)
            described = await client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=server.namespace)
            )
            kept = described.config.workflow_execution_retention_ttl.ToTimedelta()
            assert kept == timedelta(days=days)


async def test_the_search_attributes_are_there_from_the_start(temporal_client: Client) -> None:
    """A workflow can be started with every search attribute of edgeshift at once."""
    found = await temporal_client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=temporal_client.namespace)
    )
    types = {key.name: found.custom_attributes.get(key.name) for key in SEARCH_ATTRIBUTES}
    assert types == {key.name: int(key.indexed_value_type) for key in SEARCH_ATTRIBUTES}


async def test_it_ends_with_a_killed_parent_and_its_folder_is_free_again(tmp_path: Path) -> None:
    """SIGKILL of the process that runs it leaves no server behind, and the next start waits for its end."""
    script = (
        "import asyncio, pathlib\n"
        "from edgeshift.testbed.temporal_server.embedded import embedded_temporal\n"
        "async def main():\n"
        f"    async with embedded_temporal(pathlib.Path({str(tmp_path)!r})) as server:\n"
        "        print(server.pid, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await asyncio.wait_for(parent.stdout.readline(), 60))
    assert _alive(pid)
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    async with embedded_temporal(tmp_path) as server:
        assert server.pid != pid
        assert not _alive(pid)


async def test_it_listens_on_loopback_alone(embedded: EmbeddedTemporal) -> None:
    """No socket of the server, internal services included, listens beyond 127.0.0.1."""
    addresses = [host for host, _ in listening(embedded.pid)]
    assert addresses
    assert {address for address in addresses if not address.startswith("127.")} == set()


async def test_a_port_in_use_is_named() -> None:
    """A port that somebody listens on is refused before anything is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} on 127.0.0.1"):
            async with embedded_temporal(None, port=port):
                pass


async def test_a_folder_in_use_is_named(tmp_path: Path) -> None:
    """Two servers never share a database: the second is told the folder and the process that has it."""
    async with embedded_temporal(tmp_path):
        with pytest.raises(DataFolderInUse, match=f"process {os.getpid()}.*{re.escape(str(tmp_path))}"):
            async with embedded_temporal(tmp_path):
                pass


async def test_a_server_that_ends_at_once_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A CLI that cannot run the server is named with its last words and its log."""
    broken = tmp_path / "temporal"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "no disk left"; exit 3\n')
    broken.chmod(0o755)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI", str(broken))
    with pytest.raises(ServerBroken, match=r"(?s)ended at once with 3.*no disk left"):
        async with embedded_temporal(tmp_path / "data"):
            pass


async def test_a_server_that_falls_over_while_it_starts_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times at most; the error has the reason, not the end of the long trace that follows it."""
    falling, starts = tmp_path / "temporal", tmp_path / "starts"
    trace = "\n".join(["goroutine 1 [running]:", *["main.main()"] * 20])
    script = ["#!/bin/sh", '[ "$1" = --version ] && exit 0', f"echo x >> {starts}"]
    falling.write_text("\n".join([*script, f'echo "panic: no free port\n\n{trace}"', "exit 2", ""]))
    falling.chmod(0o755)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI", str(falling))
    with pytest.raises(ServerPanicked, match=r"(?s)ended at once with 2.*panic: no free port"):
        async with embedded_temporal(tmp_path / "data"):
            pass
    assert len(starts.read_text().split()) == 3


async def _client(server: EmbeddedTemporal) -> Client:
    return await connect(TemporalSettings(address=server.address, namespace=server.namespace))


def _worker(client: Client) -> Worker:
    return Worker(
        client,
        task_queue=_QUEUE,
        workflows=[AwaitsWord],
        # The sandbox imports by name, and test modules have none.
        workflow_runner=UnsandboxedWorkflowRunner(),
        # The first worker's memory of the waiting workflow is gone: no need to wait ten seconds for it.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
