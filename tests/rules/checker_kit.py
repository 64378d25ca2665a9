"""A campaign that went well, as the checker sees it, and what may be changed in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.testbed.invariants import CheckerInput, RuleCheck, check_rules
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


def well_run() -> CheckerInput:
    """A campaign of three zones: one migrated, one migrated after its window, one a support case."""
    shared = body_fingerprint(body("one.example"), PRO, "one.example")
    return CheckerInput(
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


def with_requests(*more: Request) -> CheckerInput:
    good = well_run()
    return good.model_copy(update={"journal": (*good.journal, *more)})


def without(seq: int) -> tuple[Request, ...]:
    return tuple(request for request in well_run().journal if request.seq != seq)


def changed(**what: Any) -> CheckerInput:
    return well_run().model_copy(update=what)


def campaign(**what: Any) -> CheckerInput:
    return changed(campaigns=(well_run().campaigns[0].model_copy(update=what),))


def execution(place: int, **what: Any) -> CheckerInput:
    executions = list(well_run().executions)
    executions[place] = executions[place].model_copy(update=what)
    return changed(executions=tuple(executions))


def failed_while_it_migrates() -> CheckerInput:
    under_way = well_run().zones[0].model_copy(update={"migrated": False})
    return execution(0, outcome="failed").model_copy(update={"zones": (under_way, *well_run().zones[1:])})


def one_failed(**facts: Any) -> CheckerInput:
    """A zone fails after its commit, and another one is sent its own later. ``facts``: of the campaign, which
    allows no failure.
    """
    seen = campaign(**{"failures": 0, **facts})
    ended = well_run().executions[0].model_copy(update={"outcome": "failed", "closed_at": at(25)})
    return seen.model_copy(update={"executions": (ended, *well_run().executions[1:])})


def the(rule: int, seen: CheckerInput) -> RuleCheck:
    return next(check for check in check_rules(seen) if check.rule == rule)


UNKNOWN_FIRST = (*without(10), commit(8, PRO, "one.example", effect="none", status=502))
