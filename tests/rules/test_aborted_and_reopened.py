"""What is left of an abort, a pause and a resume for the run that takes the campaign up again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import workflow

from edgeshift.campaign.target_states import AWAITING, TargetState
from edgeshift.messages import Again, CampaignStart, Person
from edgeshift.model.fleet import REOPENABLE, Wave, ZoneOutcome
from tests.rules.ledger_kit import NOW
from tests.rules.test_looked_at_meanwhile import campaign
from workflows.campaign.batches import Batches
from workflows.campaign.state import CampaignState
from workflows.campaign.steering import Steering
from workflows.campaign.workflow import Campaign

COUNT, CANARY = 100, 10

WAVES = (
    Wave(number=0, name="canary", first=0, end=CANARY),
    Wave(number=1, name="early", first=CANARY, end=50),
    Wave(number=2, name="rest", first=50, end=COUNT),
)

ANN = Person(by="ann", reason="not today")


@pytest.fixture(autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch) -> None:
    info = SimpleNamespace(first_execution_run_id="r", run_id="r")
    monkeypatch.setattr(workflow, "now", lambda: NOW)
    monkeypatch.setattr(workflow, "info", lambda: info)
    monkeypatch.setattr(workflow, "patched", lambda name: True)


def start() -> CampaignStart:
    """A campaign of three waves."""
    return campaign().model_copy(update={"count": COUNT, "waves": WAVES})


def advanced(state: CampaignState) -> int:
    """The wave that has begun last, once later ones were let begin."""
    one: Any = Campaign.__new__(Campaign)
    one._state = state
    one._advance()
    return state.wave


def begun() -> CampaignState:
    """Its canary waits for a sign-off."""
    state = CampaignState(start(), b"")
    for index in range(CANARY):
        state.ledger.begin(index)
        state.ledger.places[index] = TargetState.AWAITING
    assert advanced(state) == 0
    return state


def taken_up(state: CampaignState, **more: Any) -> CampaignState:
    """What the next run knows."""
    carried = state.carried()
    return CampaignState(start().model_copy(update={"carried": carried, **more}), carried.ledger)


def test_no_wave_begins_by_an_abort_and_a_reopening_begins_with_the_canary() -> None:
    """Zones that had not begun have their outcome at once, and the canary's soon after: nothing has begun."""
    state = begun()
    Steering(state, Batches(state)).stand_down(ANN)
    assert advanced(state) == 0
    for index in list(state.ledger.indexes(*AWAITING)):
        state.ledger.finish(index, ZoneOutcome.ABORTED)
    assert advanced(state) == 0 and not any("begins" in note for note in state.notes)
    again = Again(by="ann")
    following = taken_up(state, again=again)
    Steering(following, Batches(following)).begin_again(again, REOPENABLE)
    wave = WAVES[advanced(following)]
    assert list(following.ledger.indexes(TargetState.PENDING, end=wave.end)) == list(range(CANARY))


def test_a_pause_is_over_once_zones_begin_again_after_the_close() -> None:
    """It is carried into the next run of an open campaign alone, as an abort is."""
    state = begun()
    state.paused = ANN
    Steering(state, Batches(state)).stand_down(ANN)
    assert (taken_up(state).paused, taken_up(state).aborted) == (ANN, ANN)
    anew = taken_up(state, again=Again(by="ann"))
    assert (anew.paused, anew.aborted, anew.stands_still) == (None, None, False)


def test_who_has_resumed_by_hand_is_heard_by_the_next_run() -> None:
    """It ended before it had let the calls go on."""
    state = begun()
    assert not taken_up(state).resumed_by_hand
    state.resumed_by_hand = True
    assert taken_up(state).resumed_by_hand
    assert not taken_up(state, again=Again(by="ann")).resumed_by_hand
