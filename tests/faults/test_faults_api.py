"""Each fault of the service at each call of a zone, once: every zone is migrated, by one effective commit."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.fleet import ZoneOutcome
from tests.faults_kit import Stage, staged, zone
from tests.harness.service_faults import FAULTS, NEEDLESS, PROVED, limit_for
from tests.harness.share import shared

pytestmark = pytest.mark.embedded

READS = {
    "check": "waf.check",
    "status": "waf.status",
    "config": "waf.config",
    "rules": "firewall.rules.list",
    "pages": "pagerules.list",
    "packages": "waf.packages.list",
    "groups": "waf.groups.list",
    "overrides": "waf.overrides.list",
    "setting": "settings.waf.get",
    "entry": "entrypoint.get",
}
"""Zones by the reading that goes wrong for them."""

WRITES = {
    "commit": "entrypoint.put",
    "validation": "entrypoint.put",
    "delete": "waf.overrides.delete",
}

OVERRIDE = {"urls": ["shop.example/admin/*"], "rules": {"100000": "disable"}}


@pytest.mark.parametrize("fault", shared("faults of waf", FAULTS))
async def test_a_fault_at_any_call_costs_no_zone(fault: str, temporal_client: Client, tmp_path: Path) -> None:
    """One zone a call; readings are tried again, writes are settled by polling the status."""
    zones = [zone(name) for name in (*READS, "commit")]
    zones += [zone("validation", "enterprise"), zone("events", "enterprise")]
    zones.append(zone("delete", uri_overrides=[OVERRIDE]))
    async with staged(
        temporal_client,
        tmp_path,
        *zones,
        begin=False,
        request_limit=limit_for(fault),
        window=40,
        consents={"delete_uri_overrides": True},
    ) as stage:
        spec = FAULTS[fault]
        for name, call in {**READS, **WRITES, "events": "graphql"}.items():
            if name == "events":
                await stage.play.control.send(
                    "POST", "faults", {**spec, "match": {"call": "graphql"}, "times": 1}
                )
            else:
                await stage.fault(call=call, short=name, **spec)
        await stage.play.begin()
        result = await stage.finish()
        assert result.outcomes == {"migrated": len(zones)}, await _why(stage)
        assert not await stage.unfired()
        for name in stage.names:
            await _sent_as_often_as_right(stage, name, fault)
        await stage.check({4, 7})


async def _sent_as_often_as_right(stage: Stage, name: str, fault: str) -> None:
    """One effective commit; a second request only where the first one's fault allows it, and when it does."""
    commits = await stage.play.commits(stage.name(name))
    assert sum(entry["effect"] != "none" for entry in commits) == 1
    again = name == "commit" and fault in PROVED + NEEDLESS
    assert len(commits) == 1 + again
    if name == "commit" and fault in NEEDLESS:
        first, second = (datetime.fromisoformat(entry["time"]) for entry in commits)
        assert second - first >= stage.play.spec.scaled().commit.migration_limit


async def _why(stage: Stage) -> dict[str, str]:
    """The reasons of zones that were not migrated."""
    found = {}
    for name in stage.names:
        result = await stage.play.zone(stage.name(name)).result()
        if result.outcome is not ZoneOutcome.MIGRATED:
            found[name] = f"{result.outcome}: {result.reason}"
    return found
