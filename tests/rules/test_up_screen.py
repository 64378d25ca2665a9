"""What ``edgeshift up`` prints once everything runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from edgeshift.cli.up import _introduce
from edgeshift.testbed.stack.running import Stack
from tests.rules.test_proposal_screens import shell_of


def test_a_campaign_file_of_each_area_is_named() -> None:
    """Whoever came for esc or log-fields finds its file on the screen, and not only that of waf."""
    folder = Path("/somewhere/.edgeshift")
    files = tuple(folder / f"campaign{area}.yaml" for area in ("", "-esc", "-log-fields"))
    running: Any = SimpleNamespace(
        address="127.0.0.1:7233",
        namespace="default",
        ui=None,
        service="http://127.0.0.1:8780/client/v4",
        fleet=SimpleNamespace(zones=[1, 2]),
        edge="http://127.0.0.1:8781",
        control=SimpleNamespace(url="http://127.0.0.1:8780/_simulator"),
        archive="file:///somewhere/.edgeshift/archive",
        places=SimpleNamespace(folder=folder, tickets=folder / "tickets", logs=folder / "logs"),
        time_scale=3600,
        campaign_files=files,
        environment={"EDGESHIFT_TEMPORAL_ADDRESS": "127.0.0.1:7233"},
    )
    shell = shell_of(80)
    _introduce(shell, cast(Stack, running))
    said = shell.console.file.getvalue()  # type: ignore[attr-defined]
    for file in files:
        assert f"  edgeshift plan {file}\n" in said
