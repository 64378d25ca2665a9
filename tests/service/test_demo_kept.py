"""What is left of a demo that ends with an error: the logs that the error names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from edgeshift.model.fleet import Area
from edgeshift.testbed.demo import main
from edgeshift.testbed.demo.parts import PARTS
from edgeshift.testbed.stack import StackError
from edgeshift.testbed.stack.paths import StackPaths


async def played(out: Path, monkeypatch: pytest.MonkeyPatch, ends: BaseException | None) -> None:
    """A demo whose stack begins and then ends so."""

    @asynccontextmanager
    async def stack(folder: Path, **settings: Any) -> AsyncIterator[None]:
        places = StackPaths(folder)
        places.make()
        places.fleet.write_text("{}")
        (places.logs / "worker-1.log").write_text("error: it cannot start\n")
        if ends is not None:
            raise ends
        yield

    monkeypatch.setattr(main, "stack", stack)
    monkeypatch.setattr(main, "temporal_cli", lambda **settings: None)
    await main.run_demo(Console(quiet=True), PARTS[Area.WAF], zones=60, seed=1, out=out, keep=False)


async def test_the_logs_that_an_error_names_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They say why, such as that no worker could start; the next demo takes their place."""
    logs = tmp_path / main.STATE / "logs"
    for _ in range(2):
        with pytest.raises(StackError):
            await played(tmp_path, monkeypatch, StackError("no worker came", f"see the logs in {logs}"))
        assert (logs / "worker-1.log").is_file()


async def test_a_demo_that_is_stopped_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told of a log there."""
    with pytest.raises(asyncio.CancelledError):
        await played(tmp_path, monkeypatch, asyncio.CancelledError())
    assert not (tmp_path / main.STATE).exists() and not (tmp_path / main.TICKETS).exists()
