"""Which outcomes ``check --all`` compares: each that a campaign tells, however many there are."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import PlacesAsked, TargetsAt
from edgeshift.model.fleet import Wave, ZoneOutcome
from edgeshift.operations.comparing import ToldOutcome
from edgeshift.stores.archive import Archive
from edgeshift.views import comparing
from edgeshift.views.closed import places_of
from edgeshift.views.comparing import told_by, unnamed_of
from edgeshift.views.gathering import Known
from tests.rules.ledger_kit import FORTNIGHT, NOW
from workflows.campaign.summary import targets_at

COUNT, LEFT = 12_000, 100
WAVES = (Wave(number=0, name="one", first=0, end=9_000), Wave(number=1, name="two", first=9_000, end=COUNT))


def attempt_of(index: int) -> int:
    return 1 + index % 3


def ledger() -> Ledger:
    """Every target is migrated, but for the last hundred, in its first, second or third attempt."""
    found = Ledger(COUNT, NOW, FORTNIGHT / 100, waves=WAVES)
    for index in range(COUNT - LEFT):
        found.attempts[index] = attempt_of(index)
        found.places[index] = TargetState.ALREADY_MIGRATED if index % 7 == 3 else TargetState.MIGRATED
    return found


class Answers:
    """A client of one campaign, whose query the campaign's own code answers."""

    def __init__(self, of: Ledger) -> None:
        self._state: Any = SimpleNamespace(ledger=of, start=SimpleNamespace(waves=WAVES))

    def get_workflow_handle(self, identifier: str) -> Answers:
        assert identifier == "campaign/c"
        return self

    async def query(self, name: str, message: Any, **_: Any) -> TargetsAt:
        assert name == "targets_at"
        return targets_at(self._state, PlacesAsked.model_validate(message))


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    async def targets(archive: Archive, digest: str) -> range:
        return range(COUNT)

    monkeypatch.setattr(comparing, "frozen_targets", targets)


@pytest.mark.parametrize("status", [WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED])
async def test_every_outcome_is_named_in_the_attempt_that_it_is_of(
    status: WorkflowExecutionStatus, tmp_path: Path
) -> None:
    """Of a campaign that runs, as it answers; of a closed one, as its ledger says. No list of Temporal's is
    asked.
    """
    of = ledger()
    start: Any = SimpleNamespace(name="c", targets="t", count=COUNT, waves=WAVES)
    places = places_of(start, of) if status is WorkflowExecutionStatus.COMPLETED else {}
    known = Known(start, None, places, status, "r")
    told = await told_by(cast(Client, Answers(of)), Archive(tmp_path), known)
    assert [one.index for one in told] == list(range(COUNT - LEFT))
    assert all(one.attempt == attempt_of(one.index) for one in told)
    assert {one.outcome for one in told if one.index % 7 == 3} == {ZoneOutcome.ALREADY_MIGRATED}
    assert unnamed_of(cast(Any, SimpleNamespace(places=of.tallies())), told) == {}


def test_what_a_campaign_counts_and_does_not_name_is_told() -> None:
    """By its place. More than were counted before are no fault; nor is what says nothing of the service."""
    told = [ToldOutcome(index, 1, ZoneOutcome.MIGRATED) for index in range(3)]
    summary: Any = SimpleNamespace(places={"migrated": 5, "settled": 2, "blocked": 9, "awaiting": 4})
    assert unnamed_of(summary, told) == {"migrated": 2, "settled": 2}
    summary.places = {"migrated": 2}
    assert unnamed_of(summary, told) == {}


async def test_a_target_that_there_is_not_is_not_compared(tmp_path: Path) -> None:
    """A forged campaign may name anything: its count tells then that somebody is missing."""
    of = ledger()
    places = {at.index: at for at in places_of(cast(Any, SimpleNamespace(waves=WAVES)), of).values()}
    places[0] = places[0].model_copy(update={"index": COUNT})
    places[1] = places[1].model_copy(update={"index": -1})
    start: Any = SimpleNamespace(name="c", targets="t", count=COUNT, waves=WAVES)
    known = Known(start, None, places, WorkflowExecutionStatus.COMPLETED, "r")
    told = await told_by(cast(Client, Answers(of)), Archive(tmp_path), known)
    assert len(told) == COUNT - LEFT - 2
    assert unnamed_of(cast(Any, SimpleNamespace(places=of.tallies())), told) == {"migrated": 2}
