"""What a campaign and a quota hand to their next runs stays small, whatever the messages that they are sent:
the server ends a workflow whose input is over 2 MB, and fails its task for good where it is over 4 MB.
"""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import workflow
from temporalio.exceptions import ApplicationError

from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import (
    HELD,
    Again,
    CampaignSignOff,
    CampaignStart,
    HoldCalls,
    LeaseRequest,
    QuotaStart,
    ReportKind,
    ZoneReport,
)
from edgeshift.model.fleet import REOPENABLE, Wave, ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Choice
from edgeshift.rate_limit.circuit import (
    MOST_HELD_BYTES,
    Circuit,
    OpenCircuit,
    Standing,
    Trouble,
    closed,
    opened,
)
from edgeshift.rate_limit.others import Seen, Told
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.rules.ledger_kit import NOW, SHAPE, awaiting
from tests.rules.test_looked_at_meanwhile import campaign
from workflows.campaign.batches import Batches
from workflows.campaign.decisions import Decisions
from workflows.campaign.ends import Ends
from workflows.campaign.state import CampaignState
from workflows.campaign.steering import Steering
from workflows.quota import Quota

MOST_CARRIED = 1_000_000
"""Bytes that a campaign, or a quota, may hand on: half of what the server takes."""

COUNT = 400

WORST = "\x01"
"""A character that takes six bytes in JSON."""


def worst_hold(number: int) -> OpenCircuit:
    """A hold of a credential of its own, as long as a message may have it."""
    hold = OpenCircuit(
        trouble=Trouble.REFUSED,
        said=WORST * 160,
        credential=f"{number:05}{WORST * 4995}",
        since=NOW,
        user=WORST * 5000,
    )
    return HoldCalls.model_validate_json(HoldCalls(hold=hold, now=True).model_dump_json()).hold


def worst_end(index: int) -> ZoneReport:
    """The longest word that a zone has ended."""
    found = ZoneReport(
        campaign_run="r",
        index=index,
        attempt=1,
        sequence=9,
        kind=ReportKind.FINISHED,
        outcome=ZoneOutcome.ON_HOLD,
        reason=WORST * 4000,
        codes=(max(ReasonCode, key=len), ReasonCode.SIGN_OFF_NOT_COUNTED) * 500,
        digest=WORST * 300,
        fingerprint=WORST * 300,
        hold=worst_hold(index),
    )
    return ZoneReport.model_validate_json(found.model_dump_json())


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> CampaignState:
    """A campaign's memory in which every zone waits for a sign-off, and the archive takes nothing."""
    info = SimpleNamespace(first_execution_run_id="r", run_id="r")
    monkeypatch.setattr(workflow, "now", lambda: NOW)
    monkeypatch.setattr(workflow, "info", lambda: info)
    monkeypatch.setattr(workflow, "patched", lambda name: True)
    waves = (Wave(number=0, name="all", first=0, end=COUNT),)
    found = CampaignState(campaign().model_copy(update={"count": COUNT, "waves": waves}), b"")
    for index in range(COUNT):
        found.ledger.begin(index)
        found.ledger.hear(awaiting(index=index), NOW)
    return found


def size_of(start: CampaignStart, state: CampaignState) -> int:
    """Bytes of all that the next run is given."""
    carried = state.carried()
    assert carried.ledger
    onward = start.model_copy(update={"carried": carried})
    return sum(
        len(one) if isinstance(one, bytes) else len(one.model_dump_json()) for one in onward.arguments()
    )


def test_words_that_zones_have_ended_are_kept_without_their_texts(state: CampaignState) -> None:
    """Of the longest ones there are, from every zone; what is used of them is there."""
    ends = Ends(state, Batches(state))
    for index in range(COUNT):
        assert ends.hear(worst_end(index))
    assert size_of(state.start, state) < MOST_CARRIED / 4
    word = state.carried().ended[0]
    assert word.codes == (ReasonCode.SIGN_OFF_NOT_COUNTED,) and word.outcome is ZoneOutcome.ON_HOLD


def test_a_campaign_keeps_no_more_holds_than_it_has_room_for(state: CampaignState) -> None:
    """Whatever zones are said to have met."""
    for number in range(100):
        Batches(state).hear_hold(worst_hold(number))
    assert state.calls.holds and size_of(state.start, state) < MOST_CARRIED / 4


@pytest.mark.parametrize("reason", ["r" * 500, WORST * 500])
def test_decisions_that_the_archive_does_not_take_are_refused_before_they_are_too_many(
    state: CampaignState, reason: str
) -> None:
    """One fingerprint each, with a reason as long as may be."""
    decisions, taken = Decisions(state), 0
    with pytest.raises(ApplicationError, match=r"has not taken [0-9,]+ earlier decisions yet"):
        for number in range(5_000):
            choice = Choice.REJECT if number % 2 else Choice.APPROVE
            message = CampaignSignOff(choice=choice, fingerprints=(SHAPE,), by="b" * 200, reason=reason)
            decisions.refuse(message)
            decisions.take(message)
            taken += 1
    assert taken >= 50 and size_of(state.start, state) < MOST_CARRIED


def test_reopenings_that_the_archive_does_not_take_are_refused_before_they_are_too_many(
    state: CampaignState,
) -> None:
    """One zone each, with a reason as long as may be. A retry needs nothing of the archive."""
    steering = Steering(state, Batches(state))
    for index in range(COUNT - 1):
        state.ledger.finish(index, ZoneOutcome.REJECTED)
    with pytest.raises(ApplicationError, match=r"has not taken [0-9,]+ earlier decisions yet"):
        for index in range(COUNT):
            message = Again(by="ann", reason=WORST * 500, indexes=(index,))
            steering.refuse_again(message, REOPENABLE)
            steering.begin_again(message, REOPENABLE)
    assert size_of(state.start, state) < MOST_CARRIED
    state.ledger.places[COUNT - 1] = TargetState.FAILED
    steering.refuse_again(Again(by="ann", indexes=(COUNT - 1,)), frozenset({ZoneOutcome.FAILED}))


def test_the_holds_of_a_user_are_bounded_by_what_they_take_together() -> None:
    """Those that are held, and those that were and may not be held again by older news."""
    circuit = Circuit()
    for number in range(100):
        circuit = opened(circuit, worst_hold(number), NOW.timestamp(), 60.0)
    assert len(circuit.holds) >= 1 and len(circuit.model_dump_json()) < 1.5 * MOST_HELD_BYTES
    outage = worst_hold(0).model_copy(update={"trouble": Trouble.OUTAGE, "credential": ""})
    assert "" in opened(circuit, outage, NOW.timestamp(), 60.0).holds
    for number in range(100):
        circuit = opened(circuit, worst_hold(number), NOW.timestamp() + number, 60.0)
        circuit = closed(circuit, tuple(circuit.holds), NOW.timestamp() + number)
    assert circuit.fixed and len(circuit.model_dump_json()) < 1.5 * MOST_HELD_BYTES


def test_a_quota_hands_on_no_more_than_it_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of holders with the longest names, beside as many holds as there is room for."""
    clock = SimpleNamespace(now=NOW)
    monkeypatch.setattr(workflow, "now", lambda: clock.now)
    monkeypatch.setattr(workflow, "patched", lambda name: True)
    published = list[Standing]()
    monkeypatch.setattr(workflow, "upsert_memo", lambda memo: published.append(memo[HELD]))
    terms = PaceTerms(limit=1200, window=300)
    quota: Any = Quota(QuotaStart(user="u", terms=terms))
    for number in range(10):
        quota.hold(HoldCalls(hold=worst_hold(number), now=True))
    assert published[-1].holds and len(published[-1].model_dump_json()) < MOST_CARRIED
    assert published[-1].holds[-1].credential == worst_hold(9).credential, "the last one has room"
    seen = Seen(told=Told(limit=1200, window=300.0, remaining=1000, reset=100.0), own=1, ago=0.0)
    for number in range(1_000):
        clock.now = NOW + timedelta(seconds=number / 50)
        asked = LeaseRequest(
            holder=f"{number:05}{WORST * 295}", want=1, lane=Lane.NORMAL, terms=terms, seen=seen
        )
        found = quota.lease(asked)
    assert len(found.model_dump_json()) < MOST_CARRIED / 4
    onward = QuotaStart(user="u", terms=terms, book=quota._book, circuit=quota._circuit, others=quota._others)
    assert len(quota._others.reports) > 100 and len(onward.model_dump_json()) < MOST_CARRIED
