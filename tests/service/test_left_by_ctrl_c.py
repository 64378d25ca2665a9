"""What Ctrl-C says: whoever only looks leaves, and the campaign goes on, also where nobody works on it."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli import status, watch
from edgeshift.cli.errors import ExitCode
from edgeshift.cli.main import called
from edgeshift.cli.shell import Shell
from edgeshift.cli.until import left
from edgeshift.model.fleet import Wave
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal

D = "d" * 64

pytestmark = pytest.mark.embedded


async def ctrl_c(*_: Any, **__: Any) -> None:
    """It is pressed."""
    raise KeyboardInterrupt


async def reached(shell: Shell, client: Client, campaign: str, *_: Any) -> None:
    """The campaign has come to what was waited for."""
    shell.at_ctrl_c = left(campaign)


@pytest.mark.parametrize("verb", ["watch", "status"])
async def test_what_ctrl_c_says_is_so(
    embedded: EmbeddedTemporal,
    temporal_client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
) -> None:
    """Of ``watch``, before the campaign has published anything; of ``status --until``, once that is so: what
    it shows then may have finished.
    """
    name = f"left-{uuid.uuid4().hex[:8]}"
    service = {"base_url": "http://127.0.0.1:9", "credentials": [{"token": "env:NO_TOKEN"}]}
    spec = CampaignSpec.model_validate({"name": name, "targets": {"all": True}, "service": service})
    wave = Wave(number=0, name="all", first=0, end=1)
    start = campaign_start(spec, D, targets=D, count=1, waves=(wave,), enterprise=D, started_by="olga")
    await temporal_client.start_workflow("Campaign", start, id=f"campaign/{name}", task_queue="nobody")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watch, "watch_campaign", ctrl_c)
    monkeypatch.setattr(status, "wait_until", reached)
    monkeypatch.setattr(status, "_one", ctrl_c)
    waits = ["--until", "finished"] if verb == "status" else []
    asked = [verb, name, *waits, "--address", embedded.address]
    assert await asyncio.to_thread(called, asked) == ExitCode.INTERRUPTED
    said = "stopped" if verb == "status" else f"left; campaign {name} goes on as before"
    assert capsys.readouterr().err.splitlines()[-1] == said
