"""An Enterprise zone that waits for support, and a campaign that does not know so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.messages import ZonePhase
from tests.harness.disturbances.operators import reset, tasks
from tests.kit.faults import Stage, staged, zone
from tests.kit.version_before import taken, version_before
from workflows.zone.reporting import Reporter

RULES = [{"action": "bypass", "products": ["waf"], "expression": f"ip.src eq 192.0.2.{n}"} for n in range(3)]
FEW = {"support": {"at": "check", "firewall_rules": 2}}
"""The service takes so few rules that these are too many."""


@asynccontextmanager
async def support_unheard(client: Client, folder: Path, **more: Any) -> AsyncIterator[Stage]:
    """A zone that was started with a permit to validate and needs support; its campaign has been reset to
    before it started the zone, and nothing that it was told since was told again. ``more``: as of ``staged``.
    """
    needs = zone("a", "enterprise", firewall_rules=RULES)
    async with staged(client, folder, needs, simulator=FEW, **more) as stage:
        play = stage.play
        await stage.phase("a", ZonePhase.NEEDS_SUPPORT)
        await play.until(lambda seen: seen.places.get("support") == 1)
        first = (await tasks(play.campaign))[0]
        assert await reset(play.client, play.campaign, first, reapplies=False)
        yield stage


@asynccontextmanager
async def asked_in_vain(client: Client, folder: Path) -> AsyncIterator[Stage]:
    """The same of a zone that has been asked what it waits for by workers of a version that says nothing.
    Workers keep no zone in mind, so that the next task does again what those did.
    """
    with version_before(Reporter, "_waits_for_support") as update:
        async with support_unheard(client, folder, worker={"zones_cached": 0}) as stage:
            await taken(stage.play.zone(stage.name("a")), "say_again")
            update()
            yield stage
