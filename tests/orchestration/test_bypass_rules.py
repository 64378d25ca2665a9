"""Firewall rules that bypass the previous WAF where the new configuration does not have them: clients that
they let through are let through after the migration, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.documents import Proposal, get_document
from edgeshift.testbed.simulator.events import request_fields
from edgeshift.testbed.simulator.traffic import Client as Sender
from edgeshift.testbed.simulator.traffic_shapes import ATTACKS
from edgeshift.testbed.simulator.verdicts import NewWaf
from tests.kit import fleet_of, scene
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

OFFICE, STRANGER = Sender("203.0.113.7", "DE", 64500), Sender("198.51.100.7", "DE", 64500)
FAST: dict[str, Any] = {"commit": {"migration_limit": "8s", "poll": "1s"}}


def zone(name: str, kept: str, plan: str = "pro", *, paused: bool = False) -> dict[str, Any]:
    """A zone with a firewall rule that lets the office through."""
    rule = {"expression": "ip.src in {203.0.113.0/24}", "products": ["waf"], "paused": paused}
    return {
        "name": name,
        "plan": plan,
        "firewall_rules": [rule],
        "migration": {"firewall_rules": kept},
    }


async def test_what_a_firewall_rule_lets_through_is_let_through_afterwards(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The skip rule that the configuration lacks is shown, signed, and among the zone's stored rules."""
    client = on_queue(temporal_client, "bypass-rules")
    fleet = fleet_of(
        zone("lacks.example", "left_out"),
        zone("has.example", "carried"),
        zone("paused.example", "left_out", paused=True),
    )
    (attack,) = (shape for shape in ATTACKS if shape.key == "sqli")
    async with scene(client, tmp_path, fleet, **FAST) as play:
        for one in fleet.zones:
            state = await play.zone_until(one.name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
            proposal = await get_document(play.archive, Proposal, state.proposal)
            assert len(proposal.additions) == (1 if one.name == "lacks.example" else 0)
            await play.sign_zone(one.name)
        for one in fleet.zones:
            assert await play.outcome(one.name) is ZoneOutcome.MIGRATED
            stored = (await play.control.get(f"zones/{one.id}"))["entry_point"]
            stopped = [
                any(said.terminates for said in NewWaf(stored)(attack, request_fields(one, attack, sender)))
                for sender in (OFFICE, STRANGER)
            ]
            assert stopped == [one.name == "paused.example", True], one.name
        await play.check_rules(absent={3, 4, 7})
