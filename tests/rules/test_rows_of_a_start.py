"""Rows of a campaign that was started again: the workflows that an earlier start left behind tell nothing of
this one, whatever attempt they were.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from edgeshift.alarms import CampaignFact, Facts, alarms_of
from edgeshift.messages import CampaignSummary, TargetAt, ZonePhase, ZoneResult, ZoneState
from edgeshift.model.fleet import Area, Plan, Target, Zone, ZoneOutcome, migration_id
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.stores.archive import Archive
from edgeshift.views import alarming, finding, gathering
from edgeshift.views.events import Run
from edgeshift.views.finding import Named, zone_runs
from edgeshift.views.gathering import Known, zone_rows
from edgeshift.views.rows import ZoneRow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEFORE, THIS = "start-of-before", "this-start"
ACCOUNT = "a" * 32
ZONES = [Zone(id=f"{n:032x}", name=f"z{n}.example", plan=Plan.PRO, account=ACCOUNT) for n in (1, 2)]
TARGETS = [Target(zone=zone, wave=wave) for wave, zone in enumerate(ZONES)]
RUNNING, COMPLETED = WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED


@dataclass
class Execution:
    """One of Temporal's list, of the zone at ``index``."""

    index: int
    attempt: int
    origin: str
    status: WorkflowExecutionStatus = COMPLETED
    result: ZoneResult | None = None
    state: ZoneState | None = None
    claims: dict[str, Any] = field(default_factory=dict)
    typed_search_attributes: dict[Any, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return migration_id(ZONES[self.index], Area.WAF)

    @property
    def run_id(self) -> str:
        return f"{self.origin}/{self.index}/{self.attempt}"

    @property
    def start_time(self) -> datetime:
        return NOW - timedelta(hours=2 if self.origin == BEFORE else 1)

    @property
    def close_time(self) -> datetime | None:
        return None if self.status is RUNNING else self.start_time + timedelta(minutes=5)

    async def memo(self) -> dict[str, Any]:
        said = {"campaign": "campaign/c", "campaign_run": self.origin, "origin": self.origin}
        return said | {"index": self.index, "attempt": self.attempt} | self.claims


class Lists:
    """A client that lists these executions, the newest first, and whose workflows answer."""

    def __init__(self, *executions: Execution) -> None:
        self._executions = sorted(executions, key=lambda one: one.start_time, reverse=True)

    async def list_workflows(self, query: str) -> AsyncIterator[Execution]:
        for one in self._executions:
            if "WorkflowId" not in query or one.id in query:
                yield one

    def get_workflow_handle(self, identifier: str, *, run_id: str = "", **_: Any) -> Any:
        found = next(one for one in self._executions if one.id == identifier and run_id in ("", one.run_id))

        async def result(**_: Any) -> ZoneResult | None:
            return found.result

        async def query(*_: Any, **__: Any) -> ZoneState | None:
            return found.state

        async def describe() -> Execution:
            return found

        return SimpleNamespace(result=result, query=query, describe=describe)


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def targets(archive: Archive, digest: str) -> list[Target]:
        return TARGETS

    monkeypatch.setattr(gathering, "frozen_targets", targets)


def waits(index: int, digest: str) -> ZoneState:
    """What a zone answers that waits for a sign-off."""
    return ZoneState(
        zone=ZONES[index],
        campaign="campaign/c",
        wave=index,
        attempt=1,
        phase=ZonePhase.AWAITING_SIGN_OFF,
        since=NOW,
        digest=digest,
    )


def ended(outcome: ZoneOutcome, record: str = "", said: str = "") -> ZoneResult:
    """How a zone's workflow ended."""
    why = (Reason(code=ReasonCode.OTHER, words=said),) if said else ()
    return ZoneResult(outcome=outcome, why=why, reason=said, record=record, digest=f"digest-{record}")


def known(*places: TargetAt, status: WorkflowExecutionStatus = RUNNING) -> Known:
    """The campaign as its ledger tells it."""
    start: Any = SimpleNamespace(name="c", area=Area.WAF, targets="t", archive="", count=len(ZONES))
    summary: Any = SimpleNamespace(excluded={}, excluded_codes={}, told_wrong=[])
    return Known(start, cast(CampaignSummary, summary), {at.index: at for at in places}, status, THIS)


async def rows_of(client: Lists, of: Known, folder: Path) -> list[ZoneRow]:
    return await zone_rows(cast(Client, client), Archive(folder), of)


def at(index: int, place: str, attempt: int) -> TargetAt:
    """A target's place in the ledger."""
    return TargetAt(index=index, place=place, wave=index, attempt=attempt)


async def test_a_zone_is_in_the_attempt_that_its_campaigns_ledger_names(tmp_path: Path) -> None:
    """It was aborted in the second attempt of an earlier start, and waits in the first of this one: nobody
    ended its workflow, and its sign-off waits.
    """
    client = Lists(
        Execution(0, 2, BEFORE, result=ended(ZoneOutcome.ABORTED)),
        Execution(0, 1, THIS, RUNNING, state=waits(0, "of-this-start")),
    )
    of = known(at(0, "awaiting", 1), at(1, "pending", 0))
    row, _ = await rows_of(client, of, tmp_path)
    assert (row.place, row.attempt, row.closed_at) == ("awaiting", 1, None)
    assert row.digest == "of-this-start" and row.run_id.startswith(THIS)
    facts, _ = await alarming._zones(cast(Client, client), Archive(tmp_path), [row])
    campaign = CampaignFact(name="c", zones=tuple(facts))
    codes = [alarm.code for alarm in alarms_of(Facts(now=NOW, campaigns=(campaign,)))]
    assert "zone-ended" not in codes and "sign-off-waits" in codes


async def test_a_migrated_zone_has_the_result_of_its_own_start(tmp_path: Path) -> None:
    """And nothing of what it had failed by before."""
    client = Lists(
        Execution(0, 2, BEFORE, result=ended(ZoneOutcome.FAILED, said="the service refused it")),
        Execution(0, 1, THIS, result=ended(ZoneOutcome.MIGRATED, "record-of-this")),
    )
    row = (await rows_of(client, known(at(0, "migrated", 1), status=COMPLETED), tmp_path))[0]
    assert (row.place, row.reason, row.record) == ("migrated", "", "record-of-this")


@pytest.mark.parametrize("named", [True, False], ids=["in the ledger's answer", "beyond it"])
async def test_a_target_that_has_not_begun_has_nothing_of_an_earlier_start(
    tmp_path: Path, named: bool
) -> None:
    """Of very many targets the ledger is not asked for those: Temporal's list alone tells of them."""
    client = Lists(Execution(1, 1, BEFORE, result=ended(ZoneOutcome.ABORTED, "record-of-before")))
    of = known(at(0, "awaiting", 1), *([at(1, "pending", 0)] if named else []))
    row = (await rows_of(client, of, tmp_path))[1]
    assert (row.place, row.attempt, row.run_id, row.closed_at) == ("pending", 0, "", None)
    assert not row.record


async def test_an_attempt_that_the_ledger_does_not_name_hides_none_that_it_names(tmp_path: Path) -> None:
    """Whoever starts a workflow under the zone's identifier may write any number into its memo."""
    client = Lists(
        Execution(0, 1, THIS, RUNNING, state=waits(0, "mine")),
        Execution(0, 99, THIS, result=ended(ZoneOutcome.MIGRATED, "forged")),
    )
    row = (await rows_of(client, known(at(0, "awaiting", 1)), tmp_path))[0]
    assert (row.place, row.attempt, row.digest) == ("awaiting", 1, "mine")


async def test_an_attempt_that_has_just_begun_is_not_told_as_the_one_before(tmp_path: Path) -> None:
    """Temporal's list may lack it for a moment: the workflow of the attempt before has ended by right."""
    client = Lists(Execution(0, 1, THIS, result=ended(ZoneOutcome.FAILED, said="refused")))
    row = (await rows_of(client, known(at(0, "working", 2)), tmp_path))[0]
    assert (row.place, row.closed_at, row.reason) == ("working", None, "")


async def test_a_campaign_that_was_taken_up_again_has_what_its_first_run_began(tmp_path: Path) -> None:
    """A retry of a closed campaign is another run of it, and of the same origin."""
    execution = Execution(0, 1, THIS, result=ended(ZoneOutcome.MIGRATED, "kept"))
    execution.claims = {"campaign_run": "the-run-of-the-retry"}
    row = (await rows_of(Lists(execution), known(at(0, "migrated", 1)), tmp_path))[0]
    assert row.record == "kept"


async def test_a_reports_timelines_are_of_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier start read, sent and was told is in the zone's history, and in no report of this."""

    async def read(client: Client, execution: Any) -> Run:
        return Run(run_id=execution.run_id, events=())

    monkeypatch.setattr(finding, "_run", read)
    client = cast(Client, Lists(Execution(0, 2, BEFORE), Execution(0, 1, THIS)))
    named = Named(ZONES[0].id, Area.WAF)
    found = [run.run_id for run in await zone_runs(client, named, "c", THIS)]
    assert found == [f"{THIS}/0/1"]
    assert len(await zone_runs(client, named, "c")) == 2
