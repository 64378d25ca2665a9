"""Fleets to measure by: plans in even shares, and as many fingerprints as are asked for."""

from __future__ import annotations

from edgeshift.testbed.simulator.fleet_file import Fleet


def fleet_of(
    zones: int, *, enterprise: int = 0, fingerprints: int = 1, settled: int = 0, users: int = 1
) -> Fleet:
    """So many zones, every ``enterprise``-th of them Enterprise (0: none), the others Professional.

    A page rule of its own gives each of the ``fingerprints`` its proposal. The first ``settled`` zones were
    migrated long ago. ``users``: so many accounts share the zones evenly, each with a user and a token of its
    own.
    """
    made = []
    for index in range(zones):
        plan = "enterprise" if enterprise and index % enterprise == enterprise - 1 else "pro"
        zone: dict[str, object] = {"name": f"z{index:06d}-{plan}.example", "plan": plan}
        if index < settled:
            zone["migration"] = {"state": "complete"}
        else:
            # A firewall rule that bypasses the WAF would cost each zone a call more (docs/calls.md).
            path = f"*/kind-{index % fingerprints}/*"
            zone["page_rules"] = [{"targets": [path], "actions": [{"id": "waf", "value": "off"}]}]
        # What is measured is the machinery: no traffic, and evidence that needs none (bench.fleet.campaign).
        zone["traffic"] = {"requests_per_minute": 0}
        if users > 1:
            zone["account"] = account_of(index % users)
        made.append(zone)
    if users == 1:
        return Fleet.model_validate({"zones": made})
    return Fleet.model_validate(
        {
            "accounts": [{"name": account_of(number)} for number in range(users)],
            "users": [{"email": email_of(number)} for number in range(users)],
            "credentials": [
                {"label": f"token-{number}", "user": email_of(number), "accounts": [account_of(number)]}
                for number in range(users)
            ],
            "zones": made,
        }
    )


def account_of(number: int) -> str:
    """The name of the account with this number."""
    return f"account-{number}"


def email_of(number: int) -> str:
    """The e-mail of the user whose token is for the account with this number."""
    return f"user-{number}@bench.example"


def plans_of(fleet: Fleet) -> dict[str, str]:
    """The zones' plans by their identifiers."""
    return {zone.id: zone.plan for zone in fleet.zones}
