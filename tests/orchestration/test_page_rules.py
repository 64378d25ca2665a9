"""Page rules that turn the previous WAF off where the new configuration does not have them: the skip rules
that people sign are ones that the service of each profile takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.stores.documents import Proposal, get_document
from tests.kit import fleet_of, scene
from tests.kit.queue import on_queue

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

SPECIFICATION, LATER = "specification", "public-2025-04"
FAST: dict[str, Any] = {"commit": {"migration_limit": "8s", "poll": "1s"}}


def zone(name: str, *patterns: str, carried: bool = False) -> dict[str, Any]:
    """A zone with page rules that turn the WAF off, of which the new configuration may have none."""
    return {
        "name": name,
        "plan": "pro",
        "page_rules": [
            {"targets": [pattern], "actions": [{"id": "waf", "value": "off"}]} for pattern in patterns
        ],
        "migration": {"page_rules": "carried" if carried else "left_out"},
    }


@pytest.mark.parametrize("profile", [SPECIFICATION, LATER])
async def test_a_zone_with_page_rules_migrates_at_a_service_of_either_profile(
    temporal_client: Client, tmp_path: Path, profile: str
) -> None:
    """A star at the beginning of the host and at the end of the path: by operators that each service has. A
    star in the middle takes one that the specification's has not, so that a person has to look.
    """
    client = on_queue(temporal_client, f"page-rules-{profile}")
    fleet = fleet_of(
        zone("plain.example", "*plain.example/api/*", "https://Plain.example/Exact", "plain.example"),
        zone("theirs.example", "*theirs.example/api/*", carried=True),
        zone("middle.example", "middle.example/a*b"),
        profile=profile,
    )
    async with scene(client, tmp_path, fleet, profile=profile, **FAST) as play:
        at_once = ["plain.example", "theirs.example"] + (["middle.example"] if profile == LATER else [])
        for name in at_once:
            state = await play.zone_until(name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
            proposal = await get_document(play.archive, Proposal, state.proposal)
            skips = [rule["expression"] for rule in proposal.body["rules"] if rule["action"] == "skip"]
            assert len(skips) == (3 if name == "plain.example" else 1)
            assert len(proposal.additions) == (0 if name == "theirs.example" else len(skips))
            wildcard = profile == LATER and name != "plain.example"
            assert any("wildcard" in text for text in skips) is wildcard
            await play.sign_zone(name)
        for name in at_once:
            assert await play.outcome(name) is ZoneOutcome.MIGRATED
        if profile == SPECIFICATION:
            assert await play.outcome("middle.example") is ZoneOutcome.BLOCKED
            result = await play.zone("middle.example").result()
            (why,) = result.why
            assert (why.code, why.names) == (ReasonCode.PAGE_RULE_PATTERN, ("middle.example/a*b",))
            assert await play.commits("middle.example") == []
        await play.check_rules(absent={3, 4, 7})
