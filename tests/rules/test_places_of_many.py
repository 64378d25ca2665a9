"""Rows and alarms of a running campaign with more targets than it is asked for: what asks for a person is not
lost among those that wait, or that are done.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client

from edgeshift.alarms import CampaignFact, Facts, alarms_of
from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import PlacesAsked, ZonePhase, ZoneResult, ZoneState
from edgeshift.model.fleet import Area, Plan, Target, Zone, ZoneOutcome, migration_id
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.runtime.temporal import PHASE
from edgeshift.stores.archive import Archive
from edgeshift.views import alarming, gathering
from edgeshift.views.gathering import known_campaign, zone_rows
from edgeshift.views.rows import ZoneRow
from tests.rules.test_rows_of_a_start import COMPLETED, RUNNING, THIS, Execution, Lists
from tests.rules.test_timeline_watch import summary
from workflows.campaign.summary import targets_at

NOW = datetime.now(UTC)
MOST = 3
"""Targets of one answer, and results that are read."""


def zone(index: int) -> Zone:
    """The zone at this index."""
    return Zone(id=f"{index + 1:032x}", name=f"z{index}.example", plan=Plan.PRO, account="a" * 32)


@dataclass
class Listed(Execution):
    """One of Temporal's list, in the first attempt of this start."""

    @property
    def id(self) -> str:
        return migration_id(zone(self.index), Area.WAF)


def listed(index: int, place: TargetState, why: ReasonCode | None) -> Listed:
    """The workflow of a target that is so in its campaign's ledger."""
    if place < TargetState.EXCLUDED:
        waits = place is TargetState.AWAITING
        phase = ZonePhase.AWAITING_SIGN_OFF if waits else ZonePhase.VALIDATING
        state = ZoneState(zone=zone(index), campaign="c", wave=0, attempt=1, phase=phase, since=NOW)
        # What zones set of it (docs/architecture.md): nothing between their start and their proposal.
        said = {PHASE: phase.value if waits else ZonePhase.ASSESSING.value}
        return Listed(index, 1, THIS, RUNNING, state=state, typed_search_attributes=said)
    causes = (Reason(code=why),) if why else ()
    result = ZoneResult(outcome=ZoneOutcome(place.word), why=causes, reason=why or "")
    return Listed(index, 1, THIS, COMPLETED, result=result)


class Campaign(Lists):
    """A client of a running campaign whose targets are at these places: its own code answers where, and its
    zones say why.
    """

    def __init__(self, *places: TargetState | tuple[TargetState, ReasonCode]) -> None:
        told = [place if isinstance(place, tuple) else (place, None) for place in places]
        super().__init__(*(listed(index, *one) for index, one in enumerate(told)))
        ledger = Ledger(len(places), NOW, timedelta(days=14))
        for index, (place, _) in enumerate(told):
            ledger.places[index] = place
            ledger.attempts[index] = 1
        self.start: Any = SimpleNamespace(
            name="c", area=Area.WAF, targets="t", archive="", count=len(places), carried=None
        )
        self.questions = 0
        self._state: Any = SimpleNamespace(ledger=ledger, start=SimpleNamespace(waves=()))

    def get_workflow_handle(self, identifier: str, **more: Any) -> Any:
        if identifier != "campaign/c":
            return super().get_workflow_handle(identifier, **{"run_id": "", **more})

        async def query(name: str, asked: Any = None, **_: Any) -> Any:
            if name == "summary":
                return summary()
            self.questions += 1
            return targets_at(self._state, PlacesAsked.model_validate(asked))

        async def describe() -> Any:
            of = SimpleNamespace(first_run_id=THIS)
            raw = SimpleNamespace(workflow_execution_info=of)
            return SimpleNamespace(status=RUNNING, run_id=THIS, raw_description=raw)

        return SimpleNamespace(id=identifier, query=query, describe=describe)


@pytest.fixture(autouse=True)
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of each are many."""

    async def started(client: Campaign, name: str) -> Any:
        return client.start

    async def targets(archive: Archive, digest: str) -> list[Target]:
        return [Target(zone=zone(index), wave=0) for index in range(100)]

    monkeypatch.setattr(gathering, "campaign_input", started)
    monkeypatch.setattr(gathering, "frozen_targets", targets)
    monkeypatch.setattr(gathering, "MOST_PLACES", MOST)
    monkeypatch.setattr(gathering, "MOST_RESULTS", MOST)


async def rows_of(campaign: Campaign, folder: Path) -> list[ZoneRow]:
    """What people are shown of the campaign's targets."""
    client = cast(Client, campaign)
    rows = await zone_rows(client, Archive(folder), await known_campaign(client, "c"))
    return rows[: campaign.start.count]


@pytest.mark.parametrize("crowd", [TargetState.AWAITING, TargetState.ON_HOLD, TargetState.MIGRATED])
async def test_what_failed_is_not_lost_behind_what_waits_or_is_done(
    tmp_path: Path, crowd: TargetState
) -> None:
    """A campaign answers by index, and the zones of a lower one fill an answer: those that wait, and those
    that ended in bulk. Their results fill what is read, too.
    """
    last = ((TargetState.FAILED, ReasonCode.CHANGE_REFUSED), (TargetState.UNKNOWN, ReasonCode.NOT_IN_TIME))
    campaign = Campaign(*[TargetState.AWAITING] * 4, *[TargetState.MIGRATED] * 4, *[crowd] * 4, *last)
    rows = await rows_of(campaign, tmp_path)
    assert [(row.place, row.code, row.unread) for row in rows[-2:]] == [
        ("failed", "change_refused", False),
        ("unknown", "not_in_time", False),
    ]
    facts, _ = await alarming._zones(cast(Client, campaign), Archive(tmp_path), rows)
    found = alarms_of(Facts(now=NOW, campaigns=(CampaignFact(name="c", zones=tuple(facts)),)))
    counts = {one.code: one.count for one in found}
    assert (counts.get("failed-refused"), counts.get("unknown-commit")) == (1, 1)


async def test_a_place_that_the_list_alone_tells_is_marked(tmp_path: Path) -> None:
    """The campaign was not asked for it, or its answer was full. A target that has not begun has none."""
    campaign = Campaign(*[TargetState.AWAITING] * 4, TargetState.WAITING, TargetState.FAILED)
    rows = await rows_of(campaign, tmp_path)
    assert [row.place for row in rows] == [*["awaiting"] * 3, "proposed", "working", "failed"]
    assert [row.by_list for row in rows] == [False, False, False, True, True, False]


async def test_a_campaign_is_asked_once_where_its_answer_holds_them_all(tmp_path: Path) -> None:
    """Place by place only where it does not."""
    campaign = Campaign(*[TargetState.AWAITING] * 2, *[TargetState.MIGRATED] * 4)
    await rows_of(campaign, tmp_path)
    assert campaign.questions == 1
