"""What a campaign has to record of a reopening, where very many targets were rejected at once."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import workflow

from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import Again, RulingNote
from edgeshift.model.fleet import ZoneOutcome
from tests.rules.ledger_kit import NOW, OTHER, SHAPE, awaiting, ledger, place
from workflows.campaign.batches import MANY, Batches
from workflows.campaign.rulings import next_of
from workflows.campaign.state import CampaignState
from workflows.campaign.steering import Steering

MOST_CARRIED = 1_500_000
"""Bytes that notes may take of what a new run is given, which Temporal limits to 2 MB."""


class Reopened:
    """As much of a campaign's state as a reopening needs."""

    rule = CampaignState.rule

    def __init__(self, count: int) -> None:
        self.ledger = ledger(count)
        self.start = SimpleNamespace(count=count)
        self.unrecorded: list[RulingNote] = []
        self._ruled_at = NOW

    def note(self, text: str) -> None:
        """Nobody reads it."""

    def changed(self) -> None:
        """Nobody waits for it."""

    def looked_into(self, indexes: Iterable[int]) -> None:
        """No word of their end is left."""


def reopened(monkeypatch: pytest.MonkeyPatch, count: int, message: Again) -> Any:
    """The state after so many targets were rejected, of two fingerprints, and ``message`` came."""
    monkeypatch.setattr(workflow, "now", lambda: NOW)
    state: Any = Reopened(count)
    for index in range(count):
        state.ledger.hear(awaiting(index=index, fingerprint=(SHAPE, OTHER)[index % 2]), NOW)
        state.ledger.finish(index, ZoneOutcome.REJECTED)
    Steering(state, Batches(state)).begin_again(message, frozenset({ZoneOutcome.REJECTED}))
    return state


def test_what_is_recorded_of_a_fleet_that_is_reopened_fits_into_a_new_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of it may be under way when the run goes on in a new one."""
    again = Again(by="ann", reason="w" * 500, places=("rejected",))
    state = reopened(monkeypatch, 100_000, again)
    assert set(state.ledger.places) == {TargetState.PENDING}
    assert sum(len(note.model_dump_json()) for note in state.unrecorded) < MOST_CARRIED
    named = [index for note in state.unrecorded for index in note.indexes]
    assert named == list(range(100_000))
    assert [note.fingerprints for note in state.unrecorded if not note.indexes] == [(SHAPE, OTHER)]
    assert len({note.at for note in state.unrecorded}) == len(state.unrecorded)


def test_a_target_that_is_named_twice_begins_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had come to is still known where it then is not to begin after all."""
    state = reopened(monkeypatch, 5, Again(by="ann", indexes=(3, 3)))
    state.ledger.stand_down(3)
    assert place(state.ledger) is TargetState.REJECTED


def test_one_batch_records_no_more_than_it_has_the_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each target and each fingerprint counts."""
    left = reopened(monkeypatch, 250, Again(by="ann", places=("rejected",))).unrecorded
    sizes = []
    while some := next_of(left):
        del left[: len(some)]
        sizes.append(sum(len(note.indexes) + len(note.fingerprints) for note in some))
    assert sizes == [MANY, MANY, 52]
