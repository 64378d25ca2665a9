"""Where anybody may approve, anybody may do so under any number of names: a campaign goes on all the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import Client

from edgeshift.campaign.book import DecidingWord
from edgeshift.messages import Answer, CampaignSignOff, ZonePhase, ZoneState
from edgeshift.model.fleet import ZoneOutcome
from tests.kit import fleet_of, scene
from workflows.campaign.decisions import Decisions

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

PEOPLE = 1_001
"""More than a permit may carry decisions of."""


def asks(state: ZoneState) -> bool:
    """Whether the zone waits for a person."""
    return state.phase is ZonePhase.AWAITING_SIGN_OFF


async def test_a_permit_is_given_however_many_have_approved(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One word stands for all of them, since as many would take minutes here. The zone is migrated, and the
    campaign answers a pause.
    """
    take = Decisions.take

    def from_everybody(self: Decisions, message: CampaignSignOff) -> Answer:
        for number in range(1, PEOPLE):
            word = DecidingWord(message.choice, f"{message.by} {number}", "", workflow.now())
            for fingerprint in message.fingerprints:
                self._state.ledger.book.record(fingerprint, message.wave, word)
        return take(self, message)

    monkeypatch.setattr(Decisions, "take", from_everybody)
    other = {"owasp": {"sensitivity": "medium"}}
    fleet = fleet_of(
        {"name": "a.example", "plan": "pro"}, {"name": "b.example", "plan": "pro", "previous_waf": other}
    )
    async with scene(temporal_client, tmp_path, fleet) as play:
        state = await play.zone_until("a.example", asks)
        await play.zone_until("b.example", asks)
        await play.sign([state.fingerprint], by="mallory")
        (entry,) = (await play.summary()).book
        assert len(entry.decisions) + entry.earlier == PEOPLE
        async with asyncio.timeout(90):
            assert await play.outcome("a.example") is ZoneOutcome.MIGRATED
            await play.ask("pause")
