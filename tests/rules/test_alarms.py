"""Alarms: what asks for a person, by which code; each code has its entry in the runbook, and no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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
    alarm_codes,
    alarms_of,
)
from edgeshift.alarms.of_zones import OF_ENTRY_SIZE
from edgeshift.areas import area_of
from edgeshift.messages import CampaignSummary, Retried
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.rate_limit.circuit import Trouble, held
from tests.runbook import ENTRIES, ROOT

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
    """Whatever its reason; outcomes that are done are none, unless nothing was seen of the change, and
    neither is a zone that works.
    """
    done = {"migrated", "already_migrated", "settled", "already_settled"}
    for outcome in ZoneOutcome:
        for area in Area:
            for codes in ((), (ReasonCode.OTHER,), *((code,) for code in ReasonCode)):
                found = alarm_codes(outcome.value, codes, area)
                unseen = outcome.value == "settled" and bool(area_of(area).unverified & set(codes))
                assert bool(found) is (outcome.value not in done or unseen), outcome
                assert set(found) <= set(KINDS)
    for place in ("pending", "working", "waiting", "ready", "permitted", "rejecting"):
        assert not alarm_codes(place, (), Area.WAF)
    assert alarm_codes("excluded", (ReasonCode.HELD_BY_ANOTHER,), Area.WAF) == ("excluded",)
    assert alarm_codes("terminated", (), Area.ESC) == ("zone-ended",)


def test_a_campaign_asks_for_people() -> None:
    """By its state, and by who does not answer."""
    assert codes() == []
    assert codes(summary=summary("halted")) == ["halted"]
    assert codes(summary=summary("paused")) == ["paused"]
    assert codes(summary=None, trouble="nobody answers") == ["campaign-silent"]
    assert codes(summary=None, status="terminated") == ["campaign-ended"]
    assert codes(summary=summary("closed"), status="completed") == []
    assert codes(unreadable=f"no object {DIGEST}") == ["archive-damaged"]
    # Nothing is damaged where somebody asks with another archive than the campaign's.
    assert codes(elsewhere="campaign autumn keeps its documents in another archive") == ["archive"]


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


def test_a_pause_hides_no_halt() -> None:
    """Whoever paused it, or whether it did itself; the alarm says why it is halted, not why it is paused."""
    more: dict[str, Any] = {"halted": "3 zones failed"}
    by_hand = summary("paused", stopped_by="ada", stopped_at=NOW, **more)
    (halted, paused) = alarms_of(Facts(now=NOW, campaigns=(CampaignFact(name="autumn", summary=by_hand),)))
    assert (halted.code, halted.text, paused.code) == ("halted", "3 zones failed", "paused")
    refused = held(Trouble.REFUSED, "401", NOW, "env:TOKEN")
    by_itself = summary("paused", holds=[refused], **more)
    assert codes(summary=by_itself) == ["credential-refused", "halted"]
    assert codes(summary=summary("halted", **more)) == ["halted"]


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
    two = (zone("awaiting_separate"), zone("awaiting_separate", name="b.example"))
    [alone] = alarms_of(
        Facts(now=NOW, campaigns=(CampaignFact(name="autumn", summary=summary(), zones=two),))
    )
    assert alone.count == 2 and "edgeshift sign-off causes autumn" in alone.look_at
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


def checked(code: str, state: str, name: str = "worker") -> CheckFact:
    """What a check found. Its name tells nothing."""
    return CheckFact(code=CheckCode(code), name=name, state=state, text="it is so")


def of_checks(*found: tuple[str, str]) -> list[str]:
    """The codes of the alarms of checks."""
    checks = tuple(checked(code, state) for code, state in found)
    return [alarm.code for alarm in alarms_of(Facts(now=NOW, checks=checks))]


def test_every_failed_check_is_an_alarm() -> None:
    """Also one that has no alarm of its own, such as one of an installed area: it is named, with its code.
    One that only warns has its alarm, or none.
    """
    for code in (*CheckCode, CheckCode("always-https.setting")):
        assert len(of_checks((code, "failed"))) == 1
    checks = (
        checked("always-https.setting", "failed", "the setting"),
        checked("worker_keys", "failed", "workers' keys"),
        checked("roots", "warning", "roots of authority"),
    )
    (alarm,) = alarms_of(Facts(now=NOW, checks=checks))
    assert (alarm.code, alarm.severity) == ("check-failed", Severity.WARNING)
    assert alarm.text == (
        "the setting (always-https.setting): it is so; workers' keys (worker_keys): it is so"
    )


def test_a_check_has_a_code_that_is_known_or_an_area_s() -> None:
    """Whatever else somebody makes up is an error where it is made."""
    assert CheckCode("worker") is CheckCode.WORKER
    assert CheckCode("always-https.setting") == "always-https.setting"
    for wrong in ("workers' keys", "setting", "Area.setting", "."):
        with pytest.raises(ValueError, match="is not a valid CheckCode"):
            CheckCode(wrong)


def test_what_the_doctor_finds_is_an_alarm() -> None:
    """Each of its checks that warns or failed, and quotas and workflows that stand still."""
    for code, alarm in {
        CheckCode.TEMPORAL: "temporal-unreachable",
        CheckCode.SEARCH_ATTRIBUTES: "search-attributes",
        CheckCode.RETENTION: "retention",
        CheckCode.WORKER: "no-worker",
        CheckCode.CLOCK_TEMPORAL: "clock",
        CheckCode.CLOCK_SERVICE: "clock",
        CheckCode.ARCHIVE: "archive",
        CheckCode.ARCHIVE_CAMPAIGNS: "archive",
        CheckCode.ARCHIVE_RECORDS: "archive-unsigned",
        CheckCode.TICKETS: "tickets",
        CheckCode.SERVICE: "service",
        CheckCode.CREDENTIAL: "credential",
        CheckCode.REMOVAL_DATE: "removal-date",
        CheckCode.PROBE: "probe",
        CheckCode.LOG_ENTRIES: "log-entries",
        CheckCode.LOG_DESTINATION: "log-destination",
    }.items():
        assert of_checks((code, "failed")) == [alarm]
        assert of_checks((code, "ok")) == of_checks((code, "skipped")) == []
        assert of_checks((code, "warning")) == ["permissions" if code is CheckCode.CREDENTIAL else alarm]
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
    checks = (checked("retention", "warning"),)
    found = alarms_of(Facts(now=NOW, names=names, checks=checks, campaigns=(campaign,)))
    assert [alarm.code for alarm in found] == ["unknown-commit", "retention", "rejected"]
    assert [alarm.severity for alarm in found] == list(Severity)
    assert found[0].do == ('edgeshift retry autumn --zone b.example --reason "REASON"',)
    assert found[1].do[0].endswith("--namespace default --retention 90d --address 127.0.0.1:7233")
    assert found[2].runbook == "docs/runbook.md#rejected" and Path(ROOT / "docs/runbook.md").exists()


def test_a_campaign_whose_start_nobody_signed_is_offered_no_sign_off() -> None:
    """None would count: it is started again with a key first."""
    waits = (zone("awaiting"), zone("awaiting_separate", "evidence: fail", name="b.example"))
    campaign = CampaignFact(name="autumn", summary=summary(), zones=(*waits, zone("failed")), heeded=False)
    found = {alarm.code: alarm for alarm in alarms_of(Facts(now=NOW, campaigns=(campaign,)))}
    first = ('edgeshift abort autumn --reason "REASON"', "edgeshift start FILE --again")
    assert found["sign-off-waits"].do == found["sign-off-alone"].do == first
    assert found["sign-off-waits"].text.endswith("no sign-off counts")
    assert found["sign-off-alone"].text.endswith("no sign-off counts; evidence: fail")
    assert found.pop("failed").do != first and len(found) == 2


@pytest.mark.parametrize("state", ["aborting", "closed"])
def test_a_campaign_that_ends_asks_nobody_for_a_sign_off(state: str) -> None:
    """Its zones end by themselves."""
    waits = ZoneFact(name="a.example", area=Area.WAF, place="awaiting")
    assert "sign-off-waits" in codes(waits)
    assert not [code for code in codes(waits, summary=summary(state)) if code.startswith("sign-off")]


def test_a_retry_is_offered_only_to_zones_that_it_can_help() -> None:
    """Not to those of another plan; to an Enterprise zone that the service has refused, by its own name."""

    def blocked(name: str, code: ReasonCode, plan: str, said: str = "") -> ZoneFact:
        why = (Reason(code=code, plan=plan, said=said),)
        return ZoneFact(name=name, area=Area.LOG_FIELDS, place="blocked", why=why)

    small = blocked("small.example", ReasonCode.NOT_ENTITLED, "pro")
    moved = blocked("moved.example", ReasonCode.OTHER_PLAN, "business")
    refused = blocked("refused.example", ReasonCode.NOT_ENTITLED, "enterprise", "not entitled")
    silent = blocked("silent.example", ReasonCode.PLAN_UNKNOWN, "other")
    untold = blocked("untold.example", ReasonCode.NOT_ENTITLED, "other")
    bought = blocked("bought.example", ReasonCode.PLAN_UNKNOWN, "enterprise")
    without = blocked("without.example", ReasonCode.NOT_ENTITLED, "", "no Edge Side Code")
    secret = blocked("secret.example", ReasonCode.SECRET_REFUSED, "", "no Edge Side Code")
    for zones, offered in (
        ((small, moved, bought), ()),
        ((small, without), ('edgeshift retry autumn --zone without.example --reason "REASON"',)),
        ((small, secret), ('edgeshift retry autumn --zone secret.example --reason "REASON"',)),
        ((small, silent), ('edgeshift retry autumn --zone silent.example --reason "REASON"',)),
        ((small, untold), ('edgeshift retry autumn --zone untold.example --reason "REASON"',)),
        ((small, refused), ('edgeshift retry autumn --zone refused.example --reason "REASON"',)),
    ):
        fact = CampaignFact(name="autumn", summary=summary(), zones=zones)
        (alarm,) = alarms_of(Facts(now=NOW, campaigns=(fact,)))
        assert (alarm.code, alarm.do) == ("blocked-plan", offered)
        assert alarm.look_at[0] == "edgeshift status autumn --zone small.example"


def test_fields_that_no_entry_showed_are_an_alarm() -> None:
    """Written is not seen; fields that entries had are none."""
    kept = (Reason(code=ReasonCode.FIELDS_KEPT_UNVERIFIED, said="no log entry came"),)
    unseen = ZoneFact(name="a.example", area=Area.LOG_FIELDS, place="settled", why=kept)
    seen = ZoneFact(name="b.example", area=Area.LOG_FIELDS, place="settled")
    fact = CampaignFact(name="autumn", summary=summary(), zones=(seen, unseen))
    (alarm,) = alarms_of(Facts(now=NOW, campaigns=(fact,)))
    assert (alarm.code, alarm.zones, alarm.do) == ("fields-unverified", ("a.example",), ())
