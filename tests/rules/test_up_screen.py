"""What ``edgeshift up`` prints once everything runs."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from edgeshift.cli.up import _introduce, _present
from edgeshift.runtime import temporal
from edgeshift.testbed.stack import serving
from edgeshift.testbed.stack.running import Stack
from edgeshift.views.console import SafeConsole
from tests.rules.test_proposal_screens import shell_of

FOLDER = Path("/somewhere/.edgeshift")
FILES = tuple(FOLDER / f"campaign{area}.yaml" for area in ("", "-esc", "-log-fields"))


def running() -> Stack:
    found: Any = SimpleNamespace(
        address="127.0.0.1:7233",
        namespace="default",
        ui=None,
        service="http://127.0.0.1:8780/client/v4",
        fleet=SimpleNamespace(zones=[1, 2]),
        edge="http://127.0.0.1:8781",
        control=SimpleNamespace(url="http://127.0.0.1:8780/_simulator"),
        archive="file:///somewhere/.edgeshift/archive",
        places=SimpleNamespace(folder=FOLDER, tickets=FOLDER / "tickets", logs=FOLDER / "logs"),
        time_scale=3600,
        campaign_file=FILES[0],
        campaign_files=FILES,
        environment_of=lambda person: {"EDGESHIFT_AUTHORITY_KEY": f"/somewhere/keys/{person}"},
    )
    return cast(Stack, found)


def test_a_campaign_file_of_each_area_is_named() -> None:
    """Whoever came for esc or log-fields finds its file on the screen, and not only that of waf."""
    shell = shell_of(80)
    _introduce(shell, running())
    said = shell.console.file.getvalue()  # type: ignore[attr-defined]
    for file in FILES:
        assert f"  edgeshift plan {file}\n" in said


def test_what_people_export_elsewhere_has_a_key_of_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the stack's roots signatures alone count. The workers' key is nobody else's."""
    monkeypatch.setenv("EDGESHIFT_USER", "ada")
    shell = shell_of(80)
    _introduce(shell, running())
    said = shell.console.file.getvalue()  # type: ignore[attr-defined]
    assert "  export EDGESHIFT_AUTHORITY_KEY=/somewhere/keys/ada\n" in said and "WORKER" not in said


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("polls", [False, True])
async def test_up_says_so_where_no_worker_polls(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], polls: bool, as_json: bool
) -> None:
    """On stderr, also where only results were asked for: without a worker no campaign begins. It names the
    folder of the logs.
    """

    async def connected(settings: object) -> None:
        return None

    async def polling(client: object, queue: object) -> list[int]:
        return [1] if polls else []

    monkeypatch.setattr(temporal, "connect", connected)
    monkeypatch.setattr(serving, "polling", polling)
    monkeypatch.setattr("edgeshift.cli.up.SERVED_WITHIN", 0.3)
    shell = shell_of(80)
    shell.as_json, shell.quiet, errors = as_json, True, io.StringIO()
    shell.errors = SafeConsole(file=errors)
    await _present(shell, asyncio.Event(), running())
    assert bool(capsys.readouterr().out) is as_json
    told = errors.getvalue()
    assert ("warning: no worker serves every task queue" in told) is not polls
    assert (f"(logs: {FOLDER / 'logs'})" in told) is not polls
