"""A commit sends rules as the service has returned them: ``id``, ``version`` and ``ref`` may be left out for
validation alone (docs/service.md §4.3).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.testbed.simulator.fleet_models import derived_id
from edgeshift.testbed.simulator.options import STRICT
from tests.kit.faults import staged, zone

pytestmark = pytest.mark.embedded


async def test_a_commit_has_what_the_service_has_assigned_to_its_rules(
    temporal_client: Client, tmp_path: Path
) -> None:
    """At a service that refuses anything less, a zone of each plan is migrated, and keeps the refs."""
    strict = {"bodies": STRICT, "config_refs": "given"}
    zones = zone("pro"), zone("windowed", "enterprise")
    async with staged(temporal_client, tmp_path, *zones, simulator=strict) as stage:
        assert (await stage.finish()).outcomes == {"migrated": 2}
        for name in ("pro", "windowed"):
            shown = await stage.play.control.get(f"zones/{stage.id(name)}")
            refs = [rule["ref"] for rule in shown["entry_point"]["rules"]]
            assert refs == [derived_id(stage.id(name), "ref", str(place)) for place in range(len(refs))]
        await stage.check({4, 7})
