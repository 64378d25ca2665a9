"""What a stored rule has beside what was sent, the specification does not show: the version of its managed
ruleset, or that it is logged. A zone of each plan is migrated whatever the service stores (docs/service.md
§2.4).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from tests.kit.faults import staged, zone

pytestmark = pytest.mark.embedded


@pytest.mark.parametrize("version", ["latest", "number"])
async def test_a_zone_is_migrated_whatever_version_the_service_stores(
    version: str, temporal_client: Client, tmp_path: Path
) -> None:
    """The signed rules name none; the stored ones do, in the window and after the commit."""
    zones = zone("pro"), zone("windowed", "enterprise")
    async with staged(temporal_client, tmp_path, *zones, simulator={"execute_version": version}) as stage:
        assert (await stage.finish()).outcomes == {"migrated": 2}
        for name in ("pro", "windowed"):
            shown = await stage.play.control.get(f"zones/{stage.id(name)}")
            stored = [rule["action_parameters"]["version"] for rule in shown["entry_point"]["rules"]]
            assert all(stored) and (set(stored) == {"latest"}) is (version == "latest")
        await stage.check({4, 7})


@pytest.mark.parametrize("stored", ["given", "absent"])
async def test_a_zone_is_migrated_whether_or_not_its_skip_rules_are_said_to_be_logged(
    stored: str, temporal_client: Client, tmp_path: Path
) -> None:
    """The signed skip rule says nothing of it; where the stored one does, in the window and after the commit,
    nothing has changed.
    """
    bypass = [{"action": "bypass", "products": ["waf"], "expression": "ip.src eq 192.0.2.7"}]
    zones = zone("pro", firewall_rules=bypass), zone("windowed", "enterprise", firewall_rules=bypass)
    async with staged(temporal_client, tmp_path, *zones, simulator={"skip_logging": stored}) as stage:
        assert (await stage.finish()).outcomes == {"migrated": 2}
        for name in ("pro", "windowed"):
            shown = await stage.play.control.get(f"zones/{stage.id(name)}")
            skips = [rule for rule in shown["entry_point"]["rules"] if rule["action"] == "skip"]
            assert skips and all(("logging" in rule) is (stored == "given") for rule in skips)
        await stage.check({4, 7})
