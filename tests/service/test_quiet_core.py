"""Temporal that goes away under a verb: what the native core of its SDK logs is not among the results."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import Wave, campaign_id
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal

D = "d" * 64

AWAY = 14.0
"""Seconds in which the core has tried often enough to log that it does."""


@contextlib.asynccontextmanager
async def way_to(address: str) -> AsyncIterator[str]:
    """An address from which what is sent goes on to another one, until the end of the block."""
    host, _, port = address.rpartition(":")
    going: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, int(port))
        going.update((asyncio.create_task(carry(reader, back)), asyncio.create_task(carry(there, writer))))

    server = await asyncio.start_server(taken, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)


@pytest.mark.parametrize("asked", [("--until", "paused", "--json"), ("--until", "paused", "--quiet")])
async def test_stdout_has_results_alone_while_temporal_is_away(
    embedded: EmbeddedTemporal, temporal_client: Client, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    """Whoever reads them as JSON in a pipe finds nothing else; that Temporal is away is said on stderr."""
    service = {"base_url": "http://127.0.0.1:9", "credentials": [{"token": "env:NO_TOKEN"}]}
    spec = CampaignSpec.model_validate({"name": "away", "targets": {"all": True}, "service": service})
    wave = Wave(number=0, name="all", first=0, end=1)
    start = campaign_start(spec, D, targets=D, count=1, waves=(wave,), enterprise=D, started_by="olga")
    await temporal_client.start_workflow("Campaign", start, id=campaign_id("away"), task_queue="nobody")
    async with way_to(embedded.address) as address:
        verb = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "edgeshift.cli.entry", "status", "away", "--address", address, *asked),
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if not name.startswith("EDGESHIFT_")},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        await asyncio.sleep(5)
    await asyncio.sleep(AWAY)
    with contextlib.suppress(ProcessLookupError):
        verb.send_signal(signal.SIGINT)
    out, err = await verb.communicate()
    assert out == b"" and verb.returncode == 130, (out, err)
    assert (b"no answer: Temporal" in err) == ("--quiet" not in asked), err
    left = err.splitlines()[-1].decode()
    words = json.loads(left)["message"] if "--json" in asked else left
    # Nobody takes it for the state of the campaign.
    assert words == "left; campaign away goes on as before"


def test_the_core_logs_as_it_was_set_up_first() -> None:
    """A worker's goes on with the worker's log when it connects, and so does a verb's without a word."""
    lines = (
        "from temporalio.runtime import Runtime",
        "from edgeshift.runtime.logging import bridge_temporal_core",
        "from edgeshift.runtime.temporal_core import set_up_core",
        "first, second = {}",
        "first()",
        "before = Runtime.default()",
        "second()",
        "assert Runtime.default() is before",
    )
    for order in ("bridge_temporal_core, set_up_core", "set_up_core, bridge_temporal_core"):
        subprocess.run([sys.executable, "-c", "\n".join(lines).format(order)], check=True)
