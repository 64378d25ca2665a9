"""What a campaign makes of zones that it does not find, where it begins zones at the same time."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import workflow

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import Place
from edgeshift.messages import DescribedZones, Person, SilentZone, Step
from edgeshift.model.fleet import ZoneOutcome
from tests.rules.ledger_kit import NOW, ledger, place
from workflows.campaign import batches
from workflows.campaign.batches import Batches


def state_of(found: Ledger) -> Any:
    """As much of a campaign's state as a look at its zones needs."""
    return SimpleNamespace(
        ledger=found,
        first_run="r",
        beginning=frozenset(),
        aborted=None,
        start=SimpleNamespace(
            targets="", spec="", area="waf", policy=SimpleNamespace(migration_limit=timedelta(minutes=1))
        ),
        note=lambda text: None,
        changed=lambda: None,
    )


async def looked(monkeypatch: pytest.MonkeyPatch, state: Any, *, attempt: int = 0, then: Any = None) -> None:
    """Zone 3 is looked at, and not found, or in this attempt. ``then``: happens before the answer comes."""

    async def work(*args: object) -> DescribedZones:
        if then is not None:
            then()
        silent = SilentZone(index=3, attempt=attempt, outcome=ZoneOutcome.FAILED)
        return DescribedZones(closed=(silent,))

    monkeypatch.setattr(workflow, "info", lambda: SimpleNamespace(workflow_id="campaign/c"))
    monkeypatch.setattr(batches, "DescribeZones", SimpleNamespace)
    looking = Batches(state)
    monkeypatch.setattr(looking, "work", work)
    await looking.look_at([3])


async def test_a_zone_that_was_being_started_when_it_was_looked_for_keeps_its_permit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was not there yet, and is by the time that the answer comes: a pause has to take its permit back."""
    state = state_of(found := ledger())
    permit = found.permit(3, Step.VALIDATE, "c", NOW, lambda: 7)
    state.beginning = frozenset({3})

    def it_has_started() -> None:
        state.beginning = frozenset()

    await looked(monkeypatch, state, then=it_has_started)
    assert (place(found), found.attempts[3]) == (Place.WORKING, 1)
    assert found.permits == {7: permit}


@pytest.mark.parametrize("known", [1, 2])
async def test_a_zone_whose_start_was_cut_off_is_begun_once_more(
    known: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an earlier attempt of it is found: that one's end is not the end of this one."""
    state = state_of(found := ledger())
    for _ in range(known - 1):
        found.again(3)
        found.begin(3)
    await looked(monkeypatch, state, attempt=known - 1)
    assert (place(found), found.attempts[3]) == (Place.PENDING, known - 1)
    found.begin(3)
    await looked(monkeypatch, state, attempt=known)
    assert place(found) is Place.FAILED


@pytest.mark.parametrize(("attempt", "expected"), [(0, Place.ABORTED), (1, Place.FAILED)])
async def test_a_zone_whose_start_was_cut_off_before_an_abort_is_aborted(
    attempt: int, expected: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it was ever there. One that was there, and is not any more, has failed."""
    state = state_of(found := ledger())
    state.aborted = Person(by="ann")
    await looked(monkeypatch, state, attempt=attempt)
    assert place(found) is expected
