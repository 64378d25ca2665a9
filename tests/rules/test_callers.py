"""Which of a campaign's targets call with which credential, and whom a hold of calls stops: by the rules
alone.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from edgeshift.campaign.callers import HIDDEN, MOST_CALLERS, TargetCallers, callers_of
from edgeshift.campaign.target_states import IN_FLIGHT, TargetState
from edgeshift.campaign_file.load import CampaignFileError, parse_campaign
from edgeshift.campaign_file.service import MOST_CREDENTIALS
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Caller, Callers, ReportKind, Step
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.rate_limit.breaker import Breaker, Fate
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble, held
from tests.rules.ledger_kit import HOUR, NOW, finished, ledger, report

ANN = Caller(credential="env:ANN", user="a")
BEN = Caller(credential="env:BEN", user="b")
BOB = Caller(credential="env:BOB", user="b")
TARGETS = [ANN, BEN, ANN, BOB, BEN, ANN]


def refused(credential: str) -> OpenCircuit:
    return held(Trouble.REFUSED, "401", datetime(2026, 3, 1, tzinfo=UTC), credential)


def outage(user: str) -> OpenCircuit:
    return held(Trouble.OUTAGE, "500", datetime(2026, 3, 1, tzinfo=UTC), user=user)


def stopped(*holds: OpenCircuit) -> list[int]:
    """The targets whose calls are stopped."""
    callers = TargetCallers(callers_of(TARGETS), len(TARGETS))
    hidden = callers.targets(callers.stopped(holds))
    return [index for index, byte in enumerate(hidden) if byte == HIDDEN]


def test_a_hold_stops_the_targets_of_its_credential_or_user_and_no_others() -> None:
    """An outage is about all of a user's credentials. What names nobody who is known is about everybody."""
    assert stopped() == []
    assert stopped(refused("env:ANN")) == [0, 2, 5]
    assert stopped(refused("env:BOB")) == [3]
    assert stopped(outage("b")) == [1, 3, 4]
    assert stopped(outage("b"), refused("env:ANN")) == [0, 1, 2, 3, 4, 5]
    for unknown in (outage(""), outage("nobody"), refused("env:NOBODY")):
        assert stopped(unknown) == [0, 1, 2, 3, 4, 5]


def test_where_all_call_with_one_credential_nothing_is_carried() -> None:
    """Such a campaign is as it was."""
    assert callers_of([ANN, ANN]) == callers_of([]) == Callers()
    callers = TargetCallers(Callers(), 2)
    assert not callers.several and callers.targets(callers.stopped([refused("env:ANN")])) == b""
    assert callers.left(frozenset(), bytes([TargetState.PENDING, TargetState.MIGRATED])) == 1


def test_as_many_credentials_as_a_campaign_may_have_are_told_apart() -> None:
    """A file with more is refused; one that an earlier version has archived is read, and treated as one."""
    assert MOST_CALLERS == MOST_CREDENTIALS
    many = [Caller(credential=f"env:T{number}", user="u") for number in range(MOST_CREDENTIALS)]
    assert len(callers_of(many).known) == MOST_CREDENTIALS
    tokens = [{"token": one.credential, "accounts": [f"{number:032x}"]} for number, one in enumerate(many)]
    campaign = {"name": "many", "targets": {"all": True}, "service": {"credentials": tokens}}
    assert len(parse_campaign(json.dumps(campaign)).service.credentials) == MOST_CREDENTIALS
    tokens.append({"token": "env:MORE", "accounts": ["f" * 32]})
    with pytest.raises(CampaignFileError, match=r"service\.credentials: has 256 items; .* at most 255"):
        parse_campaign(json.dumps(campaign))
    assert len(CampaignSpec.model_validate(campaign).service.credentials) == MOST_CREDENTIALS + 1


def test_credentials_of_other_targets_are_refused() -> None:
    """A number of theirs would be anybody's."""
    with pytest.raises(ValueError, match="7 targets"):
        TargetCallers(callers_of(TARGETS), 7)
    wrong = callers_of(TARGETS).model_copy(update={"known": (ANN, BEN)})
    with pytest.raises(ValueError, match="6 targets"):
        TargetCallers(wrong, 6)


def test_how_many_wait_is_counted_of_those_without_an_outcome() -> None:
    """By credential."""
    callers, found = TargetCallers(callers_of(TARGETS), len(TARGETS)), ledger(len(TARGETS))
    found.finish(2, ZoneOutcome.MIGRATED)
    found.places[0] = TargetState.AWAITING
    for hold, number in ((refused("env:ANN"), 2), (outage("b"), 3), (outage(""), 5)):
        assert callers.left(callers.stopped_by(hold), bytes(found.places)) == number


def test_targets_that_are_stopped_are_neither_begun_nor_granted_anything() -> None:
    """They are left out where it is asked who comes next."""
    callers, found = TargetCallers(callers_of(TARGETS), len(TARGETS)), ledger(len(TARGETS), begun=False)
    hidden = callers.targets(callers.stopped([refused("env:ANN")]))
    assert list(found.indexes(TargetState.PENDING, hidden=hidden)) == [1, 3, 4]
    assert list(found.indexes(TargetState.PENDING, first=2, end=4, hidden=hidden)) == [3]
    assert list(found.indexes(TargetState.PENDING)) == [0, 1, 2, 3, 4, 5]
    found.places[0] = found.places[3] = TargetState.READY
    assert list(found.indexes(TargetState.READY, hidden=hidden)) == [3]


def test_one_that_waits_gives_up_its_place_only_where_nothing_of_it_can_be_in_flight() -> None:
    """By its own word, while its calls are stopped, and while it holds no permit."""
    found = ledger(3)
    stops, others = bytes([HIDDEN, HIDDEN, 0]), bytes([0, 0, HIDDEN])
    hold = refused("env:ANN")
    assert found.set_down(stops) == 0
    for index, idle in ((0, True), (1, False), (2, True)):
        found.hear(report(1, ReportKind.SERVICE, index, hold=hold, idle=idle), NOW)
    assert found.zones(*IN_FLIGHT) == 3
    assert (found.set_down(stops), found.set_down(others), found.set_down(b"")) == (1, 1, 0)
    permit = found.permit(0, Step.COMMIT, "p", NOW + HOUR, lambda: 7)
    assert found.set_down(stops) == 0
    found.release(permit.number, 0)
    found.places[0] = TargetState.PERMITTED
    assert found.set_down(stops) == 1
    again = ledger(3)
    again.unpack(found.packed())
    assert again.set_down(stops) == 1
    found.hear(report(2, ReportKind.SERVICE, 0, hold=hold), NOW)
    assert found.set_down(stops) == 0
    found.hear(report(3, ReportKind.SERVICE, 0, hold=hold, idle=True), NOW)
    found.hear(finished(4, index=0), NOW)
    assert found.set_down(stops) == 0


def test_an_outage_names_the_user_and_a_refusal_the_credential() -> None:
    """So that one user's trouble is told from another's."""
    now = 0.0
    breaker = Breaker(1.0, lambda: now, "host/ann")
    hold = breaker.ended(Fate.REFUSED, "401", "env:A")
    assert hold is not None and (hold.credential, hold.user) == ("env:A", "")
    found = None
    for _ in range(20):
        now += 1.0
        found = found or breaker.ended(Fate.FAILED, "500", "env:B")
    assert found is not None and (found.credential, found.user) == ("", "host/ann")
