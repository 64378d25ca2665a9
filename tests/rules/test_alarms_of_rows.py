"""Which rows of a campaign alarms ask about, and what they make of zones whose workflow has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from edgeshift.alarms import CampaignFact, Facts, ZoneFact, alarms_of
from edgeshift.cli.alarms import _left_out
from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import Area, Plan, Zone, migration_id
from edgeshift.stores.archive import Archive
from edgeshift.views.alarming import MOST_OPEN, _stuck, _zones
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

        async def events() -> AsyncIterator[Any]:
            nothing: tuple[Any, ...] = ()
            for event in nothing:
                yield event

        return SimpleNamespace(query=query, describe=describe, fetch_history_events=events)


async def facts_of(client: Zones, folder: Path, *rows: ZoneRow) -> list[ZoneFact]:
    facts, _ = await _zones(cast(Client, client), Archive(folder), list(rows))
    return facts


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


async def test_zones_that_wait_for_people_crowd_out_none_that_is_worked_at(tmp_path: Path) -> None:
    """They are asked last: the one that is stuck is among those that are asked."""
    client = Zones(ZonePhase.COMMITTING)
    rows = [*(row(index, "awaiting") for index in range(MOST_OPEN + 50)), row(MOST_OPEN + 50, "permitted")]
    facts = await facts_of(client, tmp_path, *rows)
    assert migration_id(zone(MOST_OPEN + 50), Area.WAF) in client.asked
    assert len(client.asked) == MOST_OPEN and codes(facts)["zone-stuck"] == 1


@pytest.mark.parametrize(("more", "left"), [(-1, 0), (0, 0), (1, 1), (51, 51)])
async def test_how_many_zones_were_not_asked_is_told(tmp_path: Path, more: int, left: int) -> None:
    """Of them nobody knows how long they have been where they are. Closed ones are not among them."""
    rows = [row(index, "awaiting") for index in range(MOST_OPEN + more)]
    rows += [row(MOST_OPEN + more, "migrated", status="completed"), row(0, "awaiting", status="completed")]
    client = cast(Client, Zones(ZonePhase.AWAITING_SIGN_OFF))
    _, found = await _zones(client, Archive(tmp_path), rows)
    assert found == left
    facts = Facts(now=NOW, campaigns=(CampaignFact(name="c", left_out=left),))
    were = "was" if left == 1 else "were"
    said = [text.partition(" not asked")[0] for text in _left_out(facts)]
    assert said == ([f"{left} open {'zone' if left == 1 else 'zones'} of campaign c {were}"] if left else [])


@pytest.mark.parametrize(
    ("phase", "stuck"),
    [(ZonePhase.VALIDATING, 0), (ZonePhase.AWAITING_VALIDATION, 0), (ZonePhase.GATHERING_EVIDENCE, 1)],
)
async def test_a_zone_known_by_the_list_alone_is_no_longer_at_a_step_than_it_says(
    tmp_path: Path, phase: ZonePhase, stuck: int
) -> None:
    """In its validation window, or while the campaign pauses, it waits by right: for a day here, and each of
    its steps may take hours.
    """
    known = row(0, "working").model_copy(update={"by_list": True})
    facts = await facts_of(Zones(phase), tmp_path, known)
    assert codes(facts).get("zone-stuck", 0) == stuck


class Running:
    """A client that lists so many running workflows of zones, none of whose tasks fails."""

    def __init__(self, count: int) -> None:
        self._count = count

    async def list_workflows(self, query: str, limit: int | None = None) -> Any:
        count = 0 if "EdgeshiftCampaign" not in query else min(self._count, limit or self._count)
        for index in range(count):
            yield SimpleNamespace(id=f"zone/{index}/waf", run_id="run", workflow_type="WafZone")

    async def count_workflows(self, query: str) -> Any:
        return SimpleNamespace(count=self._count)

    def get_workflow_handle(self, identifier: str, **_: Any) -> Any:
        async def describe() -> Any:
            task = SimpleNamespace(attempt=1)
            raw = SimpleNamespace(pending_workflow_task=task)
            return SimpleNamespace(raw_description=raw, status=WorkflowExecutionStatus.RUNNING)

        return SimpleNamespace(describe=describe)


@pytest.mark.parametrize(("count", "unseen"), [(3, {}), (MOST_OPEN + 7, {"c": 7})])
async def test_how_many_workflows_were_not_looked_at_is_told(count: int, unseen: dict[str, int]) -> None:
    """The list is read no further than to the bound."""
    assert await _stuck(cast(Client, Running(count)), ["c"]) == ((), unseen)
