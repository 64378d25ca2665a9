"""A worker's API key of Temporal: what it sends is what its reference leads to while it runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from temporalio.client import Client

from edgeshift.runtime.settings import load_settings
from tests.kit import eventually
from worker import renewed_key, serving


async def test_a_worker_goes_on_with_the_key_that_was_put_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a restart. A file that is empty or gone for a moment, as while it is replaced, changes nothing,
    and is logged once. No key is logged.
    """
    file = tmp_path / "temporal-key"
    file.write_text("first-hush-hush\n")
    client = await Client.connect("127.0.0.1:9", lazy=True, api_key="first-hush-hush")

    @contextlib.asynccontextmanager
    async def no_workers(*_: Any) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(serving, "workers", no_workers)
    monkeypatch.setattr(serving, "keep_loaded", lambda: None)
    monkeypatch.setattr(renewed_key, "EVERY", 0.02)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_API_KEY", f"file:{file}")
    monkeypatch.setenv("EDGESHIFT_STATE_DIR", str(tmp_path))

    async def has(key: str) -> bool:
        return client.api_key == key

    stop, ready = asyncio.Event(), asyncio.Event()
    with structlog.testing.capture_logs() as logged:
        serve = asyncio.create_task(serving.serve(client, load_settings(), stop, ready.set))
        await ready.wait()
        file.write_text("second-hush-hush\n")
        await eventually(lambda: has("second-hush-hush"), 5, "the new key")
        file.write_text("")
        await asyncio.sleep(0.2)
        file.unlink()
        await asyncio.sleep(0.2)
        assert client.api_key == "second-hush-hush"
        file.write_text("third-hush-hush\n")
        await eventually(lambda: has("third-hush-hush"), 5, "the new key")
        stop.set()
        await serve
    said = [line for line in logged if "API key" in line["event"]]
    assert [line["log_level"] for line in said] == ["info", "warning", "warning", "info"]
    assert "hush" not in str(logged)
    file.write_text("fourth-hush-hush\n")
    await asyncio.sleep(0.1)
    assert client.api_key == "third-hush-hush"
