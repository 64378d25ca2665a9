"""Fleets to measure by: plans in even shares, and as many fingerprints as are asked for."""

from __future__ import annotations

from edgeshift.testbed.simulator.fleet_file import Fleet


def fleet_of(zones: int, *, enterprise: int = 0, fingerprints: int = 1, settled: int = 0) -> Fleet:
    """So many zones, every ``enterprise``-th of them Enterprise (0: none), the others Professional.

    A rule of its own gives each of the ``fingerprints`` its proposal. The first ``settled`` zones were
    migrated long ago.
    """
    made = []
    for index in range(zones):
        plan = "enterprise" if enterprise and index % enterprise == enterprise - 1 else "pro"
        zone: dict[str, object] = {"name": f"z{index:06d}-{plan}.example", "plan": plan}
        if index < settled:
            zone["migration"] = {"state": "complete"}
        else:
            path = f'(http.request.uri.path eq "/kind-{index % fingerprints}")'
            zone["firewall_rules"] = [{"expression": path, "action": "bypass", "products": ["waf"]}]
        # What is measured is the machinery: no traffic, and evidence that needs none (bench.fleet.campaign).
        zone["traffic"] = {"requests_per_minute": 0}
        made.append(zone)
    return Fleet.model_validate({"zones": made})


def plans_of(fleet: Fleet) -> dict[str, str]:
    """The zones' plans by their identifiers."""
    return {zone.id: zone.plan for zone in fleet.zones}
