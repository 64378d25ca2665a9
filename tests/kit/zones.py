"""Zones that tests are about: as a fleet's file, the simulator, and edgeshift have them. Those of a file
with the previous WAF alone are ``zone`` of faults.py, those with logs ``logged_zone`` of log_fields.py.
"""

from __future__ import annotations

from typing import Any

from edgeshift.model.fleet import Plan, Zone
from edgeshift.testbed.simulator.fleet_models import FleetZone

SHOP = "shop.example"
"""The zone of a test that is about no zone in particular."""

ON: dict[str, Any] = {"behaviours": [{"kind": "tls_sni", "path": "/api/items", "to": "origin.example"}]}
"""Edge Side Code that does something to a zone's items."""


def esc_zone(name: str, esc: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """An Enterprise zone with Edge Side Code, as a fleet's file has it."""
    return {"name": name, "plan": "enterprise", "esc": esc or ON, **more}


def fleet_zone(**settings: Any) -> FleetZone:
    """A zone as the simulator has it: of Enterprise, and with defaults for what is not given."""
    return FleetZone.model_validate({"name": SHOP, "plan": "enterprise", **settings})


def model_zone(
    name: str = SHOP, identifier: str = "a" * 32, *, account: str = "b" * 32, plan: Plan = Plan.PRO
) -> Zone:
    """A zone as edgeshift knows it."""
    return Zone(id=identifier, name=name, account=account, plan=plan)
