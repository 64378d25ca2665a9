"""What others have put where a stack keeps its things: it is neither believed nor written through."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from edgeshift.cli.found_stack import stack_here
from edgeshift.testbed.stack import read_stack_file

RUNNING: dict[str, object] = {
    "pid": os.getpid(),
    "address": "127.0.0.1:7233",
    "namespace": "default",
    "ui": None,
    "service": "http://127.0.0.1:8780",
    "control": "http://127.0.0.1:8780",
    "archive": "file:///archive",
    "tickets": "/tickets",
    "campaign": "/campaign.yaml",
    "time_scale": 1.0,
}


def told(folder: Path, text: str) -> tuple[object, object]:
    """What commands take for the stack of a folder that was cloned with such a file, and what ``up`` does."""
    own = folder / ".edgeshift"
    own.mkdir()
    (own / "stack.json").write_text(text)
    return stack_here(folder), read_stack_file(own)


def test_a_stack_that_runs_is_found(tmp_path: Path) -> None:
    """By the file that it has written itself."""
    found = told(tmp_path, json.dumps(RUNNING | {"address": "[::1]:7233"}))
    assert all(found)


@pytest.mark.parametrize("pid", ["0", "-1", "1e400", "-1e400", "10" * 20, "true", "[]", '"1"'])
def test_a_process_that_nobody_has_is_not_believed(tmp_path: Path, pid: str) -> None:
    """To signal process 0 is to signal oneself, which always succeeds."""
    text = json.dumps(RUNNING | {"pid": "PID"}).replace('"PID"', pid)
    assert told(tmp_path, text)[0] is None
    if pid not in ("true", '"1"'):
        assert read_stack_file(tmp_path / ".edgeshift") is None


@pytest.mark.parametrize(
    "address", ["evil.example:7233", "127.0.0.1:1@evil.example:7233", "127.0.0.1", "10.0.0.1:7233", ":1", ""]
)
def test_a_stack_elsewhere_is_not_believed(tmp_path: Path, address: str) -> None:
    """A stranger's file would have the API key sent to whoever answers there."""
    assert told(tmp_path, json.dumps(RUNNING | {"address": address}))[0] is None


@pytest.mark.parametrize("text", ["", "[", "[" * 5_000, '{"pid":', "[]", "null", "1"])
def test_a_file_that_says_nothing_is_no_error(tmp_path: Path, text: str) -> None:
    """Neither for commands nor for the stack itself."""
    assert told(tmp_path, text) == (None, None)
