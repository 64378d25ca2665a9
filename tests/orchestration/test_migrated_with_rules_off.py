"""A zone whose previous WAF is off, and whose new one therefore runs no rule: whether the service calls that
enabled is not known (docs/service.md §2.4).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from tests.kit.faults import staged, zone

pytestmark = pytest.mark.embedded


async def test_a_zone_whose_previous_waf_is_off_is_migrated(temporal_client: Client, tmp_path: Path) -> None:
    """Its stored rules prove it. One that somebody has migrated so is found so, in either state."""
    off = {"enabled": False}
    zones = (
        zone("pro"),
        zone("off", previous_waf=off),
        zone("done", previous_waf=off, migration={"state": "complete"}),
        zone("never", previous_waf=off, migration={"state": "default"}),
    )
    async with staged(temporal_client, tmp_path, *zones, simulator={"new_status": "rules"}) as stage:
        assert (await stage.finish()).outcomes == {"migrated": 2, "already_migrated": 2}
        await stage.check({3, 4, 7})


async def test_a_zone_is_not_migrated_while_rules_that_run_are_called_off(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing is known to protect it then: a person has to look."""
    async with staged(temporal_client, tmp_path, zone("pro"), begin=False) as stage:
        await stage.fault(
            "wrong_types", "waf.status", "pro", times=None, replace={"/result/new_waf_status": "disabled"}
        )
        await stage.play.begin()
        assert (await stage.finish()).outcomes == {"unknown": 1}
        (why,) = (await stage.play.zone(stage.name("pro")).result()).why
        assert "with the new WAF disabled" in str(why)
