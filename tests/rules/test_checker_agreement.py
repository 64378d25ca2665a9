"""What is no breach of a rule: what a person allowed, what another campaign has, what had no effect. And the
checker's digests are those of the rules.
"""

from __future__ import annotations

import pytest

from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Plan, Zone
from edgeshift.testbed.invariants import check_rules
from edgeshift.testbed.invariants.digests import body_digest, body_fingerprint
from edgeshift.testbed.invariants.seen import CampaignFacts, Execution, StopRecord, Word
from tests.rules.checker_kit import (
    ENTERPRISE,
    PRO,
    UNKNOWN_FIRST,
    at,
    changed,
    commit,
    request,
    the,
    well_run,
    with_requests,
    without,
)


def test_a_person_may_let_an_unknown_commit_be_sent_again() -> None:
    """A retry by a person, after which it is sent once more, breaks nothing."""
    seen = changed(
        journal=(*UNKNOWN_FIRST, request(9, PRO, "waf.status"), commit(13, PRO, "one.example")),
        words=(Word(by="ada", at=at(12), zone=PRO),),
    )
    assert the(2, seen).violations == []
    assert the(9, seen).violations == []


def test_a_commit_refused_with_429_may_be_sent_again() -> None:
    """429 proves that nothing happened."""
    refused = commit(8, PRO, "one.example", effect="none", status=429, fault="rate_limit:before")
    seen = with_requests(refused)
    assert the(2, seen).violations == []
    assert the(6, seen).violations == []


def test_a_zone_that_another_campaign_has_is_not_counted_against_this_one() -> None:
    """After c is aborted, d may go on with a zone that c had."""
    executions = (
        *well_run().executions[:1],
        well_run().executions[1].model_copy(update={"closed_at": at(14)}),
        well_run().executions[2],
        Execution(
            run="later",
            campaign="d",
            zone=ENTERPRISE,
            started_at=at(16),
            closed_at=at(50),
            outcome="migrated",
        ),
    )
    stop = StopRecord(campaign="c", kind="abort", by="ada", asked_at=at(14), answered_at=at(15))
    other = CampaignFacts(name="d", zones=frozenset({ENTERPRISE}), window=1)
    seen = changed(executions=executions, stops=(stop,), campaigns=(*well_run().campaigns, other))
    assert the(7, seen).violations == []
    assert the(7, changed(stops=(stop,))).violations


@pytest.mark.parametrize("name", ["shop.example", "a.b", "xn--bcher-kva.example"])
@pytest.mark.parametrize(
    "text",
    [
        '(http.host eq "{name}")',
        'http.host wildcard "*.{name}" and not (http.host eq "my{name}")',
        "{name} {name}.org www.{name}. {NAME} {name}-x _{name} {id} x{id}y",
        "Ä{name} {name}. {name}.. .{name}",
    ],
)
def test_the_checker_and_the_rules_agree_on_digests(name: str, text: str) -> None:
    """Two separate computations give the same, whatever stands around the zone's name."""
    filled = text.format(name=name, NAME=name.upper(), id=PRO)
    sent = {
        "name": "default",
        "rules": [
            {"id": "1", "action": "skip", "expression": filled, "action_parameters": {"id": "x"}},
        ],
    }
    zone = Zone(id=PRO, name=name, account="d" * 32, plan=Plan.PRO)
    assert body_digest(sent) == digest(sent)
    assert body_fingerprint(sent, PRO, name) == fingerprint(sent, zone)


def test_a_commit_that_was_refused_for_its_credential_may_be_sent_again() -> None:
    """The service knew nobody by it: nothing happened, and nothing is wrong with the zone."""
    door = commit(8, PRO, "one.example", effect="none", status=403, user=None)
    seen = changed(journal=(*without(10), door, commit(40, PRO, "one.example")))
    (check,) = [check for check in check_rules(seen) if check.rule == 2]
    assert not check.violations
