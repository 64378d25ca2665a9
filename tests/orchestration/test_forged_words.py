"""Forged messages with numbers and lists beyond all measure: campaigns and quotas go on."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError

from edgeshift.messages import (
    Answer,
    CampaignSignOff,
    HoldCalls,
    LeaseRequest,
    QuotaStart,
    ReportKind,
    ZonePhase,
    ZoneReport,
    ZoneState,
)
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.rate_limit.circuit import MOST_HELD, OpenCircuit, Standing, Trouble
from edgeshift.rate_limit.slots import MOST_SLOTS, Lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.kit import fleet_of, scene
from tests.orchestration.test_nonsense import raw, running

pytestmark = pytest.mark.embedded

SOON = timedelta(seconds=60)
ABSENT = {3, 4}


def asks(state: ZoneState) -> bool:
    """Whether the zone waits for a person."""
    return state.phase is ZonePhase.AWAITING_SIGN_OFF


def nobodys(number: int) -> tuple[str, ...]:
    """A thousand fingerprints that no zone has."""
    return tuple(hashlib.sha256(f"{number} {one}".encode()).hexdigest() for one in range(1000))


async def test_a_forged_attempt_and_thousands_of_unknown_fingerprints_do_not_hang_a_campaign(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A report of an attempt that nobody began, then sign-offs of 7,000 fingerprints that nobody proposed:
    pause, resume and the zones' own sign-off work as before, and the campaign comes to its end.
    """
    fleet = fleet_of({"name": "a.example", "plan": "pro"}, {"name": "b.example", "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet) as play:
        state = await play.zone_until("a.example", asks)
        await play.zone_until("b.example", asks)
        run = (await play.campaign.describe()).run_id
        for attempt in (2, 200, 255, 10**9):
            forged = ZoneReport.model_construct(
                campaign_run=run, index=0, attempt=attempt, sequence=1, kind=ReportKind.AWAITING
            )
            await play.campaign.signal("zone_report", forged)
        refused = 0
        for number, choice in enumerate([Choice.APPROVE, Choice.REJECT] * 4):
            message = CampaignSignOff(choice=choice, fingerprints=nobodys(number), by="mallory")
            try:
                await play.campaign.execute_update("sign_off", message, result_type=Answer, rpc_timeout=SOON)
            except WorkflowUpdateFailedError:
                refused += 1
        # Of a campaign that was reset nobody knows what its zones proposed, so that some may be believed.
        assert refused >= 6
        async with asyncio.timeout(60):
            await play.ask("pause")
            await play.ask("resume")
        await play.sign([state.fingerprint])
        for name in ("a.example", "b.example"):
            assert await play.outcome(name) is ZoneOutcome.MIGRATED
        assert (await play.result()).outcomes == {"migrated": 2}
        await play.check_rules(absent=ABSENT)


TERMS = PaceTerms(limit=1200, window=300)


def lease_of(**terms: Any) -> Any:
    """A request for a lease by terms that nobody's campaign file has."""
    asked = {"holder": "mallory", "want": 10**9, "lane": "normal", "terms": {**TERMS.model_dump(), **terms}}
    return raw(json.dumps(asked))


async def test_a_quota_gives_no_slots_by_forged_terms_and_is_not_stopped_for_good(
    temporal_client: Client,
) -> None:
    """Limits beyond all measure are refused, those within it give a bounded lease; forged blocks, windows and
    minutes keep nobody waiting longer than an hour; a block of 1e300 seconds is not believed at all.
    """
    ours = LeaseRequest(holder="h", want=50, lane=Lane.NORMAL, terms=TERMS)

    async with running(temporal_client, "Quota", QuotaStart(user="u", terms=TERMS)) as handle:

        async def lease(request: Any) -> Lease:
            found: Lease = await handle.execute_update("lease", request, result_type=Lease, rpc_timeout=SOON)
            return found

        for seconds in ("1e300", "3601", "-1e300", "1e308"):
            await handle.signal("blocked", raw(f'{{"seconds": {seconds}}}'))
        for beyond in (
            {"limit": 10**9},
            {"limit": 10**400},
            {"window": 1e300},
            {"block": 1e9},
            {"minute": 1e12},
        ):
            with pytest.raises(WorkflowUpdateFailedError):
                await lease(lease_of(**beyond))
        found = await lease(ours)
        assert (found.count > 0 or found.first_in < 30) and found.again_in < 30
        assert (await lease(lease_of(limit=10**6, window=0.1))).count <= MOST_SLOTS
        await lease(lease_of(limit=10, window=86_400.0, people=0.9, minute=600.0))
        assert (await lease(ours)).first_in <= 3600


async def test_a_quota_keeps_no_more_than_it_has_room_for(temporal_client: Client) -> None:
    """Thousands of made-up holders and credentials: what the quota keeps stays small, and those whose
    credential is not held get their slots. A credential that is refused is held all the same.
    """
    now = datetime.now(UTC)
    async with running(temporal_client, "Quota", QuotaStart(user="u", terms=TERMS)) as handle:
        for number in range(MOST_HELD + 50):
            hold = OpenCircuit(trouble=Trouble.REFUSED, said="x", credential=f"env:{number}", since=now)
            await handle.signal("hold", HoldCalls(hold=hold))
        standing = await handle.query("standing", result_type=Standing)
        assert len(standing.holds) == MOST_HELD
        request = LeaseRequest(holder="h", want=5, lane=Lane.URGENT, terms=TERMS, credentials=("env:mine",))
        found = await handle.execute_update("lease", request, result_type=Lease, rpc_timeout=SOON)
        assert found.count > 0 or found.first_in < 30
        for wrong in ('"x" * 1', json.dumps(["x" * 6000]), json.dumps(["x"] * 20_000)):
            await handle.signal("fixed", raw(f'{{"credentials": {wrong}}}') if wrong[0] == "[" else None)
        assert len((await handle.query("standing", result_type=Standing)).holds) == MOST_HELD
        mine = OpenCircuit(trouble=Trouble.REFUSED, said="9109", credential="env:mine", since=now)
        told = HoldCalls(hold=mine, now=True)
        standing = await handle.execute_update("hold_calls", told, result_type=Standing, rpc_timeout=SOON)
        assert len(standing.holds) == MOST_HELD and standing.holds[-1].credential == "env:mine"
        found = await handle.execute_update("lease", request, result_type=Lease, rpc_timeout=SOON)
        assert found.count == 0 and found.holds == standing.holds
