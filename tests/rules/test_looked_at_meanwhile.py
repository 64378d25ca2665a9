"""What a campaign makes of zones that it does not find, where it begins zones at the same time."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import workflow

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign.target_states import TargetState
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignStart, DescribedZones, LaterAttempt, Person, SilentZone, Step
from edgeshift.model.fleet import Wave, ZoneOutcome
from tests.rules.ledger_kit import NOW, ledger, place
from workflows.campaign import batches
from workflows.campaign.batches import Batches
from workflows.campaign.state import CampaignState


def campaign() -> CampaignStart:
    """A campaign over one zone."""
    spec = CampaignSpec.model_validate(
        {
            "name": "c",
            "targets": {"all": True},
            "service": {"base_url": "https://api.example", "credentials": [{"token": "env:T", "user": "u"}]},
        }
    )
    waves = (Wave(number=0, name="all", first=0, end=1),)
    return campaign_start(
        spec, "0" * 64, targets="0" * 64, count=1, waves=waves, enterprise="", started_by="ann"
    )


def state_of(found: Ledger) -> Any:
    """As much of a campaign's state as a look at its zones needs."""
    state: Any = SimpleNamespace(
        ledger=found,
        first_run="r",
        origin="r",
        beginning=frozenset(),
        aborted=None,
        relearned="",
        unasked=["before"],
        asked_run="",
        sweeps=[],
        steered=0,
        start=SimpleNamespace(
            targets="",
            spec="",
            area="waf",
            archive="",
            policy=SimpleNamespace(migration_limit=timedelta(minutes=1)),
        ),
        note=lambda text: None,
        changed=lambda: None,
    )
    state.sweep_now = lambda: state.sweeps.append(state.relearned)
    return state


async def looked(
    monkeypatch: pytest.MonkeyPatch,
    state: Any,
    *,
    attempt: int = 0,
    then: Any = None,
    answer: DescribedZones | None = None,
) -> None:
    """Zone 3 is looked at, and not found, or in this attempt. ``then``: happens before the answer comes.
    ``answer``: another one.
    """

    async def work(*args: object) -> DescribedZones:
        if then is not None:
            then()
        if answer is not None:
            return answer
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
    assert (place(found), found.attempts[3]) == (TargetState.WORKING, 1)
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
    assert (place(found), found.attempts[3]) == (TargetState.PENDING, known - 1)
    found.begin(3)
    await looked(monkeypatch, state, attempt=known)
    assert place(found) is TargetState.FAILED


@pytest.mark.parametrize(("attempt", "expected"), [(0, TargetState.ABORTED), (1, TargetState.FAILED)])
async def test_a_zone_whose_start_was_cut_off_before_an_abort_is_aborted(
    attempt: int, expected: TargetState, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it was ever there. One that was there, and is not any more, has failed."""
    state = state_of(found := ledger())
    state.aborted = Person(by="ann")
    await looked(monkeypatch, state, attempt=attempt)
    assert place(found) is expected


async def test_after_a_reset_of_the_campaign_its_zones_say_again_what_they_wait_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each time that it is reset: at once, and not at every look after that."""
    state = state_of(found := ledger())
    for run, again in (("one", True), ("one", False), ("two", True), ("", False)):
        found.duplicate_sequences.clear()
        await looked(monkeypatch, state, answer=DescribedZones(run="own", reset_run=run))
        assert found.duplicate_sequences == (set(range(10)) if again else set())
        assert (state.asked_run, state.unasked) == ("own", [])
    assert state.sweeps == ["one", "two"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("", ("before", "own")), ("own", ()), ("reset since", ("own",))],
    ids=["before its first look", "after it", "reset after it"],
)
async def test_a_run_that_ends_before_its_first_look_has_the_next_one_ask(
    asked: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it came out of a reset: its zones may wait for something else than is known. A look that was
    made before the reset has asked about another run.
    """
    info = SimpleNamespace(run_id="own", first_execution_run_id="first", workflow_id="campaign/c")
    monkeypatch.setattr(workflow, "info", lambda: info)
    monkeypatch.setattr(workflow, "now", lambda: NOW)
    monkeypatch.setattr(workflow, "patched", lambda name: True)
    begun = CampaignState(campaign(), b"")
    begun.unasked = ["before"]
    monkeypatch.setattr(begun, "sweep_now", lambda: None)
    if asked:
        monkeypatch.setattr(batches, "DescribeZones", SimpleNamespace)
        looking = Batches(begun)

        async def work(activity: object, batch: Any, *_: object) -> DescribedZones:
            assert batch.unasked == ("before",)
            return DescribedZones(run=asked)

        monkeypatch.setattr(looking, "work", work)
        await looking.look_at([0])
    carried = begun.carried()
    assert carried.unasked == expected
    following = CampaignState(campaign().model_copy(update={"carried": carried}), carried.ledger)
    assert following.unasked == list(expected)


async def test_a_zone_that_is_found_in_a_later_attempt_is_soon_asked_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The campaign was reset to before it began that: it is taken up once."""
    state = state_of(found := ledger())
    state.told, state.told_below = {3}, 9
    for _ in range(2):
        await looked(monkeypatch, state, answer=DescribedZones(later=(LaterAttempt(index=3, attempt=2),)))
    assert found.attempts[3] == 2 and 3 not in found.recently_reported
    assert len(state.sweeps) == 1 and (state.told, state.told_below) == (set(), 0)
