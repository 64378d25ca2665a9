"""Zones that an earlier version has read, which signed no snapshots, and that wait for people at an update:
they go on by what people have signed. Those of waf are read again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import DONE
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import esc_stage, esc_zone, log_stage, log_zone, signed_stage
from tests.kit.faults import zone

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(400)]

STAGES: dict[str, tuple[Any, tuple[dict[str, Any], ...]]] = {
    "waf": (signed_stage, (zone("a"), zone("large", "enterprise"))),
    "esc": (esc_stage, (esc_zone("a"),)),
    "log-fields": (log_stage, (log_zone("a"),)),
}


def unsign(archive: Path) -> list[Path]:
    """Leave the records of all snapshots as an earlier version has written them."""
    found = [path for path in (archive / "snapshot").rglob("*") if path.is_file()]
    for path in found:
        said = json.loads(path.read_text())
        assert said.pop("signed")["signature"]
        path.write_text(json.dumps(said))
    return found


@pytest.mark.parametrize("area", STAGES)
async def test_a_zone_that_an_earlier_version_has_read_goes_on(
    temporal_client: Client, tmp_path: Path, area: str
) -> None:
    """Nobody signs twice, no zone is lost, and each is changed once."""
    staged, zones = STAGES[area]
    async with staged(temporal_client, tmp_path, *zones, authority=ONE) as stage:
        for name in stage.names:
            await stage.waits(name, within=120)
        before = unsign(tmp_path / "state" / "archive")
        assert len(before) >= len(zones)
        for name in stage.names:
            await stage.play.sign_zone(stage.name(name))
        for name in stage.names:
            assert await stage.outcome(name, 120) in DONE
        await stage.closed()
        folder = tmp_path / "state" / "archive" / "snapshot"
        again = [path for path in folder.rglob("*") if path.is_file() and path not in before]
        assert len(again) == (len(zones) if area == "waf" else 0)
        assert all("signed" in json.loads(path.read_text()) for path in again)
