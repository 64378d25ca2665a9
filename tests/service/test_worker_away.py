"""A worker that cannot reach Temporal: what people read of it, what it logs, and nothing else."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeshift.model.exit_codes import ExitCode
from edgeshift.runtime.settings import LogSettings, SecretRef, Settings, TemporalSettings

NOWHERE = "127.0.0.1:9"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address at which connections are taken and nothing is answered, as behind a firewall."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def ran(folder: Path, *module: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    names = {name: value for name, value in os.environ.items() if not name.startswith("EDGESHIFT_")}
    return subprocess.run(
        [sys.executable, "-m", *module],
        env={**names, "EDGESHIFT_LOG_FORMAT": "json", "EDGESHIFT_STATE_DIR": str(folder), **variables},
        input=given,
        capture_output=True,
        text=True,
    )


def logged(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def test_a_worker_that_gets_no_answer_ends_with_one_error(silent: str, tmp_path: Path) -> None:
    """Each line of stderr is of its log, or of the error for people: its other process adds none."""
    done = ran(tmp_path, "edgeshift.cli.main", "worker", EDGESHIFT_TEMPORAL_ADDRESS=silent)
    assert done.returncode == ExitCode.TEMPORAL, done.stderr
    told = [line for line in done.stderr.splitlines() if line and not logged(line)]
    assert [line.partition(":")[0] for line in told] == ["error", "hint"], done.stderr
    assert f"no Temporal answers at {silent}" in told[0]


@pytest.mark.parametrize(
    ("temporal", "code", "said"),
    [
        ({}, ExitCode.TEMPORAL, "no Temporal answers at"),
        ({"api_key": SecretRef("env:NO_SUCH_KEY"), "tls": True}, ExitCode.SERVICE, "NO_SUCH_KEY"),
    ],
    ids=["no answer", "no key"],
)
def test_its_other_process_logs_why_it_ends(
    tmp_path: Path, temporal: dict[str, object], code: ExitCode, said: str
) -> None:
    """In one line, by the exit code of the cause: it is started again until it can serve."""
    found = TemporalSettings.model_validate({"address": NOWHERE, **temporal})
    settings = Settings(temporal=found, log=LogSettings(format="json"), state_dir=tmp_path)
    done = ran(tmp_path, "worker.beside", given=settings.model_dump_json() + "\n")
    assert done.returncode == code, done.stderr
    (line,) = done.stderr.splitlines()
    assert logged(line) and said in json.loads(line)["reason"] and json.loads(line)["level"] == "error"
