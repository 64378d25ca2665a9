"""The processes of a stack: they are told of their stack alone, and their logs say what they ended with."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from edgeshift.model.exit_codes import ExitCode
from edgeshift.testbed.stack.children import Child

ELSEWHERE = {
    "EDGESHIFT_ENV": "staging",
    "EDGESHIFT_TEMPORAL": '{"tls": true}',
    "EDGESHIFT_TEMPORAL_ADDRESS": "temporal.example.com:7233",
    "EDGESHIFT_TEMPORAL_API_KEY": "env:KEY",
    "EDGESHIFT_TEMPORAL_TLS": "true",
    "EDGESHIFT_TEMPORAL_TLS_CERT": "/client.pem",
    "EDGESHIFT_ARCHIVE_URL": "s3://edgeshift-production",
    "EDGESHIFT_AUTHORITY_ROOTS": "/roots.yaml",
    "EDGESHIFT_WORKER_QUEUES": "changes",
    "EDGESHIFT_WORKER_DEPLOYMENT": "edge",
    "EDGESHIFT_WORKER_BUILD_ID": "7",
}
"""What a person may have exported for a Temporal in production."""

OF_THE_MACHINE = {
    "EDGESHIFT_LOG_LEVEL": "debug",
    "EDGESHIFT_STATE_DIR": "/state",
    "EDGESHIFT_TEMPORAL_CLI": "/usr/bin/temporal",
    "EDGESHIFT_TOKEN": "a secret of a campaign file",
    "EDGESHIFT_USER": "ada",
}

OWN = {"EDGESHIFT_TEMPORAL_ADDRESS": "127.0.0.1:7233", "EDGESHIFT_ARCHIVE_URL": "file:///archive"}


def child(folder: Path, program: str, environment: dict[str, str] | None = None) -> Child:
    return Child("one", [sys.executable, "-c", program], folder, environment or {})


async def test_what_is_exported_for_another_temporal_does_not_reach_a_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker would serve it never, or half of it: settings of an environment, of Temporal, roots, archive
    and worker are the stack's own. What is of the machine or the person stays.
    """
    for name, value in {**ELSEWHERE, **OF_THE_MACHINE}.items():
        monkeypatch.setenv(name, value)
    one = child(tmp_path, "import json, os; print(json.dumps(dict(os.environ)))", OWN)
    await one.start()
    assert await one.wait() == 0
    found = json.loads(one.log.read_text())
    assert {name: found[name] for name in found if name.startswith("EDGESHIFT_")} == {**OF_THE_MACHINE, **OWN}
    assert "PATH" in found


async def test_a_worker_of_a_stack_looks_for_its_own_temporal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In plain text, whatever environment, TLS and worker deployment are exported: here nothing answers."""
    for name, value in ELSEWHERE.items():
        monkeypatch.setenv(name, value)
    own = {"EDGESHIFT_TEMPORAL_ADDRESS": "127.0.0.1:9", "EDGESHIFT_ARCHIVE_URL": str(tmp_path / "archive")}
    one = Child("one", [sys.executable, "-m", "edgeshift.cli.main", "worker"], tmp_path, own)
    await one.start()
    assert await one.wait() == ExitCode.TEMPORAL
    assert one.ended_with() == "error: no Temporal answers at 127.0.0.1:9 (in plain text)"


async def test_what_a_process_ended_with_is_its_error_and_not_the_hint(tmp_path: Path) -> None:
    """Of its last start alone; without an error, it is the last line."""
    (tmp_path / "says").write_text(
        "began\nerror: no [env.x]\n/a: it is missing\n\nhint: docs/cli.md says how"
    )
    one = child(tmp_path, f"print(open('{tmp_path}/says').read())")
    assert one.ended_with() == ""
    await one.start()
    await one.wait()
    assert one.ended_with() == "error: no [env.x]"
    (tmp_path / "says").write_text("began\nended")
    await one.start()
    await one.wait()
    assert one.ended_with() == "ended"
    assert "error: no [env.x]" in one.last_words(10)
