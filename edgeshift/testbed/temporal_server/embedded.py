"""The embedded Temporal: the CLI's development server as a child process, its state in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.runtime.temporal import SEARCH_ATTRIBUTES
from edgeshift.runtime.temporal_core import set_up_core
from edgeshift.testbed.temporal_server.binaries import temporal_cli
from edgeshift.testbed.temporal_server.fetching import Progress, print_progress
from edgeshift.testbed.temporal_server.pages import guarded_pages, private_address
from edgeshift.testbed.temporal_server.process import (
    DataFolderInUse,
    EmbeddedError,
    PortInUse,
    ServerBroken,
    ServerPanicked,
    begin_log,
    free_port,
    hold_folder,
    refuse_taken,
    start_server,
    stop_server,
)

__all__ = [
    "DataFolderInUse",
    "EmbeddedError",
    "EmbeddedTemporal",
    "PortInUse",
    "ServerBroken",
    "ServerPanicked",
    "embedded_temporal",
]

NAMESPACE = "default"
DATABASE = "temporal.db"
LOG = "temporal.log"

PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000")
"""How the database writes. As it comes it waits for the disk several times with each of thousands of small
transactions, and hundreds of zones that are told something keep everybody waiting for seconds. With these
nothing is lost by a process that dies; a machine that loses its power may lose the last moment.
"""

_READY_WITHIN = 60.0
_STARTS = 3

_SERVER_SETTINGS = {
    # One node: a second partition costs a poll more and brings nothing (1.4 to 2.5 times slower).
    "matching.numTaskqueueReadPartitions": "1",
    "matching.numTaskqueueWritePartitions": "1",
    # The limits of a shared cluster are too low for one campaign that has the server to itself.
    "frontend.namespaceRPS": "20000",
    "frontend.namespaceRPS.visibility": "500",
    "frontend.namespaceCount": "5000",
    "history.rps": "20000",
    "matching.rps": "20000",
}


@dataclass(frozen=True)
class EmbeddedTemporal:
    """A running server. `address` is HOST:PORT, `ui_url` None without the web pages."""

    address: str
    ui_url: str | None
    namespace: str
    pid: int
    log: Path


@asynccontextmanager
async def embedded_temporal(
    data: Path | None,
    *,
    port: int = 0,
    ui_port: int | None = None,
    retention: timedelta = timedelta(days=90),
    progress: Progress = print_progress,
    settings: Mapping[str, str] | None = None,
) -> AsyncIterator[EmbeddedTemporal]:
    """Run a Temporal server until the block is left, or until this process dies, however it dies.

    With a folder as `data` the workflows live in it and go on at the next start; with None they live in
    memory. `port` 0 takes a free one; `ui_port` None leaves out the web pages, 0 takes a free port for
    them; they are behind a door (temporal_server/pages.py). The server's HTTP interface answers nobody.
    `retention` is how long the histories of closed workflows are kept. `settings`: values of the server's
    dynamic configuration, over those it always gets. The search attributes of edgeshift are registered.
    Enter it on the main thread: the kernel ties the server to the thread that started it.

    Raises PortInUse, DataFolderInUse, ServerBroken, and BinaryError when no Temporal CLI was found.
    """
    cli = await asyncio.to_thread(temporal_cli, progress=progress)
    async with AsyncExitStack() as running:
        folder = data or Path(running.enter_context(tempfile.TemporaryDirectory(prefix="edgeshift-")))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = running.enter_context(await hold_folder(folder))
        for chosen in (port, ui_port):
            refuse_taken(chosen)
        door = running.enter_context(_bound(ui_port)) if ui_port is not None else None
        database, log = folder / DATABASE if data else None, folder / LOG
        for attempt in range(1, _STARTS + 1):
            bound = port or free_port()
            pages = private_address() if door else None
            begins = begin_log(log)
            process = await start_server(_command(cli, database, bound, pages, settings or {}), log, lock)
            running.push_async_callback(stop_server, process)
            try:
                await _ready(process, f"127.0.0.1:{bound}", log, begins, retention)
                break
            except PortInUse:
                # A free port may be taken between the look and the start; one that was asked for may not.
                if attempt == _STARTS or (port and not pages):
                    raise
            except ServerPanicked:
                if attempt == _STARTS:
                    raise
        ui_url = None
        if door and pages:
            await running.enter_async_context(guarded_pages(door, pages))
            ui_url = f"http://127.0.0.1:{door.getsockname()[1]}"
        yield EmbeddedTemporal(
            address=f"127.0.0.1:{bound}",
            ui_url=ui_url,
            namespace=NAMESPACE,
            pid=process.pid,
            log=log,
        )


@contextlib.contextmanager
def _bound(port: int) -> Iterator[socket.socket]:
    """A socket that listens on a port of loopback, 0: any. Raises PortInUse."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
            listening.listen()
        except OSError as error:
            raise PortInUse(f"port {port} on 127.0.0.1 cannot be had ({error.strerror})") from None
        listening.setblocking(False)
        yield listening


def _command(
    cli: Path, database: Path | None, port: int, pages: tuple[str, int] | None, settings: Mapping[str, str]
) -> list[str]:
    command = [str(cli), "server", "start-dev", "--ip", "127.0.0.1", "--port", str(port)]
    command += ["--log-level", "warn", "--log-format", "json"]
    command += ["--headless"] if pages is None else ["--ui-ip", pages[0], "--ui-port", str(pages[1])]
    if database:
        command += ["--db-filename", str(database)]
        for pragma in PRAGMAS:
            command += ["--sqlite-pragma", pragma]
    for key in SEARCH_ATTRIBUTES:
        kind = IndexedValueType.Name(IndexedValueType.ValueType(key.indexed_value_type))
        command += ["--search-attribute", f"{key.name}={kind.removeprefix('INDEXED_VALUE_TYPE_').title()}"]
    # The HTTP interface cannot be left out, and takes posts of any page: it answers to a name nobody knows.
    closed = {"frontend.httpAllowedHosts": f'["{secrets.token_hex(16)}.invalid"]'}
    for name, value in {**_SERVER_SETTINGS, **settings, **closed}.items():
        command += ["--dynamic-config-value", f"{name}={value}"]
    return command


async def _ready(
    process: asyncio.subprocess.Process, address: str, log: Path, begins: int, retention: timedelta
) -> None:
    """Wait until the namespace and the search attributes are there, and set the retention. ``begins``: where
    the words of this start begin in the log.
    """
    set_up_core()
    limit = asyncio.get_running_loop().time() + _READY_WITHIN
    while True:
        if process.returncode is not None:
            raise _ended(process.returncode, address, log, begins)
        try:
            client = await Client.connect(address, connect_timeout=timedelta(seconds=2))
            # Where another server took the port in the same moment, it is that one which answers.
            if await _prepared(client, retention) and process.returncode is None:
                return
        except (RPCError, RuntimeError) as error:
            waiting_for = str(error)
        else:
            waiting_for = "the search attributes"
        if asyncio.get_running_loop().time() > limit:
            raise ServerBroken(
                f"the embedded Temporal at {address} was not ready within {_READY_WITHIN:.0f} s "
                f"({waiting_for}); its log: {log}"
            )
        await asyncio.sleep(0.1)


async def _prepared(client: Client, retention: timedelta) -> bool:
    found = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=NAMESPACE)
    )
    if any(key.name not in found.custom_attributes for key in SEARCH_ATTRIBUTES):
        return False
    kept = Duration()
    kept.FromTimedelta(retention)
    await client.workflow_service.update_namespace(
        UpdateNamespaceRequest(
            namespace=NAMESPACE, config=NamespaceConfig(workflow_execution_retention_ttl=kept)
        )
    )
    return True


def _ended(code: int, address: str, log: Path, begins: int) -> EmbeddedError:
    text = log.read_bytes()[begins:].decode(errors="replace") if log.exists() else ""
    lines = [line[:500] for line in text.strip().splitlines()]
    panic = next((place for place, line in enumerate(lines) if line.startswith("panic: ")), None)
    words = "\n".join(lines[-5:] if panic is None else lines[panic : panic + 5])
    if panic is None and "address already in use" in words:
        return PortInUse(f"the port of {address} was taken while the embedded Temporal started; start again")
    kind = ServerBroken if panic is None else ServerPanicked
    return kind(f"the embedded Temporal ended at once with {code}; {log} says:\n{words}")
