"""A user's quota by itself: what it begins with, and whose calls it takes for strangers'."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import workflow

from edgeshift.messages import LeaseRequest, QuotaStart
from edgeshift.rate_limit.others import Seen, Told
from edgeshift.rate_limit.slots import Lease
from edgeshift.rate_limit.terms import Lane, PaceTerms
from tests.rules.ledger_kit import NOW
from workflows.quota import Quota

TERMS = PaceTerms()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time that a quota is told."""
    told = SimpleNamespace(now=NOW)
    monkeypatch.setattr(workflow, "now", lambda: told.now)
    monkeypatch.setattr(workflow, "patched", lambda name: True)
    monkeypatch.setattr(workflow, "upsert_memo", lambda memo: None)
    return told


def leased(quota: Any, holder: str = "one", terms: PaceTerms = TERMS, seen: Seen | None = None) -> Lease:
    """What a process is given that asks for one slot."""
    found: Lease = quota.lease(LeaseRequest(holder=holder, want=1, lane=Lane.NORMAL, terms=terms, seen=seen))
    return found


def test_only_the_first_quota_of_a_user_hands_out_slots_at_once(clock: SimpleNamespace) -> None:
    """What another one has given before it was ended may be out for a block and a third."""
    assert leased(Quota(QuotaStart(user="u", terms=TERMS))).count == 1
    again = Quota(QuotaStart(user="u", terms=TERMS, again=True))
    waits = leased(again)
    assert waits.count == 0 and not waits.closed
    assert 0.3 * TERMS.block_length < waits.first_in < 1.5 * TERMS.block_length
    clock.now += timedelta(seconds=waits.first_in)
    assert leased(again).count == 1


@pytest.mark.parametrize(
    ("holder", "terms"),
    [("two", TERMS), ("one", PaceTerms(people=0.1)), ("two", PaceTerms(people=0.1))],
    ids=["two processes", "other terms", "both"],
)
def test_calls_by_other_terms_are_no_strangers(clock: SimpleNamespace, holder: str, terms: PaceTerms) -> None:
    """Two pacers have made half each of what is used, of two processes, or of one."""
    quota = Quota(QuotaStart(user="u", terms=TERMS))
    told = Told(limit=1200, window=300.0, remaining=600, reset=150.0)
    for who, by in (("one", TERMS), (holder, terms)):
        kept = leased(quota, who, by, Seen(told=told, own=300, ago=0.1)).keep
        clock.now += timedelta(seconds=1)
    assert kept >= 0.98
