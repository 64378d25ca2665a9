"""Each fault of the service at each call of a zone, once: every zone is migrated, by one effective commit."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.fleet import ZoneOutcome
from tests.faults_kit import Stage, staged, zone

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

FAULTS: dict[str, dict[str, Any]] = {
    "late": {"kind": "latency", "seconds": 0.4},
    "later-than-the-limit": {"kind": "latency", "seconds": 2.5},
    "rate-limit": {"kind": "rate_limit"},
    "rate-limit-retry-after": {"kind": "rate_limit", "retry_after": 1},
    "500-before": {"kind": "server_error", "effect": "before"},
    "502-after": {"kind": "server_error", "effect": "after"},
    "504-before": {"kind": "gateway_timeout", "effect": "before"},
    "504-after": {"kind": "gateway_timeout", "effect": "after"},
    "hang-before": {"kind": "hang", "effect": "before"},
    "hang-after": {"kind": "hang", "effect": "after"},
    "reset-before": {"kind": "reset", "effect": "before"},
    "reset-after": {"kind": "reset", "effect": "after"},
    "not-json-before": {"kind": "not_json", "effect": "before"},
    "not-json-after": {"kind": "not_json", "effect": "after"},
    "cut-before": {"kind": "truncated", "effect": "before"},
    "cut-after": {"kind": "truncated", "effect": "after"},
    "null-errors": {"kind": "null_errors"},
    "wrong-types": {"kind": "wrong_types"},
    "unknown-values": {"kind": "unknown_enum"},
}

PROVED = ("rate-limit", "rate-limit-retry-after")
"""Faults that prove that nothing happened: what they met is sent again at once."""

NEEDLESS = ("500-before", "504-before", "hang-before", "reset-before", "not-json-before", "cut-before")
"""Faults after which nothing happened, which nobody can know: sent again once a migration's time passed."""

OVERRIDE = {"urls": ["shop.example/admin/*"], "rules": {"100000": "disable"}}


@pytest.mark.parametrize("fault", FAULTS)
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
        request_limit="1s500ms" if fault != "late" else None,
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
