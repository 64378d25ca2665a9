"""An Enterprise zone whose compatibility check is refused in validation mode, which the specification does
not exclude: whoever has begun that, the mode is the answer (docs/service.md §3.2).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from tests.kit.faults import staged, zone

pytestmark = pytest.mark.embedded

BYPASS = {"action": "bypass", "products": ["waf"], "expression": "ip.src eq 192.0.2.7"}


@pytest.mark.parametrize("status", [200, 400])
async def test_a_zone_is_migrated_whose_check_is_refused_in_its_window(
    status: int, temporal_client: Client, tmp_path: Path
) -> None:
    """By 200 and ``success: false`` as by a status; one that somebody has validated by hand, and one that is
    read again after its window, since it has changed.
    """
    refusal = {"status": status, "message": "the zone is already being migrated"}
    options = {"check_refused": "begun", "check_refusal": refusal}
    zones = (
        zone("windowed", "enterprise"),
        zone("adopted", "enterprise", migration={"state": "validation"}),
    )
    async with staged(temporal_client, tmp_path, *zones, simulator=options) as stage:
        await stage.waits("windowed")
        await stage.change("windowed", firewall_rules=[BYPASS])
        assert (await stage.finish()).outcomes == {"migrated": 2}
        asked = [one for one in await stage.play.journal(zone=stage.name("windowed")) if _in_window(one)]
        assert asked and {one["status"] for one in asked} == {status}
        await stage.check({4, 7})


def _in_window(entry: dict[str, Any]) -> bool:
    return bool(entry["call"] == "waf.check" and entry["state_before"]["visible_state"] == "validation")
