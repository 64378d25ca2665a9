"""Every rule holds for a well-run campaign, and every rule is broken by what would break it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from edgeshift.testbed.invariants import CheckerInput, check_rules
from edgeshift.testbed.invariants.digests import body_digest, body_fingerprint
from edgeshift.testbed.invariants.seen import Execution, Scan, Signature, StopRecord, Word
from tests.rules.checker_kit import (
    BIG,
    ENTERPRISE,
    PRO,
    UNKNOWN_FIRST,
    at,
    body,
    campaign,
    changed,
    commit,
    execution,
    failed_while_it_migrates,
    one_failed,
    request,
    the,
    well_run,
    with_requests,
    without,
)

APPROVAL = well_run().signatures[0]
SNAPSHOTS = well_run().snapshots

OTHER = Execution(
    run="other", campaign="d", zone=PRO, started_at=at(49), closed_at=at(60), outcome="migrated"
)


def signed(second: float, choice: str = "approve") -> Signature:
    return APPROVAL.model_copy(update={"at": at(second), "choice": choice})


def reopened(second: float, zone: str = PRO) -> Word:
    return Word(by="ada", at=at(second), zone=zone, reopens=True)


BROKEN: dict[str, tuple[int, Callable[[], CheckerInput], str]] = {
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
    "approved between a rejection and its reopening": (
        1,
        lambda: changed(signatures=(signed(2, "reject"), signed(4)), words=(reopened(6),)),
        "0 of 1 approvers",
    ),
    "approved before a rejection that was reopened": (
        1,
        lambda: changed(signatures=(signed(2), signed(4, "reject")), words=(reopened(6),)),
        "0 of 1 approvers",
    ),
    "rejected once more after its reopening": (
        1,
        lambda: changed(
            signatures=(signed(2, "reject"), signed(7), signed(8, "reject")), words=(reopened(6),)
        ),
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
    """Each rule but the twelfth, which asks keys, has cases, and none is broken."""
    checks = check_rules(well_run())
    assert [check.rule for check in checks] == list(range(1, 12))
    assert [check.violations for check in checks] == [[]] * 11
    assert all(check.checked for check in checks)


@pytest.mark.parametrize("case", BROKEN)
def test_each_rule_can_be_broken(case: str) -> None:
    """What would break a rule is seen by its checker, and the zone or place is named."""
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


def test_the_end_of_a_pause_accepts_no_failure() -> None:
    """Whoever paused the campaign has it go on, and says nothing of what failed meanwhile."""
    seen = one_failed()
    paused = StopRecord(
        campaign="c", kind="pause", by="ada", asked_at=at(26), answered_at=at(26.5), resumed_at=at(27)
    )
    assert the(8, seen.model_copy(update={"stops": (paused,)})).violations


def test_what_is_signed_after_a_reopening_counts() -> None:
    """A rejection, its reopening, an approval: agreed. A reopening of what nobody rejected voids nothing."""
    # The other zone shares the fingerprint; it was never rejected by itself, so the decisions are the zone's.
    own = [one.model_copy(update={"zone": PRO}) for one in (signed(2, "reject"), signed(4), signed(7))]
    shared = APPROVAL.model_copy(update={"zone": ENTERPRISE})
    assert the(1, changed(signatures=(*own, shared), words=(reopened(6),))).violations == []
    assert the(1, changed(signatures=(signed(2),), words=(reopened(6),))).violations == []


@pytest.mark.parametrize("version", ["latest", "57"])
def test_a_version_that_the_service_gave_hides_no_signature(version: str) -> None:
    """What was sent is known by the stored body, which may name versions of managed rulesets beside."""
    sent = body("one.example")
    sent["rules"].append({"action": "execute", "expression": "true", "action_parameters": {"id": "e" * 32}})
    stored = copy.deepcopy(sent)
    stored["rules"][1]["action_parameters"]["version"] = version
    shared = APPROVAL.model_copy(update={"digest": body_fingerprint(sent, PRO, "one.example")})
    zone = well_run().zones[0].model_copy(update={"bodies": (stored,)})
    seen = changed(
        journal=(commit(10, PRO, "one.example", body_digest=body_digest(sent)),),
        signatures=(shared,),
        zones=(zone, *well_run().zones[1:]),
    )
    assert the(1, seen).violations == []
    assert the(1, seen.model_copy(update={"signatures": (APPROVAL,)})).violations


def test_a_rule_with_nothing_checked_is_broken() -> None:
    """An empty scenario proves nothing, unless it says that it has no such case."""
    empty = CheckerInput(journal=(), campaigns=())
    assert all(check.violations == ["nothing was checked"] for check in check_rules(empty))
    assert not any(check.violations for check in check_rules(empty, absent=frozenset(range(1, 12))))
