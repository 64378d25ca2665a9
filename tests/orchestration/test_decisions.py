"""Decisions count for what people could see when they gave them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.views import approval_file
from edgeshift.views.approval_file import gather_approval
from tests.kit import fleet_of, scene

pytestmark = pytest.mark.embedded

ABSENT = {3, 4, 7}


def asks(state: ZoneState) -> bool:
    """Whether the zone waits for a person."""
    return state.phase is ZonePhase.AWAITING_SIGN_OFF


async def test_an_approval_from_before_the_evidence_does_not_outweigh_it(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The digest was known early; the zone's own evidence does not pass, so people are asked anew."""
    fleet = fleet_of({"name": "early.example", "plan": "enterprise"})
    doubt = {"window": "12h", "evidence": {"enough": 1_000_000}}
    async with scene(temporal_client, tmp_path, fleet, validation=doubt) as play:
        found = await play.zone_until("early.example", lambda state: bool(state.digest))
        assert found.phase is not ZonePhase.AWAITING_SIGN_OFF
        await play.sign_zone("early.example", digest=found.digest)
        await play.zone_until("early.example", asks)
        assert await play.commits() == []
        await play.sign_zone("early.example")
        assert await play.outcome("early.example") is ZoneOutcome.MIGRATED
        await play.result()
        await play.check_rules(absent=ABSENT)


async def test_a_reopened_rejection_is_decided_anew(temporal_client: Client, tmp_path: Path) -> None:
    """Neither the rejection of its fingerprint nor an approval from before it counts after the reopening."""
    fleet = fleet_of(
        {"name": "a.example", "plan": "pro"},
        {"name": "open.example", "plan": "pro", "previous_waf": {"owasp": {"sensitivity": "medium"}}},
    )
    async with scene(temporal_client, tmp_path, fleet, sign_off={"required": 2}) as play:
        state = await play.zone_until("a.example", asks)
        await play.sign([state.fingerprint])
        await play.sign([state.fingerprint], Choice.REJECT, by="bob")
        assert await play.outcome("a.example") is ZoneOutcome.REJECTED
        await play.until(lambda summary: summary.places.get("rejected") == 1)
        await play.again("reopen", "a.example")
        await play.zone_until("a.example", lambda found: found.attempt == 2 and asks(found))
        await play.sign([state.fingerprint], by="bob")
        assert (await play.state("a.example")).phase is ZonePhase.AWAITING_SIGN_OFF
        await play.sign([state.fingerprint], by="carl")
        assert await play.outcome("a.example") is ZoneOutcome.MIGRATED
        await play.ask("abort")
        await play.result()
        await play.check_rules(absent={3, 4})


async def test_an_answer_says_of_what_more_approvals_are_needed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Zones go on by the decision of two people, and others wait: of another fingerprint, or another wave."""
    fleet = fleet_of(
        {"name": "a.example", "plan": "pro"},
        {"name": "b.example", "plan": "pro", "previous_waf": {"owasp": {"sensitivity": "medium"}}},
        {"name": "c.example", "plan": "pro"},
        {"name": "d.example", "plan": "pro", "previous_waf": {"owasp": {"action_mode": "block"}}},
    )
    how: dict[str, Any] = {"sign_off": {"required": 2}, "waves": [{"zones": 2}], "advance": {"percent": 50}}
    more = "1 more approval is needed"
    async with scene(temporal_client, tmp_path, fleet, **how) as play:
        first = (await play.zone_until("a.example", asks)).fingerprint
        second = (await play.zone_until("b.example", asks)).fingerprint
        # With it half of the first wave has ended, and the next one begins.
        await play.sign([second], Choice.REJECT, by="ann")
        third = (await play.zone_until("d.example", asks)).fingerprint
        await play.until(lambda summary: summary.places.get("awaiting") == 3)
        await play.sign([first], by="ann", wave=0)
        text = (await play.sign([first], by="bob")).text
        assert text.endswith(f"; 1 waiting zone goes on; in wave 2, {more}"), text
        text = (await play.sign([first, third], by="carl")).text
        assert text.endswith(f"; 1 waiting zone goes on; for 1 of the fingerprints, {more}"), text
        text = (await play.sign([third], by="ann")).text
        assert text.endswith("; 1 waiting zone goes on"), text
        await play.result()
        await play.check_rules(absent=ABSENT)


async def test_a_page_for_approvers_counts_what_it_leaves_out(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fingerprints that have no sheet, and the zones that a decision on them reaches."""
    monkeypatch.setattr(approval_file, "MOST_GROUPS", 1)
    fleet = fleet_of(
        {"name": "a.example", "plan": "pro"},
        {"name": "b.example", "plan": "pro"},
        {"name": "open.example", "plan": "pro", "previous_waf": {"owasp": {"sensitivity": "medium"}}},
    )
    async with scene(temporal_client, tmp_path, fleet) as play:
        await play.until(lambda summary: summary.places.get("awaiting") == 3)
        page = await gather_approval(play.client, play.archive, play.spec.name)
        assert [sheet.zones for sheet in page.sheets] == [2]
        assert page.tiles[:2] == [("fingerprints that wait", 2), ("zones that they reach", 3)]
        await play.sign_everything()
        await play.result()
        await play.check_rules(absent=ABSENT)
