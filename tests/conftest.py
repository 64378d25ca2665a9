"""What every test may ask for: a real Temporal, embedded, time-skipping, or one at an address."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect, ensure_search_attributes
from edgeshift.testbed.temporal_server.binaries import temporal_cli
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal, embedded_temporal
from edgeshift.testbed.temporal_server.time_skipping import time_skipping_server
from tests.harness.running.share import told

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background, a shell has its children ignore Ctrl-C, and theirs too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--temporal",
        default="time-skipping",
        metavar="time-skipping|embedded|HOST:PORT",
        help="the Temporal of tests that ask for `temporal_env` (default: time-skipping)",
    )


IN_TIME = 0.9
"""The part of a test's time in which it ends by itself, with all that it has begun, and says where it was."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have each asynchronous test end a little before its time is over. What does not end even then, such as
    a worker whose workflow is stuck, is ended with its process (``timeout_method``): it would wait for ever.
    """
    items.sort(key=_seconds_of_stack, reverse=True)
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            marker = item.get_closest_marker("timeout")
            limit = float(marker.args[0] if marker and marker.args else item.config.getini("timeout"))
            item.obj = _in_time(item.obj, limit * IN_TIME)


def pytest_collection_finish() -> None:
    """What thousands of tests are made of stays to the end: it is not gone through for garbage again and
    again, which took a tenth of the processor's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


def _seconds_of_stack(item: pytest.Item) -> float:
    """About how long the module of a test with a stack takes, in seconds: its mark says so. Modules that take
    long begin first, so that none is left to be played alone at the end. Others keep their order, behind.
    """
    marker = item.get_closest_marker("stack")
    return float(marker.args[0]) if marker and marker.args else 0.0


def _in_time(test: Callable[..., Awaitable[None]], seconds: float) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def ended(*args: Any, **named: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*args, **named)

    return ended


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [told()]


@pytest.fixture(scope="session")
def temporal_cli_path() -> Path:
    """The Temporal CLI, got if there is none yet."""
    return temporal_cli()


@pytest.fixture(scope="session")
def test_server_path() -> Path:
    """The time-skipping test server, got if there is none yet."""
    return time_skipping_server()


@pytest.fixture(scope="session")
def embedded(temporal_cli_path: Path) -> Iterator[EmbeddedTemporal]:
    """One embedded server for all tests of this process; each test uses ids and task queues of its own."""
    # On a loop and a thread of its own that last as long as the session: the kernel ties the server to
    # the thread that started it, and pytest-asyncio gives each test another loop.
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="embedded-temporal", daemon=True)
    thread.start()
    server = embedded_temporal(None)
    try:
        running = asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        try:
            yield running
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
async def own_server(temporal_cli_path: Path) -> AsyncIterator[EmbeddedTemporal]:
    """A server of the test's own: `status`, `doctor` and `alarms` ask every campaign that they find, and wait
    for those of other tests, which no worker serves any more.
    """
    async with embedded_temporal(None) as server:
        yield server


@pytest.fixture
async def temporal_client(embedded: EmbeddedTemporal) -> AsyncIterator[Client]:
    """A client of the embedded server, as edgeshift itself connects.

    Whatever the test leaves open there, by design or because it failed, is ended with it: zones of one name
    have one identifier, so that the next test's campaign would find its zones in the hands of this one's.
    """
    client = await connect(TemporalSettings(address=embedded.address), identity="test")
    yield client
    async for left in client.list_workflows('ExecutionStatus = "Running"'):
        with suppress(RPCError):
            await client.get_workflow_handle(left.id, run_id=left.run_id).terminate("its test has ended")


@asynccontextmanager
async def _time_skipping(server: Path) -> AsyncIterator[WorkflowEnvironment]:
    async with await WorkflowEnvironment.start_time_skipping(
        data_converter=pydantic_data_converter,
        test_server_existing_path=str(server),
        # A Java start on a busy machine takes longer than the default five seconds.
        test_server_startup_timeout=timedelta(seconds=60),
    ) as env:
        await ensure_search_attributes(env.client)
        yield env


@pytest.fixture
async def time_skipping_env(test_server_path: Path) -> AsyncIterator[WorkflowEnvironment]:
    """A time-skipping environment of this test's own (its clock is one for all workflows in it)."""
    async with _time_skipping(test_server_path) as env:
        yield env


@pytest.fixture
async def temporal_env(request: pytest.FixtureRequest) -> AsyncIterator[WorkflowEnvironment]:
    """The environment that the option --temporal chooses."""
    chosen = str(request.config.getoption("--temporal"))
    if chosen == "time-skipping":
        async with _time_skipping(request.getfixturevalue("test_server_path")) as env:
            yield env
        return
    if chosen == "embedded":
        chosen = request.getfixturevalue("embedded").address
    client = await connect(TemporalSettings(address=chosen), identity="test")
    await ensure_search_attributes(client)
    yield WorkflowEnvironment.from_client(client)
