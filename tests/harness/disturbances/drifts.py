"""Somebody changes a zone's configuration at the service while it waits, or while its commit is prepared."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.harness.campaigns.stages import SNI
from tests.harness.disturbances import Acting, Disturbance, disturbance


async def drift(acting: Acting, short: str) -> None:
    """Change what the zone's proposal is made of."""
    stage = acting.stage
    number = acting.chance.randrange(1_000_000)
    if stage.play.spec.area == "waf":
        rule = {"expression": f'http.request.uri.path eq "/drift-{number}"', "products": ["waf"]}
        await stage.change(short, add_firewall_rules=[rule])
    elif stage.play.spec.area == "esc":
        await stage.change(short, esc={"behaviours": [SNI, {**SNI, "path": f"/drift-{number}"}]})
    else:
        fields: dict[str, Any] = {"cookie_fields": [{"name": f"Drift{number}"}]}
        await stage.play.stranger(
            stage.name(short),
            [
                {
                    "action": "log_custom_field",
                    "expression": "true",
                    "description": "written in between",
                    "action_parameters": fields,
                }
            ],
            how="append",
        )
    acting.told("drift")


async def _drifts(acting: Acting) -> None:
    for short in acting.chance.sample(acting.stage.names, max(1, len(acting.stage.names) // 3)):
        await asyncio.sleep(acting.chance.uniform(0.2, 2.0))
        await drift(acting, short)


disturbance(Disturbance("drift", _drifts, areas=frozenset({"waf"})))
