"""Alarms: what asks for a person, by which code; each code has its entry in the runbook, and no other."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError, TimeoutError

from edgeshift.alarms import (
    KINDS,
    CampaignFact,
    CheckFact,
    Facts,
    QuotaFact,
    Severity,
    StuckFact,
    ZoneFact,
    alarm_codes,
    alarms_of,
)
from edgeshift.alarms.of_zones import BY_CODE, OF_ENTRY_SIZE
from edgeshift.areas import esc, waf
from edgeshift.areas.log_fields.reading import Reading as LogReading
from edgeshift.areas.log_fields.reading import assess as assess_log_fields
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.messages import CampaignSummary, Retried
from edgeshift.model.fleet import Area, Plan, Zone, ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons, codes_of
from edgeshift.rate_limit.circuit import Trouble, held
from tests.rules.test_zone_reasons import failed as activity_failed
from tests.runbook import ENTRIES, ROOT
from workflows.zone.failures import failed

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DIGEST = "ab" * 32


def zone(place: str, reason: str = "", **more: object) -> ZoneFact:
    """A zone at a place."""
    return ZoneFact.model_validate(
        {"name": "a.example", "area": "waf", "place": place, "reason": reason, **more}
    )


def summary(state: str = "running", permits_out: int = 0, **more: Any) -> CampaignSummary:
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
        targets=DIGEST,
        spec=DIGEST,
        **more,
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
    """Whatever its reason; outcomes that are done are none, and neither is a zone that works."""
    done = {"migrated", "already_migrated", "settled", "already_settled"}
    for outcome in ZoneOutcome:
        for area in Area:
            for codes in ((), (ReasonCode.OTHER,), *((code,) for code in ReasonCode)):
                found = alarm_codes(outcome.value, codes, area)
                assert bool(found) is (outcome.value not in done), outcome
                assert set(found) <= set(KINDS)
    for place in ("pending", "working", "waiting", "ready", "permitted", "rejecting"):
        assert not alarm_codes(place, (), Area.WAF)
    assert alarm_codes("excluded", (ReasonCode.HELD_BY_ANOTHER,), Area.WAF) == ("excluded",)
    assert alarm_codes("terminated", (), Area.ESC) == ("zone-ended",)


def of_waf(place: str, **reading: object) -> tuple[str, ...]:
    """The alarms of a zone that was read so."""
    why = waf.assess(waf.Reading.model_validate({"check": {"compatible": True}, **reading})).why
    return alarm_codes(place, codes_of(why), Area.WAF)


def test_reasons_as_the_rules_give_them_are_understood() -> None:
    """Those of readings, out of the very rules that give them."""
    rule = {"id": "r", "action": "bypass", "products": ["waf"], "filter": {"expression": "x" * 5000}}
    both = ("support-too-many-rules", "support-long-expression")
    assert of_waf("support", firewall_rules=[rule] * 201) == both
    assert of_waf("support", firewall_rules=[rule] * 201, overrides=[{"id": "o"}]) == both
    assert of_waf("blocked", overrides=[{"id": "o"}]) == ("blocked-overrides",)
    assert of_waf("blocked", check={"compatible": False}) == ("blocked-not-compatible",)
    assert of_waf("blocked", config={"rules": []}) == ("blocked-log-only",)
    assert of_waf("blocked", plan="pro") == ("blocked-plan",)
    for case in (ReasonCode.SUPPORT_REFUSAL, ReasonCode.TOO_MANY_RULES):
        assert of_waf("support", refused=(case, "call us")) == ("support-refusal",)
    gone = esc.assess(esc.Reading(), datetime(2024, 1, 2, tzinfo=UTC))
    assert alarm_codes("blocked", codes_of(gone.why), Area.ESC) == ("blocked-removal-date",)


def log_reasons(reading: LogReading, *names: str) -> Reasons:
    """Why the rules of log-fields would not have a zone."""
    target = Zone(id="0" * 32, name="a.example", account="1" * 32, plan=reading.plan)
    return assess_log_fields(reading, target, FieldSet(request_headers=names or ("x-a",)), None).why


def test_reasons_of_log_fields_are_understood() -> None:
    """Plan, number of fields, their names, jobs, other people's rules; each, where there are several."""
    job = {"id": 7, "enabled": True, "dataset": "http_requests", "logpull_options": "fields=RayID"}
    good = LogReading(plan=Plan.ENTERPRISE, jobs=[job])

    def found(reading: LogReading, *names: str) -> tuple[str, ...]:
        return alarm_codes("blocked", codes_of(log_reasons(reading, *names)), Area.LOG_FIELDS)

    many = tuple(f"x-{number}" for number in range(41))
    assert found(LogReading(plan=Plan.PRO)) == ("blocked-plan",)
    assert found(good, *many)[0] == "blocked-fields"
    assert found(good, "X-A") == ("blocked-fields",)
    assert found(good.model_copy(update={"jobs": []})) == ("blocked-log-job",)
    assert found(good.model_copy(update={"jobs": []}), *many) == ("blocked-fields", "blocked-log-job")
    twice = [{**job, "logpull_options": "fields=RayID&fields=Cookies"}]
    assert found(good.model_copy(update={"jobs": twice})) == ("blocked-log-job",)
    theirs = {"id": "r", "action": "skip"}
    assert found(good.model_copy(update={"ruleset": {"rules": [theirs]}})) == ("blocked-rules",)


@pytest.mark.parametrize(
    ("place", "code", "alarm"),
    [
        ("failed", ReasonCode.CHANGE_REFUSED, "failed-refused"),
        ("failed", ReasonCode.DELETION_REFUSED, "failed-refused"),
        ("failed", ReasonCode.SECRET_REFUSED, "failed-refused"),
        ("failed", ReasonCode.GIVEN_UP, "failed-tries"),
        ("failed", ReasonCode.STORED_RULES_DIFFER, "failed-differs"),
        ("failed", ReasonCode.NOT_ROLLED_BACK, "failed-way-back"),
        ("failed", ReasonCode.WORKFLOW_ENDED, "zone-ended"),
        ("failed", ReasonCode.SERVICE_FAILED, "failed-reading"),
        ("failed", ReasonCode.NOT_IN_TIME, "failed-reading"),
        ("unknown", ReasonCode.WORKFLOW_ENDED, "zone-ended"),
        ("unknown", ReasonCode.VALIDATION_NOT_SHOWN, "unknown-validation"),
        ("unknown", ReasonCode.NEVER_SHOWED, "unknown-commit"),
        ("unknown", ReasonCode.NOT_SEEN, "unknown-commit"),
    ],
)
def test_reasons_of_a_course_are_understood(place: str, code: ReasonCode, alarm: str) -> None:
    """Those that workflows and activities give to an end."""
    assert alarm_codes(place, (code,), Area.WAF) == (alarm,)


@pytest.mark.parametrize(
    ("kind", "text", "alarm"),
    [
        ("InvalidCredential", "waf.check: 401: [1000] Invalid API Token (GET /zones)", "failed-credential"),
        ("InvalidCredential", "waf.check: 400: [6111] Invalid format", "failed-credential"),
        ("Forbidden", "waf.check: 403: [9109] Unauthorized", "failed-credential"),
        ("NotFound", "waf.check: 404: [7003] not found (GET /zones)", "failed-credential"),
        ("SecretUnresolved", "file:/run/token: there is no such file", "failed-credential"),
        ("CredentialMissing", "env:TOKEN: the variable TOKEN is not set", "failed-credential"),
        ("ArchiveCorrupt", f"/archive: object {DIGEST} is damaged: its bytes", "failed-archive"),
        ("ArchiveMissing", f"/archive has no object {DIGEST}", "failed-archive"),
        ("ServerError", "waf.check: 500 (GET /zones)", "failed-reading"),
        ("Refused", "waf.check: 400: [1] 401 403 404", "failed-reading"),
        ("KeyError", "env: what nobody expected", "failed-reading"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_what_an_activity_failed_by_is_understood(kind: str, text: str, alarm: str, late: bool) -> None:
    """By the type of the failure, also of the last try of many; never by its words."""
    cause: BaseException = ApplicationError(text, type=kind)
    if late:
        timeout = TimeoutError("Activity timed out", type=None, last_heartbeat_details=[])
        timeout.__cause__, cause = cause, timeout
    why = failed(activity_failed(cause))
    assert alarm_codes("failed", (why.code,), Area.WAF) == (alarm,)
    assert text in text_of(why)


def sources() -> dict[Path, ast.Module]:
    """Every module that may give a reason."""
    files = [
        file
        for folder in ("edgeshift", "activities", "workflows")
        for file in (ROOT / folder).rglob("*.py")
        if file.parent != ROOT / "edgeshift" / "alarms" and file.name != "reason_texts.py"
    ]
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def test_every_code_that_an_alarm_decides_by_is_given_somewhere() -> None:
    """A code that nobody gives would be an alarm that never comes."""
    given = {
        node.attr
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "ReasonCode"
    }
    decided = {code for codes in BY_CODE.values() for code in codes} | OF_ENTRY_SIZE
    assert {code.name for code in decided} <= given
    # And no code is there that nobody gives; OTHER stands for those of other versions.
    assert {code.name for code in ReasonCode} - given <= {"OTHER"}


def test_no_alarm_is_told_by_words() -> None:
    """Regular expressions fill the placeholders of commands, and do nothing else in the room of alarms."""
    for file in (ROOT / "edgeshift" / "alarms").glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        assert "re" not in imported or file.name == "kinds.py", file
        parsed = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr in ("reason", "why", "said", "notes", "failing")
        }
        assert not parsed & {"startswith", "endswith", "find", "split", "partition", "removeprefix"}, file


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
        return summary("pausing", 1, stopped_by="ada", stopped_at=at)

    assert codes(summary=since(100)) == []
    assert codes(summary=since(200)) == ["pausing-lasts"]
    by_itself = held(Trouble.OUTAGE, "502", NOW - timedelta(seconds=100))
    assert codes(summary=summary("pausing", 1, holds=[by_itself])) == ["service-outage"]


def test_a_campaign_that_paused_itself_is_paused_by_nobody() -> None:
    """Unless a person did so too."""
    refused = held(Trouble.REFUSED, "401", NOW, "env:TOKEN")
    assert codes(summary=summary("paused", holds=[refused])) == ["credential-refused"]
    both = summary("paused", holds=[refused], stopped_by="ada", stopped_at=NOW)
    assert codes(summary=both) == ["credential-refused", "paused"]


def test_work_that_is_tried_again_is_an_alarm_while_it_fails() -> None:
    """Until the next try had its time, however long the pause before it is."""

    def failed(ago: timedelta, pause: int) -> list[str]:
        again = timedelta(seconds=pause)
        one = Retried(at=NOW - ago, again_in=again, said="start 3 zones: object is damaged")
        return codes(summary=summary(retrying=[one]))

    assert failed(timedelta(seconds=20), 30) == failed(timedelta(minutes=15), 900) == ["batch-fails"]
    assert failed(timedelta(minutes=2), 30) == failed(timedelta(minutes=16), 900) == []
    said = f"{NOW:%Y-%m-%d %H:%M:%S} start 3 zones from 0: tried again in 30 s: object is damaged"
    assert codes(summary=summary(notes=[said])) == []


def test_waiting_for_approvers_is_told_by_what_it_waits_for() -> None:
    """Together, alone, anew, and near the end of the time that there is."""
    assert codes(zone("awaiting")) == ["sign-off-waits"]
    assert codes(zone("awaiting_separate", "evidence: fail")) == ["sign-off-alone"]
    assert codes(zone("awaiting", drifted=True)) == ["sign-off-again"]
    old = NOW - timedelta(days=12)
    assert codes(zone("awaiting", since=old)) == ["sign-off-expires", "sign-off-waits"]
    for code in OF_ENTRY_SIZE:
        notices = (Reason(code=code, limit=8192, size=7578),)
        assert codes(zone("awaiting", notices=notices)) == ["sign-off-waits", "log-entry-size"]
    unknown = (Reason(code=ReasonCode.FIELDS_SIZE_UNKNOWN, said="8 KB cut off"),)
    assert codes(zone("awaiting", notices=unknown)) == ["sign-off-waits"]


def test_a_zone_at_one_step_for_too_long_is_an_alarm() -> None:
    """With what its last try failed with; below half a minute nothing is stuck, also in a rehearsal."""
    long = zone("working", since=NOW - timedelta(hours=5), failing="waf.check: 500")
    (alarm,) = alarms_of(
        Facts(now=NOW, campaigns=(CampaignFact(name="a", summary=summary(), zones=(long,)),))
    )
    assert (alarm.code, alarm.text, alarm.zones) == ("zone-stuck", "waf.check: 500", ("a.example",))
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
        found = alarms_of(Facts(now=NOW, checks=(CheckFact(name=name, state="failed", text="it is so"),)))
        assert [alarm.code for alarm in found] == [code]
        assert not alarms_of(Facts(now=NOW, checks=(CheckFact(name=name, state="ok", text="fine"),)))
    lacking = CheckFact(name="credential 1, env:T", state="warning", text="cannot read")
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
    checks = (CheckFact(name="retention", state="warning", text="1d"),)
    found = alarms_of(Facts(now=NOW, names=names, checks=checks, campaigns=(campaign,)))
    assert [alarm.code for alarm in found] == ["unknown-commit", "retention", "rejected"]
    assert [alarm.severity for alarm in found] == list(Severity)
    assert found[0].do == ('edgeshift retry autumn --zone b.example --reason "REASON"',)
    assert found[1].do[0].endswith("--namespace default --retention 90d --address 127.0.0.1:7233")
    assert found[2].runbook == "docs/runbook.md#rejected" and Path(ROOT / "docs/runbook.md").exists()
