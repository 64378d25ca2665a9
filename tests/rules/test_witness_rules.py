"""Every rule holds for a well-run campaign, and every rule is broken by what would break it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Plan, Zone
from edgeshift.testbed.invariants import RuleCheck, WitnessInput, check_rules
from edgeshift.testbed.invariants.digests import body_digest, body_fingerprint
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import (
    CampaignFacts,
    Execution,
    RateLimitFacts,
    Scan,
    Signature,
    SnapshotFile,
    StopRecord,
    TicketFile,
    Word,
    ZoneAtService,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
PRO, ENTERPRISE, BIG = "a" * 32, "b" * 32, "c" * 32
HOLDS = frozenset({"check", "status", "firewall_rules", "page_rules", "overrides", "packages", "groups"})
BEFORE = {"migration_state": "start", "visible_state": "start"}
AFTER = {"migration_state": "complete", "visible_state": "complete"}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def body(name: str) -> dict[str, Any]:
    expression = f'(http.host eq "{name}")'
    return {"name": "default", "rules": [{"action": "skip", "expression": expression, "enabled": True}]}


def request(seq: int, zone: str, call: str, **more: Any) -> Request:
    method = {"entrypoint.put": "PUT", "waf.overrides.delete": "DELETE"}.get(call, "GET")
    plan = "enterprise" if zone == ENTERPRISE else "pro"
    facts: dict[str, Any] = {
        "seq": seq,
        "time": at(seq),
        "user": "u",
        "method": method,
        "call": call,
        "zone": zone,
        "status": 200,
        "plan": plan,
        "state_before": BEFORE,
        "rules_to_migrate": 201 if zone == BIG else 3,
        "longest_expression_bytes": 40,
    }
    return Request(**facts | more)


def commit(seq: int, zone: str, name: str, **more: Any) -> Request:
    facts: dict[str, Any] = {
        "query": "waf_migration=pending&phase_two=1",
        "effect": "scheduled",
        "body_digest": body_digest(body(name)),
    }
    return request(seq, zone, "entrypoint.put", **facts | more)


def well_run() -> WitnessInput:
    """A campaign of three zones: one migrated, one migrated after its window, one a support case."""
    shared = body_fingerprint(body("one.example"), PRO, "one.example")
    return WitnessInput(
        journal=(
            request(1, PRO, "waf.status"),
            request(2, BIG, "firewall.rules.list"),
            request(3, ENTERPRISE, "entrypoint.put", query="waf_migration=2&phase_two=1", effect="applied"),
            request(4, ENTERPRISE, "waf.status"),
            commit(10, PRO, "one.example"),
            request(12, PRO, "waf.status", state_after=AFTER),
            commit(30, ENTERPRISE, "two.example"),
            request(32, ENTERPRISE, "waf.status", state_after=AFTER),
        ),
        campaigns=(
            CampaignFacts(
                name="c",
                zones=frozenset({PRO, ENTERPRISE, BIG}),
                window=1,
                valid_for=timedelta(days=14),
                migration_limit=timedelta(seconds=20),
            ),
        ),
        signatures=(
            Signature(by="ada", choice="approve", digest=shared, at=at(5)),
            Signature(by="ada", choice="reject", digest="0" * 64, at=at(5)),
        ),
        stops=(
            StopRecord(
                campaign="c", kind="pause", by="ada", asked_at=at(14), answered_at=at(15), resumed_at=at(20)
            ),
        ),
        snapshots=tuple(
            SnapshotFile(zone=zone, path="x", written_at=at(2), intact=True, holds=HOLDS)
            for zone in (PRO, ENTERPRISE)
        ),
        tickets=(TicketFile(zone=BIG, cause="too_many_rules", path="t"),),
        scans=(Scan(place="log", size=10),),
        secrets=1,
        zones=(
            ZoneAtService(
                id=PRO, name="one.example", plan="pro", migrated=True, bodies=(body("one.example"),)
            ),
            ZoneAtService(
                id=ENTERPRISE,
                name="two.example",
                plan="enterprise",
                migrated=True,
                bodies=(body("two.example"),),
            ),
            ZoneAtService(id=BIG, name="big.example", plan="pro", migrated=False),
        ),
        rate_limit=RateLimitFacts(requests=6, window=timedelta(seconds=10)),
        targets={"c": (PRO, ENTERPRISE, BIG)},
        executions=tuple(
            Execution(run=zone, campaign="c", zone=zone, started_at=at(0), closed_at=at(50), outcome=outcome)
            for zone, outcome in ((PRO, "migrated"), (ENTERPRISE, "migrated"), (BIG, "needs_support"))
        ),
    )


def with_requests(*more: Request) -> WitnessInput:
    good = well_run()
    return good.model_copy(update={"journal": (*good.journal, *more)})


def without(seq: int) -> tuple[Request, ...]:
    return tuple(request for request in well_run().journal if request.seq != seq)


def changed(**what: Any) -> WitnessInput:
    return well_run().model_copy(update=what)


def campaign(**what: Any) -> WitnessInput:
    return changed(campaigns=(well_run().campaigns[0].model_copy(update=what),))


def execution(place: int, **what: Any) -> WitnessInput:
    executions = list(well_run().executions)
    executions[place] = executions[place].model_copy(update=what)
    return changed(executions=tuple(executions))


def failed_while_it_migrates() -> WitnessInput:
    under_way = well_run().zones[0].model_copy(update={"migrated": False})
    return execution(0, outcome="failed").model_copy(update={"zones": (under_way, *well_run().zones[1:])})


def one_failed(**facts: Any) -> WitnessInput:
    """A zone fails after its commit, and another one is sent its own later. ``facts``: of the campaign, which
    allows no failure.
    """
    seen = campaign(**{"failures": 0, **facts})
    ended = well_run().executions[0].model_copy(update={"outcome": "failed", "closed_at": at(25)})
    return seen.model_copy(update={"executions": (ended, *well_run().executions[1:])})


def the(rule: int, seen: WitnessInput) -> RuleCheck:
    return next(check for check in check_rules(seen) if check.rule == rule)


UNKNOWN_FIRST = (*without(10), commit(8, PRO, "one.example", effect="none", status=502))
APPROVAL = well_run().signatures[0]
SNAPSHOTS = well_run().snapshots
OTHER = Execution(
    run="other", campaign="d", zone=PRO, started_at=at(49), closed_at=at(60), outcome="migrated"
)

BROKEN: dict[str, tuple[int, Callable[[], WitnessInput], str]] = {
    "nobody signed": (1, lambda: changed(signatures=()), "0 of 1 approvers"),
    "too few signed": (1, lambda: campaign(required=2), "1 of 2 approvers"),
    "one person twice is one": (
        1,
        lambda: campaign(required=2).model_copy(update={"signatures": (APPROVAL, APPROVAL)}),
        "1 of 2 approvers",
    ),
    "another body was sent": (
        1,
        lambda: changed(journal=(*without(10), commit(10, PRO, "x", body_digest="f" * 64))),
        "had signed ffffffffffff",
    ),
    "signed afterwards": (
        1,
        lambda: changed(signatures=(APPROVAL.model_copy(update={"at": at(40)}),)),
        "only after it was sent",
    ),
    "signed too long before": (1, lambda: campaign(valid_for=timedelta(seconds=2)), "too long before"),
    "signed for another zone": (
        1,
        lambda: changed(signatures=(APPROVAL.model_copy(update={"zone": BIG}),)),
        "0 of 1",
    ),
    "rejected": (
        1,
        lambda: changed(signatures=(APPROVAL, APPROVAL.model_copy(update={"choice": "reject"}))),
        "although ada had rejected it",
    ),
    "a log-only body": (
        1,
        lambda: changed(journal=(*without(10), commit(10, PRO, "one.example", log_only=True))),
        "only logs",
    ),
    "by the alias 1": (
        1,
        lambda: with_requests(commit(40, BIG, "x", query="waf_migration=1")),
        "big.example",
    ),
    "committed twice": (2, lambda: with_requests(commit(40, PRO, "one.example")), "committed 2 times"),
    "sent again after success": (
        2,
        lambda: with_requests(commit(40, PRO, "one.example", effect="none", status=400)),
        "after it had taken effect",
    ),
    "unknown, sent again": (
        2,
        lambda: changed(journal=(*UNKNOWN_FIRST, commit(40, PRO, "one.example"))),
        "of unknown outcome was sent again without a person's word",
    ),
    "unknown, sent again too soon": (
        2,
        lambda: campaign(resend_unchanged=1).model_copy(
            update={"journal": (*UNKNOWN_FIRST, commit(11, PRO, "one.example"))}
        ),
        "before a migration's time had passed",
    ),
    "refused, sent again": (
        2,
        lambda: changed(
            journal=(
                *without(10),
                commit(8, PRO, "one.example", effect="none", status=403),
                commit(40, PRO, "one.example"),
            )
        ),
        "was refused (403)",
    ),
    "validation after the commit": (
        2,
        lambda: with_requests(request(41, ENTERPRISE, "entrypoint.put", query="waf_migration=validation")),
        "validation was sent after the commit",
    ),
    "validation of a Professional zone": (
        3,
        lambda: with_requests(request(41, PRO, "entrypoint.put", query="waf_migration=2", status=403)),
        "plan pro",
    ),
    "a PUT over the limit": (
        4,
        lambda: with_requests(commit(41, BIG, "big.example", status=400, effect="none")),
        "while over a limit: too_many_rules",
    ),
    "no ticket": (4, lambda: changed(tickets=()), "0 open tickets"),
    "two tickets": (4, lambda: changed(tickets=well_run().tickets * 2), "2 open tickets"),
    "a snapshot too late": (
        5,
        lambda: changed(snapshots=tuple(one.model_copy(update={"written_at": at(11)}) for one in SNAPSHOTS)),
        "before a snapshot was in the archive",
    ),
    "a damaged snapshot": (
        5,
        lambda: changed(snapshots=tuple(one.model_copy(update={"intact": False}) for one in SNAPSHOTS)),
        "damaged snapshot",
    ),
    "a snapshot of half a zone": (
        5,
        lambda: changed(
            snapshots=tuple(one.model_copy(update={"holds": frozenset({"check"})}) for one in SNAPSHOTS)
        ),
        "lacks firewall_rules",
    ),
    "too fast": (
        6,
        lambda: with_requests(*(request(50 + n, PRO, "waf.status", time=at(60 + n)) for n in range(7))),
        "7 calls in 10 s",
    ),
    "refused by the limit": (
        6,
        lambda: with_requests(request(60, PRO, "waf.status", status=429)),
        "refused by the rate limit",
    ),
    "a commit while paused": (
        7,
        lambda: changed(journal=(*without(30), commit(17, ENTERPRISE, "two.example"))),
        "after the pause of c had answered",
    ),
    "an override deleted after abort": (
        7,
        lambda: changed(
            stops=(StopRecord(campaign="c", kind="abort", by="ada", asked_at=at(33), answered_at=at(34)),),
            journal=(*well_run().journal, request(45, BIG, "waf.overrides.delete")),
        ),
        "after the abort",
    ),
    "too many in flight": (
        8,
        lambda: changed(journal=(*without(30), commit(11, ENTERPRISE, "two.example"))),
        "2 commits in flight",
    ),
    "more failed than allowed": (
        8,
        lambda: one_failed(),
        "2 commits in flight or failed",
    ),
    "two live migrations": (
        9,
        lambda: changed(executions=(*well_run().executions, OTHER)),
        "two live migrations",
    ),
    "a change over an unsettled one": (
        9,
        lambda: changed(journal=without(4)[:3] + without(4)[5:]),
        "was not settled",
    ),
    "a leaked secret": (
        10,
        lambda: changed(scans=(Scan(place="worker.log", size=5, leaks=("token of ada",)),)),
        "worker.log: holds the secret of token of ada",
    ),
    "a blind search": (
        10,
        lambda: changed(scans=(Scan(place="db", size=5, sighted=False),)),
        "does not even see",
    ),
    "never started": (11, lambda: changed(executions=well_run().executions[1:]), "was never started"),
    "never ended": (11, lambda: execution(2, closed_at=None, outcome=None), "has not ended"),
    "terminated": (11, lambda: execution(2, outcome=None), "ended without an outcome"),
    "migrated in words only": (11, lambda: execution(2, outcome="migrated"), "has not migrated it"),
    "migrated unnoticed": (11, lambda: execution(0, outcome="failed"), "but the service has migrated it"),
    "failed while it migrates": (11, lambda: failed_while_it_migrates(), "a commit of it takes effect"),
    "migrated by somebody else": (11, lambda: changed(journal=without(10)), "after 0 commits"),
}


def test_a_well_run_campaign_keeps_every_rule() -> None:
    """Each of the eleven rules has cases, and none is broken."""
    checks = check_rules(well_run())
    assert [check.rule for check in checks] == list(range(1, 12))
    assert [check.violations for check in checks] == [[]] * 11
    assert all(check.checked for check in checks)


@pytest.mark.parametrize("case", BROKEN)
def test_each_rule_can_be_broken(case: str) -> None:
    """What would break a rule is seen by its witness, and the zone or place is named."""
    rule, make, words = BROKEN[case]
    violations = the(rule, make()).violations
    assert any(words in violation for violation in violations), violations


@pytest.mark.parametrize(
    "facts", [{"failures": 1}, {"failures": None}, {"accepted": (at(27),)}, {"window": 2}], ids=str
)
def test_failures_that_are_allowed_or_accepted_break_nothing(facts: dict[str, Any]) -> None:
    """Nor does what fits into the window together with what failed."""
    assert the(8, one_failed(**facts)).violations == []
    assert the(8, one_failed(accepted=(at(20),))).violations


def test_a_rule_with_nothing_checked_is_broken() -> None:
    """An empty scenario proves nothing, unless it says that it has no such case."""
    empty = WitnessInput(journal=(), campaigns=())
    assert all(check.violations == ["nothing was checked"] for check in check_rules(empty))
    assert not any(check.violations for check in check_rules(empty, absent=frozenset(range(1, 12))))


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
def test_the_witness_and_the_rules_agree_on_digests(name: str, text: str) -> None:
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
