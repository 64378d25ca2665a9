"""Which rows of a campaign alarms ask about, and what they make of zones whose workflow has ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client

from edgeshift.alarms import CampaignFact, Facts, ZoneFact, alarms_of
from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import Plan, Zone
from edgeshift.stores.archive import Archive
from edgeshift.views.alarming import _zones
from edgeshift.views.rows import ZoneRow

NOW = datetime.now(UTC)
LONG_AGO = NOW - timedelta(days=1)


def zone(index: int) -> Zone:
    """The zone at this index."""
    return Zone(id=f"{index + 1:032x}", name=f"z{index}.example", plan=Plan.PRO, account="a" * 32)


def row(index: int, place: str, *, status: str = "running") -> ZoneRow:
    """A zone at a place of its campaign's ledger, whose workflow is so in Temporal's list."""
    of = zone(index)
    ended = None if status == "running" else NOW
    return ZoneRow(
        index=index,
        id=of.id,
        name=of.name,
        account=of.account,
        plan=of.plan.value,
        wave=0,
        place=place,
        run_id="run",
        closed_at=ended,
        status=status,
    )


class Zones:
    """A client whose zones all answer that they have been in this phase for long; who was asked."""

    def __init__(self, phase: ZonePhase) -> None:
        self._phase = phase
        self.asked: list[str] = []

    def get_workflow_handle(self, identifier: str, **_: Any) -> Any:
        async def query(*_: Any, **__: Any) -> ZoneState:
            self.asked.append(identifier)
            since = LONG_AGO
            return ZoneState(zone=zone(0), campaign="c", wave=0, attempt=1, phase=self._phase, since=since)

        async def describe() -> Any:
            return SimpleNamespace(raw_description=SimpleNamespace(pending_activities=[]))

        async def events() -> Any:
            for none in ():
                yield none

        return SimpleNamespace(query=query, describe=describe, fetch_history_events=events)


async def facts_of(client: Zones, folder: Path, *rows: ZoneRow) -> list[ZoneFact]:
    known: Any = None
    return await _zones(cast(Client, client), Archive(folder), known, list(rows))


def codes(facts: list[ZoneFact]) -> dict[str, int]:
    """The alarms of a campaign of these zones, each with how many zones it names."""
    campaign = CampaignFact(name="c", zones=tuple(facts))
    return {alarm.code: alarm.count for alarm in alarms_of(Facts(now=NOW, campaigns=(campaign,)))}


@pytest.mark.parametrize("place", ["permitted", "awaiting", "working"])
async def test_a_zone_that_has_come_to_its_end_was_not_ended_by_anybody(tmp_path: Path, place: str) -> None:
    """Its campaign's ledger is older than Temporal's list, and takes in its outcome next."""
    client = Zones(ZonePhase.COMMITTING)
    facts = await facts_of(client, tmp_path, row(0, place, status="completed"))
    assert not {"zone-ended", "zone-stuck"} & set(codes(facts)) and client.asked == []
    assert facts[0].place == place


@pytest.mark.parametrize("status", ["terminated", "canceled", "timed_out", "failed"])
async def test_a_zone_whose_workflow_ended_without_an_outcome_is_told(tmp_path: Path, status: str) -> None:
    """Before its campaign notices."""
    facts = await facts_of(Zones(ZonePhase.COMMITTING), tmp_path, row(0, "permitted", status=status))
    assert codes(facts)["zone-ended"] == 1 and facts[0].place == "terminated"
