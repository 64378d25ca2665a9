"""Support cases, whichever call the service reports them at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift import operations
from edgeshift.messages import ZonePhase
from tests.kit import fleet_of, scene

pytestmark = [pytest.mark.embedded, pytest.mark.long]

WORDS = [
    {"status": 400, "message": "Please reach out to customer support to migrate this zone"},
    {"status": 403, "message": "zone has too many firewall rules (200 allowed)", "code": 1234},
    {"status": 200, "message": "cannot migrate more than 200 firewall rules, please contact support"},
    {"status": 500, "message": "cannot migrate more than 200 firewall rules, please contact support"},
]


@pytest.mark.parametrize("words", WORDS, ids=["without a code", "with a code", "success: false", "5xx"])
@pytest.mark.parametrize("at", ["check", "config", "put"])
async def test_a_refusal_for_support_opens_one_ticket_wherever_it_comes(
    temporal_client: Client, tmp_path: Path, at: str, words: dict[str, Any]
) -> None:
    """The service counts more strictly than we do; its refusal is recognised, and nothing is committed."""
    rules = [{"action": "bypass", "products": ["waf"], "expression": "ip.src eq 192.0.2.1"}] * 3
    fleet = fleet_of({"name": "a.example", "plan": "pro", "firewall_rules": rules})
    support = {"at": at, "firewall_rules": 2, "too_many_rules": words}
    options = {"support": support}
    async with scene(temporal_client, tmp_path, fleet, simulator=options, waits_for_support="12h") as play:
        if at == "put":
            state = await play.zone_until(
                "a.example", lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF
            )
            await play.sign([state.fingerprint])
        state = await play.zone_until("a.example", lambda found: found.phase is ZonePhase.NEEDS_SUPPORT)
        assert len(state.tickets) == 1
        result = await play.result()
        assert result.outcomes == {"needs_support": 1}
        # Whoever says it too late is told so, and how the zone is read again.
        start = await operations.campaign_input(play.client, play.spec.name)
        targets = await operations.frozen_targets(play.archive, start.targets)
        found = operations.pick_zone(targets, "a.example", play.spec.name, start.area)
        with pytest.raises(operations.NotFound, match="nobody said in time that it is fixed") as late:
            await operations.support_resolved(play.client, found, by="ada")
        assert f"`edgeshift retry {play.spec.name} --zone a.example`" in late.value.hint
        assert [entry["effect"] for entry in await play.commits()] == (["none"] if at == "put" else [])
        assert len(list((tmp_path / "state" / "tickets").glob("*.md"))) == 1
        await play.check_rules(absent={1, 2, 3, 4, 5, 7, 8, 9})
