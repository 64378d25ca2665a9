"""Every rule of log-fields holds for a well-run campaign, and every rule is broken by what would break it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgeshift.testbed.invariants import CheckerInput, check_rules
from edgeshift.testbed.invariants.digests import body_digest
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import (
    CampaignFacts,
    Execution,
    IntentFile,
    RateLimitFacts,
    RulesVersion,
    Scan,
    Signature,
    SnapshotFile,
    StopRecord,
    ZoneAtService,
)
from tests.rules.checker_kit import the

START = datetime(2026, 1, 1, tzinfo=UTC)
ZONE, SET = "a" * 32, "e" * 32
BODY: dict[str, Any] = {
    "name": "log_fields",
    "fields": {"request_headers": ["x-foo"], "response_headers": [], "cookies": ["Theme"]},
    "jobs": {"list": ["Cookies", "RequestHeaders"], "new": None},
}
DIGEST = body_digest(BODY)
JOB = {"id": 1, "enabled": True, "frequency": "high", "options": {"fields": "RayID", "timestamps": "unix"}}
LISTS = {"fields": "RayID,Cookies,RequestHeaders", "timestamps": "unix"}
AFTER = {**JOB, "options": LISTS}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def rule(ref: str, **arrays: list[str]) -> dict[str, Any]:
    parameters = {key: [{"name": name} for name in names] for key, names in arrays.items()}
    written = {"action": "log_custom_field", "expression": "true", "enabled": True}
    return {"id": ref, "ref": ref, **written, "description": ref, "action_parameters": parameters}


FOREIGN = rule("theirs", response_fields=["x-theirs"])
STRANGE = rule("strange", cookie_fields=["Stranger"])
OURS = rule("edgeshift-log-fields", request_fields=["x-foo"], cookie_fields=["Theme"])


def request(seq: int, call: str, **more: Any) -> Request:
    methods = {"rulesets.put": "PUT", "rulesets.create": "POST", "logpush.jobs.update": "PUT"}
    methods |= {"logpush.jobs.create": "POST", "logpush.ownership": "POST"}
    method = methods.get(call, "GET")
    facts: dict[str, Any] = {"status": 200, "effect": "none" if method == "GET" else "applied"}
    facts |= {"plan": "enterprise", "zone": ZONE, "user": "u", **more}
    return Request(seq=seq, time=at(seq), method=method, call=call, **facts)


def put(seq: int, version: int, *rules: dict[str, Any], **more: Any) -> Request:
    return request(
        seq, "rulesets.put", log_fields={"rules": list(rules), "ruleset": SET, "version": version}, **more
    )


def read(seq: int, version: int) -> Request:
    return request(seq, "rulesets.get", log_fields={"ruleset": SET, "version": version})


def job(seq: int, **more: Any) -> Request:
    sent = {"options": LISTS}
    return request(
        seq, "logpush.jobs.update", log_job={"id": 1, "sent": sent, "before": JOB, "after": AFTER} | more
    )


def versions(*contents: list[dict[str, Any]]) -> tuple[ZoneAtService, ...]:
    kept = tuple(
        RulesVersion(ruleset=SET, number=number, rules=tuple(rules))
        for number, rules in enumerate(contents, start=1)
    )
    jobs = ({"enabled": True, "options": LISTS},)
    return (ZoneAtService(id=ZONE, name="one.example", plan="enterprise", rules=kept, jobs=jobs),)


def well_run() -> CheckerInput:
    """A zone with somebody else's rule: ours beside it, and a job that lists what it needs."""
    return CheckerInput(
        journal=(
            read(3, 1),
            put(10, 2, FOREIGN, OURS),
            read(11, 2),
            request(12, "logpush.jobs.list"),
            job(13),
            request(14, "logpush.jobs.get"),
        ),
        campaigns=(
            CampaignFacts(
                name="c", area="log-fields", zones=frozenset({ZONE}), window=1, valid_for=timedelta(days=14)
            ),
        ),
        signatures=(Signature(by="ada", choice="approve", digest=DIGEST, at=at(5)),),
        intents=(IntentFile(zone=ZONE, area="log-fields", step="commit", digest=DIGEST, at=at(8)),),
        bodies=(BODY,),
        stops=(
            StopRecord(
                campaign="c", kind="pause", by="ada", asked_at=at(20), answered_at=at(21), resumed_at=at(30)
            ),
        ),
        snapshots=(
            SnapshotFile(
                zone=ZONE,
                path="x",
                written_at=at(2),
                intact=True,
                holds=frozenset({"plan", "rulesets", "jobs"}),
            ),
        ),
        scans=(Scan(place="log", size=10),),
        secrets=1,
        zones=versions([FOREIGN], [FOREIGN, OURS]),
        rate_limit=RateLimitFacts(requests=20, window=timedelta(seconds=10)),
        targets={"c": (ZONE,)},
        executions=(
            Execution(
                run="r",
                campaign="c",
                zone=ZONE,
                area="log-fields",
                started_at=at(0),
                closed_at=at(50),
                outcome="settled",
            ),
        ),
    )


def changed(**what: Any) -> CheckerInput:
    return well_run().model_copy(update=what)


def with_requests(*more: Request, drop: tuple[int, ...] = ()) -> CheckerInput:
    kept = (one for one in well_run().journal if one.seq not in drop)
    return changed(journal=tuple(sorted((*kept, *more), key=lambda one: one.seq)))


def ended(outcome: str) -> tuple[Execution, ...]:
    return (well_run().executions[0].model_copy(update={"outcome": outcome}),)


OVERWRITTEN = versions([FOREIGN], [FOREIGN, STRANGE], [FOREIGN, OURS])
FULL = rule("edgeshift-log-fields", request_fields=[f"x-{number}" for number in range(41)])
UPPER = rule("edgeshift-log-fields", request_fields=["X-Foo"])
MORE = rule("edgeshift-log-fields", request_fields=["x-foo", "x-more"])
OFF = {**MORE, "enabled": False}

NEW_BODY = {**BODY, "jobs": {**BODY["jobs"], "new": {"name": "edgeshift", "logpull_options": "fields=RayID"}}}
NEW_DIGEST = body_digest(NEW_BODY)
SIGNED_JOB: dict[str, Any] = {
    "bodies": (NEW_BODY,),
    "signatures": tuple(one.model_copy(update={"digest": NEW_DIGEST}) for one in well_run().signatures),
    "intents": tuple(one.model_copy(update={"digest": NEW_DIGEST}) for one in well_run().intents),
}


def turned_on(seq: int, listed: str = "RayID,ClientIP") -> Request:
    before = {**JOB, "id": 2, "enabled": False, "options": {"fields": listed}}
    return job(seq, id=2, sent={"enabled": True}, before=before, after={**before, "enabled": True})


BROKEN: dict[str, tuple[int, Callable[[], CheckerInput], str]] = {
    "nobody signed": (1, lambda: changed(signatures=()), "0 of 1 approvers"),
    "a field that nobody signed": (
        1,
        lambda: with_requests(put(10, 2, FOREIGN, MORE), drop=(10,)),
        "request_headers x-more was added",
    ),
    "a field that somebody had turned off": (
        1,
        lambda: with_requests(put(10, 2, FOREIGN, MORE), drop=(10,)).model_copy(
            update={"zones": versions([FOREIGN, OFF], [FOREIGN, MORE])}
        ),
        "request_headers x-more was added",
    ),
    "a log field of a job that nobody signed": (
        1,
        lambda: with_requests(
            job(13, sent={"options": {**LISTS, "fields": "RayID,Cookies,ResponseHeaders"}}), drop=(13,)
        ),
        "a job lists ResponseHeaders",
    ),
    "a job that nobody signed": (
        1,
        lambda: with_requests(request(15, "logpush.jobs.create", log_job={"sent": {}})),
        "has no new job",
    ),
    "a job turned on that nobody signed": (
        1,
        lambda: with_requests(turned_on(15)),
        "a log job was turned on",
    ),
    "a job turned on with log fields that nobody signed": (
        1,
        lambda: with_requests(turned_on(15)).model_copy(update=SIGNED_JOB),
        "turned on that lists ClientIP",
    ),
    "sent again on a guess": (
        2,
        lambda: with_requests(
            put(9, 2, FOREIGN, OURS, status=502, effect="none"),
        ),
        "was sent again on a guess",
    ),
    "somebody's write overwritten for good": (
        2,
        lambda: with_requests(put(10, 3, FOREIGN, OURS), drop=(10,)).model_copy(
            update={"zones": OVERWRITTEN}
        ),
        "overwritten and not put back",
    ),
    "a zone that is not Enterprise": (
        3,
        lambda: with_requests(
            job(
                13,
            ),
            request(15, "logpush.ownership", plan="pro"),
        ),
        "to a zone of plan pro",
    ),
    "forty-one fields": (
        4,
        lambda: with_requests(put(10, 2, FULL), drop=(10,)),
        "41 custom fields, 40 at most",
    ),
    "a name in upper case": (
        4,
        lambda: with_requests(put(10, 2, UPPER), drop=(10,)),
        "which is no name there",
    ),
    "a rule of somebody else lost": (
        4,
        lambda: changed(zones=versions([FOREIGN], [OURS])),
        "the rule theirs of somebody else",
    ),
    "an option of a job lost": (
        4,
        lambda: with_requests(job(13, sent={"options": {"fields": LISTS["fields"]}}), drop=(13,)),
        "other options of a log job",
    ),
    "a log field of a job lost": (
        4,
        lambda: with_requests(job(13, sent={"options": {**LISTS, "fields": "Cookies"}}), drop=(13,)),
        "other fields of a log job",
    ),
    "a job of somebody else turned off": (
        4,
        lambda: with_requests(job(13, sent={"enabled": False}), drop=(13,)),
        "enabled of a log job was changed",
    ),
    "a snapshot of half a zone": (
        5,
        lambda: changed(
            snapshots=(well_run().snapshots[0].model_copy(update={"holds": frozenset({"plan"})}),)
        ),
        "lacks jobs, rulesets",
    ),
    "a write while paused": (7, lambda: with_requests(job(25)), "after the pause of c had answered"),
    "a change over an unsettled one": (
        9,
        lambda: with_requests(put(10, 2, FOREIGN, OURS, status=None), drop=(10, 11, 12)),
        "was not settled",
    ),
    "settled in words only": (
        11,
        lambda: changed(zones=versions([FOREIGN], [FOREIGN])),
        "does not log the fields",
    ),
    "rolled back in words only": (
        11,
        lambda: changed(executions=ended("rolled_back")),
        "request_headers x-foo is still there",
    ),
}


def test_a_well_run_campaign_keeps_every_rule() -> None:
    """Each rule but the twelfth, which asks keys, has cases in log-fields, and none is broken."""
    checks = check_rules(well_run())
    assert [check.rule for check in checks] == list(range(1, 12))
    assert [check.violations for check in checks] == [[]] * 11
    assert all(check.checked for check in checks)


@pytest.mark.parametrize("case", BROKEN)
def test_each_rule_can_be_broken(case: str) -> None:
    """What would break a rule is seen by its checker, and the zone is named."""
    number, make, words = BROKEN[case]
    violations = the(number, make()).violations
    assert any(words in violation for violation in violations), violations


def test_a_write_over_a_gap_is_well_once_what_it_overwrote_is_back() -> None:
    """Version 2 was somebody else's, 3 ours without it, 4 has both: nothing is lost."""
    seen = with_requests(
        put(10, 3, FOREIGN, OURS), read(10, 3), put(11, 4, FOREIGN, STRANGE, OURS), read(12, 4), drop=(10, 11)
    ).model_copy(
        update={"zones": versions([FOREIGN], [FOREIGN, STRANGE], [FOREIGN, OURS], [FOREIGN, STRANGE, OURS])}
    )
    assert the(2, seen).violations == the(4, seen).violations == []


def test_a_job_of_an_earlier_campaign_may_be_turned_on_as_it_was_signed() -> None:
    """It lists what the new one would, and nothing else."""
    seen = with_requests(turned_on(15, "RayID,Cookies")).model_copy(update=SIGNED_JOB)
    assert the(1, seen).violations == []


def test_a_job_that_somebody_makes_after_the_last_write_need_not_list_anything() -> None:
    """Of a settled zone. One that was there does, and so does one that a campaign has made."""
    (zone,) = well_run().zones
    plain = {"id": 7, "enabled": True, "options": {"fields": "RayID"}}
    zones = (zone.model_copy(update={"jobs": (*zone.jobs, plain)}),)
    made = request(20, "logpush.jobs.create", stranger=True, log_job={"id": 7, "after": plain})
    on = request(
        20, "logpush.jobs.update", stranger=True, log_job={"id": 7, "after": plain, "before": {"id": 7}}
    )
    for later in (made, on):
        seen = with_requests(later).model_copy(update={"zones": zones})
        assert the(11, seen).violations == []
    for earlier in ((), (made.model_copy(update={"seq": 2}),)):
        seen = with_requests(*earlier).model_copy(update={"zones": zones})
        assert "a log job of it does not list" in the(11, seen).violations[0]


def test_what_somebody_takes_out_over_our_version_stays_out() -> None:
    """A stranger's write that carries our rule was built on ours: what it lacks, its writer took out."""
    seen = changed(zones=versions([FOREIGN], [FOREIGN, OURS], [OURS]))
    assert the(4, seen).violations == []


def test_taking_out_what_was_added_needs_no_sign_off_and_no_campaign_that_runs() -> None:
    """The rollback, while paused: the rule out, or off as it was before, and the job as it was."""
    back = request(25, "logpush.jobs.update", log_job={"id": 1, "sent": JOB, "before": AFTER, "after": JOB})
    for before in ([FOREIGN], [FOREIGN, OFF]):
        seen = with_requests(put(24, 3, *before), back).model_copy(
            update={
                "executions": ended("rolled_back"),
                "zones": versions(before, [FOREIGN, OURS], before),
            }
        )
        assert [check.violations for check in check_rules(seen)] == [[]] * 11
