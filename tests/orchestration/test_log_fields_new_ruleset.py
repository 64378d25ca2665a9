"""Zones whose first ruleset of log fields the service shows late, or never in its list."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from tests.kit import SCALE, Scene, fleet_of, scene
from tests.kit.log_fields import SPEC, job_of, ruleset
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]

A_LITTLE, NEVER = SCALE / 2, SCALE * 3_600
STOPS = 7


def _late(listed: float, readable: float) -> dict[str, Any]:
    return {"log_fields": {"listed_seconds": listed, "readable_seconds": readable}}


async def _writes(play: Scene, name: str) -> list[str]:
    calls = [entry["call"] for entry in await play.journal(zone=name) if entry["method"] in ("POST", "PUT")]
    return [call for call in calls if call.startswith("rulesets.")]


@pytest.mark.parametrize("listed", [A_LITTLE, NEVER])
async def test_a_new_ruleset_that_shows_late_is_created_once_and_taken_back_whole(
    temporal_client: Client, tmp_path: Path, request: pytest.FixtureRequest, listed: float
) -> None:
    """Nobody logs the fields, so that they are taken out again: also where the list still has no ruleset, in
    which they would come to show later.
    """
    client = on_queue(temporal_client, request.node.name[:60])
    name = f"new-{uuid.uuid4().hex[:8]}.example"
    fleet = fleet_of({"name": name, "plan": "enterprise", "logs": {"jobs": [job_of(name)]}})
    async with scene(client, tmp_path, fleet, simulator=_late(listed, A_LITTLE), **SPEC) as play:
        await play.sign_everything()
        found = await play.zone(name).result()
        assert found.outcome is ZoneOutcome.ROLLED_BACK, found
        assert "no log entry with custom fields came" in found.reason
        assert (await ruleset(play, name))["rules"] == []
        assert await _writes(play, name) == ["rulesets.create", "rulesets.put", "rulesets.put"]
        await play.check_rules(absent={STOPS})
