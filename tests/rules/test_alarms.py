"""Alarms: what asks for a person, by which code; each code has its entry in the runbook, and no other."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edgeshift.alarms import (
    KINDS,
    CampaignFact,
    CheckFact,
    Facts,
    QuotaFact,
    Severity,
    StuckFact,
    ZoneFact,
    alarms_of,
    codes_of,
)
from edgeshift.areas import esc, waf
from edgeshift.areas.log_fields.reading import Reading as LogReading
from edgeshift.areas.log_fields.reading import assess as assess_log_fields
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.messages import CampaignSummary
from edgeshift.model.fleet import Area, Plan, Zone, ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from tests.runbook import ENTRIES, ROOT

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DIGEST = "ab" * 32


def zone(place: str, reason: str = "", **more: object) -> ZoneFact:
    """A zone at a place."""
    return ZoneFact.model_validate(
        {"name": "a.example", "area": "waf", "place": place, "reason": reason, **more}
    )


def summary(state: str = "running", notes: tuple[str, ...] = (), permits_out: int = 0) -> CampaignSummary:
    """A campaign's own word."""
    return CampaignSummary(
        name="autumn",
        area=Area.WAF,
        state=state,
        why="by ada: freeze",
        started_by="olga",
        started_at=NOW - timedelta(days=3),
        now=NOW,
        time_scale=1,
        count=3,
        wave=0,
        waves=[],
        places={},
        permits_out=permits_out,
        waiting=[],
        book=[],
        notes=list(notes),
        targets=DIGEST,
        spec=DIGEST,
    )


def codes(*zones: ZoneFact, **campaign: object) -> list[str]:
    """The codes of a campaign's alarms."""
    given = {"name": "autumn", "summary": summary(), "zones": zones, **campaign}
    fact = CampaignFact.model_validate(given)
    return [alarm.code for alarm in alarms_of(Facts(now=NOW, campaigns=(fact,)))]


def test_the_runbook_has_an_entry_for_each_alarm_and_no_other() -> None:
    """Codes and headings are the same, in the same order; each says what it means, and when it is over."""
    assert [entry.code for entry in ENTRIES] == list(KINDS)
    for entry in ENTRIES:
        assert entry.text.startswith(f"*{KINDS[entry.code].severity.value.capitalize()}.* "), entry.code
        assert "**Look at.**" in entry.text and "**Do.**" in entry.text and "**Over** when" in entry.text


@pytest.mark.parametrize("code", KINDS)
def test_an_alarm_and_its_entry_have_the_same_commands(code: str) -> None:
    """Whoever reads the alarm and whoever reads the page are told the same, in the same order."""
    (entry,) = [entry for entry in ENTRIES if entry.code == code]
    assert entry.commands == [*KINDS[code].look_at, *KINDS[code].do]


def test_every_outcome_that_is_not_final_is_an_alarm() -> None:
    """Whatever its reason says; outcomes that are done are none, and neither is a zone that works."""
    done = {"migrated", "already_migrated", "settled", "already_settled"}
    for outcome in ZoneOutcome:
        for area in Area:
            found = codes_of(outcome.value, "words that nobody knows", area)
            assert bool(found) is (outcome.value not in done), outcome
            assert set(found) <= set(KINDS)
    for place in ("pending", "working", "waiting", "ready", "permitted", "rejecting"):
        assert not codes_of(place, "", Area.WAF)
    assert codes_of("excluded", "already in campaign/main", Area.WAF) == ("excluded",)
    assert codes_of("terminated", "", Area.ESC) == ("zone-ended",)


def test_reasons_as_the_rules_give_them_are_understood() -> None:
    """Those of readings, out of the very rules that say them."""
    rule = {"id": "r", "action": "bypass", "products": ["waf"], "filter": {"expression": "x" * 5000}}
    long = waf.assess(waf.Reading(check={"compatible": True}, firewall_rules=[rule] * 201))
    assert codes_of("support", "; ".join(long.reasons), Area.WAF) == (
        "support-too-many-rules",
        "support-long-expression",
    )
    blocked = waf.assess(waf.Reading(check={"compatible": True}, overrides=[{"id": "o"}]))
    assert codes_of("blocked", "; ".join(blocked.reasons), Area.WAF) == ("blocked-overrides",)
    odd = waf.assess(waf.Reading(check={"compatible": False}))
    assert codes_of("blocked", "; ".join(odd.reasons), Area.WAF) == ("blocked-not-compatible",)
    empty = waf.assess(waf.Reading(check={"compatible": True}, config={"rules": []}))
    assert codes_of("blocked", "; ".join(empty.reasons), Area.WAF) == ("blocked-log-only",)
    other = waf.assess(waf.Reading(check={"compatible": True}, plan="pro"))
    assert codes_of("blocked", "; ".join(other.reasons), Area.WAF) == ("blocked-plan",)
    refused = waf.assess(waf.Reading(check={}, refused=(ReasonCode.SUPPORT_REFUSAL, "call us")))
    assert codes_of("support", "; ".join(refused.reasons), Area.WAF) == ("support-refusal",)
    gone = esc.assess(esc.Reading(), datetime(2024, 1, 2, tzinfo=UTC))
    assert codes_of("blocked", "; ".join(gone.reasons), Area.ESC) == ("blocked-removal-date",)


def log_reasons(reading: LogReading, *names: str) -> str:
    """Why the rules of log-fields would not have a zone."""
    target = Zone(id="0" * 32, name="a.example", account="1" * 32, plan=reading.plan)
    found = assess_log_fields(reading, target, FieldSet(request_headers=names or ("x-a",)), None)
    return "; ".join(found.reasons)


def test_reasons_of_log_fields_are_understood() -> None:
    """Plan, number of fields, jobs, other people's rules."""
    job = {"id": 7, "enabled": True, "dataset": "http_requests", "logpull_options": "fields=RayID"}
    good = LogReading(plan=Plan.ENTERPRISE, jobs=[job])

    def found(reading: LogReading, *names: str) -> tuple[str, ...]:
        return codes_of("blocked", log_reasons(reading, *names), Area.LOG_FIELDS)

    assert found(LogReading(plan=Plan.PRO)) == ("blocked-plan",)
    assert found(good, *(f"x-{number}" for number in range(41)))[0] == "blocked-fields"
    assert found(good.model_copy(update={"jobs": []})) == ("blocked-log-job",)
    twice = [{**job, "logpull_options": "fields=RayID&fields=Cookies"}]
    assert found(good.model_copy(update={"jobs": twice})) == ("blocked-log-job",)
    theirs = {"id": "r", "action": "skip"}
    assert found(good.model_copy(update={"ruleset": {"rules": [theirs]}})) == ("blocked-rules",)


@pytest.mark.parametrize(
    ("place", "reason", "code"),
    [
        ("failed", "the service refused it: entrypoint.put: 400: [1004] no", "failed-refused"),
        ("failed", "deleting the URI overrides was refused: 403", "failed-refused"),
        ("failed", "the service refused the test secret: esc.secret: 400: [1004] no", "failed-refused"),
        ("failed", "given up after 20 tries: the permit ran out before it began", "failed-tries"),
        ("failed", "migrated, but the stored rules differ from the signed body", "failed-differs"),
        ("failed", "it got worse; and it could not be rolled back: 500; a person has to", "failed-way-back"),
        ("failed", "waf.check: 401: [1000] Invalid API Token (GET /zones)", "failed-credential"),
        ("failed", "waf.check: 403: [9109] Unauthorized", "failed-credential"),
        ("failed", "NotFound: waf.check: 404: [7003] not found (GET /zones)", "failed-credential"),
        ("failed", "SecretUnresolved: file:/run/token: there is no such file", "failed-credential"),
        ("failed", "waf.check: 400: [6111] Invalid format", "failed-credential"),
        ("failed", "env:TOKEN: the variable TOKEN is not set", "failed-credential"),
        (
            "failed",
            f"/archive: object {DIGEST} is damaged: its bytes",
            "failed-archive",
        ),
        ("failed", f"/archive has no object {DIGEST}", "failed-archive"),
        ("failed", "waf.check: 500 (GET /zones)", "failed-reading"),
        ("failed", "workflow terminated; the status shows start", "zone-ended"),
        ("unknown", "its workflow was ended: Workflow terminated", "zone-ended"),
        (
            "unknown",
            "the validation was sent but does not show: start",
            "unknown-validation",
        ),
        ("unknown", "502; the status stayed 'start' for as long as a migration may take", "unknown-commit"),
    ],
)
def test_reasons_of_a_course_are_understood(place: str, reason: str, code: str) -> None:
    """Those that workflows and activities give to an end."""
    assert codes_of(place, reason, Area.WAF) == (code,)


def test_words_by_which_a_reason_is_known_are_said_somewhere() -> None:
    """A reason that was worded anew would be told by the outcome alone; this sees it."""
    from edgeshift.alarms.of_zones import _BLOCKED, _FAILED, _SUPPORT, _UNKNOWN

    files = [
        file
        for folder in ("edgeshift/areas", "edgeshift/model", "activities", "workflows", "edgeshift/views")
        for file in (ROOT / folder).rglob("*.py")
    ]
    source = " ".join(file.read_text(encoding="utf-8") for file in files)
    source = re.sub(r'["\']\s*\n\s*f?["\']', "", source)
    for words, _ in (*_SUPPORT, *_BLOCKED, *_FAILED, *_UNKNOWN):
        plain = re.split(r"[\\^$()\[\]|?]|\bd\+", words.replace(r"\(s\)", "(s)").replace(r"\.", "."))
        said = max((part.strip() for part in re.split(r"\(s\)", "\0".join(plain))), key=len).strip("\0 :;")
        if len(said) > 12:
            assert all(part in source for part in said.split("\0") if len(part) > 12), words


def test_a_campaign_asks_for_people() -> None:
    """By its state, and by who does not answer."""
    assert codes() == []
    assert codes(summary=summary("halted")) == ["halted"]
    assert codes(summary=summary("paused")) == ["paused"]
    assert codes(summary=None, trouble="nobody answers") == ["campaign-silent"]
    assert codes(summary=None, status="terminated") == ["campaign-ended"]
    assert codes(summary=summary("closed"), status="completed") == []
    assert codes(unreadable=f"no object {DIGEST}") == ["archive-damaged"]


def test_a_pause_that_does_not_answer_is_an_alarm_after_its_time() -> None:
    """Not while permits may still be out by right."""

    def since(seconds: int) -> CampaignSummary:
        at = NOW - timedelta(seconds=seconds)
        return summary("pausing", (f"{at:%Y-%m-%d %H:%M:%S} paused by ada: freeze",), 1)

    assert codes(summary=since(100)) == []
    assert codes(summary=since(200)) == ["pausing-lasts"]


def test_work_that_is_tried_again_is_an_alarm_while_it_fails() -> None:
    """Until the next try had its time, however long the pause before it is."""

    def failed(ago: timedelta, pause: int) -> list[str]:
        said = f"start 3 zone(s) from 0: tried again in {pause} s: object is damaged"
        return codes(summary=summary(notes=(f"{NOW - ago:%Y-%m-%d %H:%M:%S} {said}",)))

    assert failed(timedelta(seconds=20), 30) == failed(timedelta(minutes=15), 900) == ["batch-fails"]
    assert failed(timedelta(minutes=2), 30) == failed(timedelta(minutes=16), 900) == []
    assert codes(summary=summary(notes=(f"{NOW:%Y-%m-%d %H:%M:%S} wave 'two' begins",))) == []


def test_waiting_for_approvers_is_told_by_what_it_waits_for() -> None:
    """Together, alone, anew, and near the end of the time that there is."""
    assert codes(zone("awaiting")) == ["sign-off-waits"]
    assert codes(zone("awaiting_separate", "evidence: fail")) == ["sign-off-alone"]
    assert codes(zone("awaiting", drifted=True)) == ["sign-off-again"]
    old = NOW - timedelta(days=12)
    assert codes(zone("awaiting", since=old)) == ["sign-off-expires", "sign-off-waits"]
    size = "in sampled requests these fields take up to 7.4 KB of 8 KB: there is little room left"
    assert codes(zone("awaiting", warnings=(size,))) == ["sign-off-waits", "log-entry-size"]


def test_a_zone_at_one_step_for_too_long_is_an_alarm() -> None:
    """With what its last try failed with; below half a minute nothing is stuck, also in a rehearsal."""
    long = zone("working", since=NOW - timedelta(hours=5), failing="waf.check: 500")
    (alarm,) = alarms_of(
        Facts(now=NOW, campaigns=(CampaignFact(name="a", summary=summary(), zones=(long,)),))
    )
    assert (alarm.code, alarm.said, alarm.zones) == ("zone-stuck", "waf.check: 500", ("a.example",))
    soon = zone("working", since=NOW - timedelta(seconds=20))
    assert codes(soon, step_lasts=timedelta(seconds=1)) == []


def test_what_the_doctor_finds_is_an_alarm() -> None:
    """Each of its checks that warns or failed, and quotas and workflows that stand still."""
    names = {
        "Temporal": "temporal-unreachable",
        "search attributes": "search-attributes",
        "retention": "retention",
        "worker": "no-worker",
        "clock, Temporal": "clock",
        "archive": "archive",
        "tickets": "tickets",
        "service": "service",
        "credential 1, env:T": "credential",
        "removal date": "removal-date",
        "probe": "probe",
        "log entries": "log-entries",
        "log destination, env:D": "log-destination",
    }
    for name, code in names.items():
        found = alarms_of(Facts(now=NOW, checks=(CheckFact(name=name, state="failed", said="it is so"),)))
        assert [alarm.code for alarm in found] == [code]
        assert not alarms_of(Facts(now=NOW, checks=(CheckFact(name=name, state="ok", said="fine"),)))
    lacking = CheckFact(name="credential 1, env:T", state="warning", said="cannot read")
    assert [alarm.code for alarm in alarms_of(Facts(now=NOW, checks=(lacking,)))] == ["permissions"]
    blocked = QuotaFact(user="u", workflow="quota/u", blocked_until=NOW + timedelta(seconds=9))
    stuck = StuckFact(workflow="quota/u", attempts=4)
    found = alarms_of(Facts(now=NOW, quotas=(blocked,), stuck=(stuck,)))
    assert [alarm.code for alarm in found] == ["workflow-stuck", "rate-limited"]
    assert not alarms_of(Facts(now=NOW + timedelta(seconds=10), quotas=(blocked,)))


def test_alarms_come_with_their_commands_filled_in_and_the_gravest_first() -> None:
    """Campaign, first zone and settings; what only people know stays in capitals."""
    zones = (zone("rejected", "by ada"), zone("unknown", "sent").model_copy(update={"name": "b.example"}))
    campaign = CampaignFact(name="autumn", summary=summary(), zones=zones)
    names = {"ADDRESS": "127.0.0.1:7233", "NAMESPACE": "default"}
    checks = (CheckFact(name="retention", state="warning", said="1d"),)
    found = alarms_of(Facts(now=NOW, names=names, checks=checks, campaigns=(campaign,)))
    assert [alarm.code for alarm in found] == ["unknown-commit", "retention", "rejected"]
    assert [alarm.severity for alarm in found] == list(Severity)
    assert found[0].do == ('edgeshift retry autumn --zone b.example --reason "REASON"',)
    assert found[1].do[0].endswith("--namespace default --retention 90d --address 127.0.0.1:7233")
    assert found[2].runbook == "docs/runbook.md#rejected" and Path(ROOT / "docs/runbook.md").exists()
