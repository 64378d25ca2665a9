"""Every rule of esc holds for a well-run campaign, and every rule is broken by what would break it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgeshift.testbed.invariants import CheckerInput, check_rules
from edgeshift.testbed.invariants.digests import body_digest, body_fingerprint
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import (
    CampaignFacts,
    Execution,
    HeldZone,
    IntentFile,
    RateLimitFacts,
    Scan,
    Signature,
    SnapshotFile,
    StopRecord,
    Word,
    ZoneAtService,
)
from tests.rules.checker_kit import the

START = datetime(2023, 10, 2, tzinfo=UTC)
ONE, OWN, ACCOUNT, INSIDE = "a" * 32, "b" * 32, "c" * 32, "d" * 32
ON, OFF = {"always": False, "secret": True}, {"always": True, "secret": True}
NAMES = {ONE: "one.example", OWN: "own.example", ACCOUNT: "Retail", INSIDE: "in.example"}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def body(zone: str) -> dict[str, Any]:
    kind, covers = ("account", 1) if zone == ACCOUNT else ("zone", 1)
    probe = {"differences": [], "hosts": [NAMES[zone]]}
    change = {"always": True}
    return {"name": "disable_esc", "scope": kind, "covers": covers, "change": change, "probe": probe}


def request(seq: int, zone: str, call: str, **esc: Any) -> Request:
    method = {"esc.set": "POST", "esc.delete": "DELETE"}.get(call, "GET")
    facts: dict[str, Any] = {"status": 200, "effect": "none" if method == "GET" else "applied"}
    facts |= {
        key: esc.pop(key) for key in list(esc) if key in ("status", "effect", "service_time", "stranger")
    }
    detail = {"before": ON, "after": ON, "shown": ON, "zones": 1, **esc}
    return Request(seq=seq, time=at(seq), user="u", method=method, call=call, zone=zone, esc=detail, **facts)


def off(seq: int, zone: str, **more: Any) -> Request:
    return request(seq, zone, "esc.set", **({"asked": ["always"], "after": OFF} | more))


def shown_off(seq: int, zone: str) -> Request:
    return request(seq, zone, "esc.get", before=OFF, after=OFF, shown=OFF)


def well_run() -> CheckerInput:
    """One scope turned off, one with its own secret rolled back, one account whose zone is held."""
    secret = {"asked": ["with_secret"], "characters": 53, "before": {"always": False, "secret": False}}
    return CheckerInput(
        journal=(
            request(3, ONE, "esc.set", **secret),
            request(4, ONE, "esc.get"),
            off(10, ONE),
            shown_off(12, ONE),
            off(20, OWN),
            shown_off(22, OWN),
            request(24, OWN, "esc.delete", before=OFF, after=ON),
            request(25, OWN, "esc.get"),
            off(40, ACCOUNT),
            shown_off(41, ACCOUNT),
        ),
        campaigns=(
            CampaignFacts(
                name="c",
                area="esc",
                zones=frozenset({ONE, OWN, ACCOUNT}),
                window=1,
                valid_for=timedelta(days=14),
                migration_limit=timedelta(seconds=20),
            ),
        ),
        signatures=tuple(
            Signature(
                by="ada", choice="approve", digest=body_fingerprint(body(zone), zone, NAMES[zone]), at=at(5)
            )
            for zone in (ONE, OWN, ACCOUNT)
        ),
        intents=tuple(
            IntentFile(zone=zone, area="esc", step="commit", digest=body_digest(body(zone)), at=at(8))
            for zone in (ONE, OWN, ACCOUNT)
        ),
        bodies=tuple(body(zone) for zone in (ONE, OWN, ACCOUNT)),
        stops=(
            StopRecord(
                campaign="c", kind="pause", by="ada", asked_at=at(23), answered_at=at(23.5), resumed_at=at(30)
            ),
        ),
        snapshots=tuple(
            SnapshotFile(
                zone=zone, path="x", written_at=at(2), intact=True, holds=frozenset({"always", "secret"})
            )
            for zone in (ONE, OWN, ACCOUNT)
        ),
        scans=(Scan(place="log", size=10),),
        secrets=1,
        zones=(
            *(ZoneAtService(id=zone, name=NAMES[zone], plan="pro") for zone in (ONE, OWN)),
            ZoneAtService(id=INSIDE, name=NAMES[INSIDE], plan="pro", account=ACCOUNT),
            ZoneAtService(id=ACCOUNT, name=NAMES[ACCOUNT], plan="other", kind="account", account=ACCOUNT),
        ),
        holds=(HeldZone(zone=INSIDE, account=ACCOUNT, started_at=at(35), closed_at=at(45)),),
        rate_limit=RateLimitFacts(requests=20, window=timedelta(seconds=10)),
        targets={"c": (ONE, OWN, ACCOUNT)},
        executions=tuple(
            Execution(
                run=zone,
                campaign="c",
                zone=zone,
                area="esc",
                started_at=at(0),
                closed_at=at(50),
                outcome=outcome,
            )
            for zone, outcome in ((ONE, "settled"), (OWN, "rolled_back"), (ACCOUNT, "settled"))
        ),
    )


def changed(**what: Any) -> CheckerInput:
    return well_run().model_copy(update=what)


def with_requests(*more: Request, drop: tuple[int, ...] = ()) -> CheckerInput:
    kept = (one for one in well_run().journal if one.seq not in drop)
    return changed(journal=tuple(sorted((*kept, *more), key=lambda one: one.seq)))


UNKNOWN = off(10, ONE, status=502, effect="none", after=ON)

BROKEN: dict[str, tuple[int, Callable[[], CheckerInput], str]] = {
    "nobody signed": (1, lambda: changed(signatures=()), "0 of 1 approvers"),
    "no proposal": (1, lambda: changed(intents=()), "without a proposal"),
    "an account for more zones than were signed": (
        1,
        lambda: with_requests(off(40, ACCOUNT, zones=7), drop=(40,)),
        "for 7 zones; what was signed covers 1",
    ),
    "what was signed is of another scope": (
        1,
        lambda: changed(
            intents=(
                IntentFile(zone=ONE, area="esc", step="commit", digest=body_digest(body(ACCOUNT)), at=at(9)),
            )
        ),
        "of another kind of scope",
    ),
    "a call of another area": (
        1,
        lambda: with_requests(
            Request(
                seq=60, time=at(60), method="PUT", call="rulesets.put", zone=ONE, status=200, effect="applied"
            )
        ),
        "which is no campaign's",
    ),
    "turned off twice": (2, lambda: with_requests(off(14, ONE)), "turned off 2 times"),
    "sent again on a guess": (
        2,
        lambda: with_requests(UNKNOWN, off(11, ONE), drop=(10,)),
        "of unknown outcome was sent again",
    ),
    "a secret sent again on a guess": (
        2,
        lambda: with_requests(
            request(1, ONE, "esc.set", asked=["with_secret"], status=502, effect="none"), drop=()
        ),
        "a secret was sent again on a guess",
    ),
    "a customer's secret overwritten": (
        3,
        lambda: with_requests(request(19, OWN, "esc.set", asked=["with_secret"], characters=50)),
        "where somebody had one already",
    ),
    "a secret too long": (
        3,
        lambda: with_requests(
            request(
                2,
                ONE,
                "esc.set",
                asked=["with_secret"],
                characters=101,
                before={"always": False, "secret": False},
            )
        ),
        "a secret of 101 characters",
    ),
    "past the removal date": (
        4,
        lambda: with_requests(off(40, ACCOUNT, service_time=datetime(2024, 1, 1, tzinfo=UTC)), drop=(40,)),
        "past the removal date",
    ),
    "settled but on": (4, lambda: with_requests(drop=(10, 12)), "ended as settled, but esc is on"),
    "rolled back but off": (4, lambda: with_requests(drop=(24, 25)), "ended as rolled_back, but esc is off"),
    "a snapshot too late": (
        5,
        lambda: changed(
            snapshots=tuple(one.model_copy(update={"written_at": at(45)}) for one in well_run().snapshots)
        ),
        "before a snapshot was in the archive",
    ),
    "turned off while paused": (
        7,
        lambda: with_requests(off(27, ACCOUNT), drop=(40,)),
        "after the pause of c had answered",
    ),
    "an account counts all its zones": (
        8,
        lambda: with_requests(off(40, ACCOUNT, zones=2), drop=(40,)),
        "2 commits in flight",
    ),
    "an account without holds": (9, lambda: changed(holds=()), "while in.example was not held"),
    "a zone while its account holds it": (
        9,
        lambda: with_requests(off(41, INSIDE)),
        "while its account held it",
    ),
    "a change over an unsettled one": (
        9,
        lambda: with_requests(off(20, OWN, status=502, effect="applied"), drop=(20, 22)),
        "was not settled",
    ),
    "off in secret": (
        11,
        lambda: changed(
            executions=tuple(
                one.model_copy(update={"outcome": "aborted"}) if one.zone == ONE else one
                for one in well_run().executions
            )
        ),
        "esc was turned off and is off still",
    ),
    "never ended": (
        11,
        lambda: changed(
            executions=tuple(
                one.model_copy(update={"closed_at": None, "outcome": None}) for one in well_run().executions
            )
        ),
        "has not ended",
    ),
}


def test_a_well_run_campaign_keeps_every_rule() -> None:
    """Each rule but the twelfth, which asks keys, has cases in esc, and none is broken."""
    checks = check_rules(well_run())
    assert [check.rule for check in checks] == list(range(1, 12))
    assert [check.violations for check in checks] == [[]] * 11
    assert all(check.checked for check in checks)


@pytest.mark.parametrize("case", BROKEN)
def test_each_rule_can_be_broken(case: str) -> None:
    """What would break a rule is seen by its checker, and the scope is named."""
    rule, make, words = BROKEN[case]
    violations = the(rule, make()).violations
    assert any(words in violation for violation in violations), violations


def test_the_way_back_is_no_forward_step() -> None:
    """A roll-back while the campaign is paused breaks nothing; it is in the well-run campaign, too."""
    assert any(one.turns_on and 23.5 < one.seq < 30 for one in well_run().journal)
    assert the(7, well_run()).violations == []


def test_a_person_may_let_it_be_sent_again() -> None:
    """A retry by a person after an unknown outcome breaks nothing."""
    seen = with_requests(
        UNKNOWN, request(13, ONE, "esc.get"), off(14, ONE), shown_off(15, ONE), drop=(10, 12)
    )
    seen = seen.model_copy(update={"words": (Word(by="ada", at=at(13.5), zone=ONE),)})
    assert the(2, seen).violations == []


def test_what_a_stranger_does_is_not_held_against_a_campaign() -> None:
    """Somebody else turns the scope on again afterwards; the campaign's outcome stays right."""
    later = request(60, ONE, "esc.delete", before=OFF, after=ON, stranger=True)
    assert [check.violations for check in check_rules(with_requests(later))] == [[]] * 11
