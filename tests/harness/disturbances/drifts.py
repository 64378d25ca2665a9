"""Somebody changes a zone's configuration at the service while it waits, or while its commit is prepared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from edgeshift.testbed.simulator.esc_settings import Operation, zone_scope
from tests.harness.campaigns.stages import OWN_SECRET
from tests.harness.disturbances import Acting, Disturbance, disturbance
from tests.kit import STRANGER, eventually
from tests.kit.faults import Stage

FULL = 38
"""Custom log fields that leave no room for a campaign's, beside the two that a zone may have of others."""


async def other_rules(acting: Acting, short: str) -> None:
    """A firewall rule more, which migrates."""
    path = f"/drift-{acting.chance.randrange(1_000_000)}"
    rule = {"expression": f'http.request.uri.path eq "{path}"', "products": ["waf"]}
    await acting.stage.change(short, add_firewall_rules=[rule])


async def other_secret(acting: Acting, short: str) -> None:
    """A secret of the customer's in the place of the campaign's, where it has set one."""
    setting = acting.stage.play.simulator.state.esc.accepted(zone_scope(acting.stage.id(short)))
    if setting.secret not in (None, OWN_SECRET):
        await set_esc(acting.stage, short, "secret", secret=OWN_SECRET)


async def turned_off(acting: Acting, short: str) -> None:
    """Edge Side Code is off for all requests."""
    await set_esc(acting.stage, short, "always", always=True)


async def other_fields(acting: Acting, short: str) -> None:
    """A custom log field more."""
    await _log(acting.stage, short, [f"Drift{acting.chance.randrange(1_000_000)}"])


async def no_room(acting: Acting, short: str) -> None:
    """Fields that take the room which the campaign's would need."""
    await _log(acting.stage, short, [f"Drift{number}" for number in range(FULL)])


async def _log(stage: Stage, short: str, cookies: Sequence[str]) -> None:
    """Write a rule behind those that are there."""
    fields: dict[str, Any] = {"cookie_fields": [{"name": name} for name in cookies]}
    await stage.play.stranger(stage.name(short), [{**STRANGER, "action_parameters": fields}], how="append")


async def set_esc(stage: Stage, short: str, operation: Operation, **setting: Any) -> None:
    """Past the service's calls, which the journal would take for the campaign's; until it shows."""
    state, scope = stage.play.simulator.state, zone_scope(stage.id(short))
    with state.database.transaction():
        state.esc.change(scope, operation, state.options, **setting)

    async def shows() -> bool:
        return state.esc.visible(scope) == state.esc.accepted(scope)

    await eventually(shows)


SEEDED = {"waf": other_rules, "esc": other_secret, "log-fields": other_fields}
"""What is done at random moments, after which each zone can go on."""


async def _drifts(acting: Acting) -> None:
    drift = SEEDED[acting.stage.play.spec.area]
    for short in acting.chance.sample(acting.stage.names, max(1, len(acting.stage.names) // 3)):
        await asyncio.sleep(acting.chance.uniform(0.2, 2.0))
        await drift(acting, short)
        acting.told("drift")


disturbance(Disturbance("drift", _drifts))
