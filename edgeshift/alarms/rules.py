"""From what is known to what asks for a person: one alarm for each kind and campaign. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from edgeshift.alarms.campaign_kinds import (
    BEGIN_SIGNED,
    BEGUN_UNSIGNED,
    CAMPAIGN,
    OF_SERVICE,
    OF_SIGN_OFFS,
    OTHER_CHECK,
    SIGN_OFFS,
    SURROUNDINGS,
)
from edgeshift.alarms.facts import CampaignFact, CheckFact, Facts, ZoneFact
from edgeshift.alarms.kinds import RANK, Kind, Severity, filled
from edgeshift.alarms.of_zones import OF_ENTRY_SIZE, alarm_codes
from edgeshift.alarms.zone_kinds import ZONES
from edgeshift.campaign.target_states import AWAITING_WORDS
from edgeshift.messages import CampaignSummary, wrong_text
from edgeshift.model.campaign_phase import ENDING, CampaignPhase
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Plan, campaign_id
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, codes_of
from edgeshift.rate_limit.circuit import Trouble

KINDS: dict[str, Kind] = {
    kind.code: kind for kind in (*SURROUNDINGS, *OF_SERVICE, *CAMPAIGN, *SIGN_OFFS, *ZONES)
}
"""Every kind of alarm by its code, in the order of docs/runbook.md."""

MOST_NAMED = 1_000
"""Zones that one alarm names at most; ``count`` says how many there are."""

NEAR = 0.8
"""The part of the time for a sign-off after which it counts as about to run out."""

TRY_LASTS = timedelta(seconds=30)
"""How long the next try of what has failed may take: that it failed is news until then."""

LEAST_STEP = timedelta(seconds=30)
"""Below this, no step counts as stuck, also where time runs faster."""

_HOLDS = {
    Trouble.REFUSED: "credential-refused",
    Trouble.MISSING: "credential-missing",
    Trouble.OUTAGE: "service-outage",
}
_WORKING = frozenset({"working", "permitted", "rejecting", "expiring", "stopping", "rolling_back"})

_CHECKS = {
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
}
"""Which alarm a check is that failed, or that warns."""

_WARNS = {**_CHECKS, CheckCode.CREDENTIAL: "permissions"}
"""Which alarm a check is that warns: a credential works, and may not read all that it is for."""


class Alarm(BaseModel):
    """Something that asks for a person. ``text``: what exactly, in this case. ``look_at``, ``do``: commands,
    with the campaign and the first zone filled in. ``since``: where it is known. ``runbook``: its page entry.
    """

    code: str
    severity: Severity
    campaign: str = ""
    what: str
    text: str = ""
    look_at: tuple[str, ...] = ()
    do: tuple[str, ...] = ()
    since: datetime | None = None
    zones: tuple[str, ...] = ()
    count: int = 0
    runbook: str = ""


def alarms_of(facts: Facts) -> list[Alarm]:
    """Every alarm, the gravest first, and within a severity in the order of the runbook."""
    found = [*_of_checks(facts), *_of_quotas(facts), *_of_stuck(facts)]
    for campaign in facts.campaigns:
        found += _of_campaign(facts, campaign)
    order = {code: place for place, code in enumerate(KINDS)}
    return sorted(found, key=lambda alarm: (RANK[alarm.severity], order[alarm.code], alarm.campaign))


def _alarm(
    facts: Facts,
    code: str,
    text: str = "",
    *,
    campaign: str = "",
    since: datetime | None = None,
    zones: Sequence[ZoneFact] = (),
    workflow: str = "",
) -> Alarm:
    kind = KINDS[code]
    names = facts.names | {"CAMPAIGN": campaign, "WORKFLOW": workflow}
    helped = _helped(code, zones)
    offered = kind.do if helped or not zones else ()
    return Alarm(
        code=code,
        severity=kind.severity,
        campaign=campaign,
        what=kind.what,
        text=text,
        look_at=tuple(filled(command, names | _first(zones)) for command in kind.look_at),
        do=tuple(filled(command, names | _first(helped)) for command in offered),
        since=since,
        zones=tuple(zone.name for zone in zones[:MOST_NAMED]),
        count=len(zones),
        runbook=f"docs/runbook.md#{code}",
    )


def _first(zones: Sequence[ZoneFact]) -> dict[str, str]:
    """What fills the placeholders of a zone, by the first of these."""
    return {"ZONE": zones[0].name, "FINGERPRINT": zones[0].fingerprint[:12]} if zones else {}


def _helped(code: str, zones: Sequence[ZoneFact]) -> Sequence[ZoneFact]:
    """The zones to which the commands of this alarm can do any good: a zone of another plan stays of that
    plan however often it is tried, but the service may come to entitle one that it has refused, or to say
    what plan one has.
    """
    if code == "told-wrong":
        return [zone for zone in zones if zone.place in ("failed", "unknown")]
    if code != "blocked-plan":
        return zones
    return [zone for zone in zones if any(_may_be_let(one) for one in zone.why)]


def _may_be_let(why: Reason) -> bool:
    if why.code is ReasonCode.NOT_ENTITLED:
        # Of Edge Side Code, which no plan tells, the reason names none.
        return why.plan in (Plan.ENTERPRISE, Plan.OTHER, "")
    if why.code is ReasonCode.SECRET_REFUSED:
        return True
    return why.code is ReasonCode.PLAN_UNKNOWN and why.plan != Plan.ENTERPRISE


def _of_checks(facts: Facts) -> Iterator[Alarm]:
    found: dict[tuple[str, str], list[CheckFact]] = {}
    for check in facts.checks:
        if (code := _code_of(check)) is not None:
            found.setdefault((code, check.campaign), []).append(check)
    for (code, campaign), checks in found.items():
        if code == OTHER_CHECK:
            text = "; ".join(f"{one.name} ({one.code}): {one.text}" for one in checks)
        else:
            text = f"{checks[0].name}: {checks[0].text}"
        yield _alarm(facts, code, text, campaign=campaign)


def _code_of(check: CheckFact) -> str | None:
    """The alarm that a check is; None where it needs nobody. One that failed is always an alarm."""
    if check.state == "failed":
        return _CHECKS.get(check.code, OTHER_CHECK)
    return _WARNS.get(check.code) if check.state == "warning" else None


def _of_quotas(facts: Facts) -> Iterator[Alarm]:
    for quota in facts.quotas:
        if quota.blocked_until > facts.now:
            until = f"{quota.blocked_until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
            yield _alarm(facts, "rate-limited", f"{quota.user}: until {until}", workflow=quota.workflow)


def _of_stuck(facts: Facts) -> Iterator[Alarm]:
    for stuck in facts.stuck:
        text = f"{stuck.workflow}: its task has failed {stuck.attempts} times in a row"
        yield _alarm(facts, "workflow-stuck", text, campaign=stuck.campaign, workflow=stuck.workflow)


def _of_campaign(facts: Facts, campaign: CampaignFact) -> Iterator[Alarm]:
    name, summary = campaign.name, campaign.summary
    if campaign.elsewhere:
        yield _alarm(facts, "archive", campaign.elsewhere, campaign=name)
    if campaign.unreadable:
        yield _alarm(facts, "archive-damaged", campaign.unreadable, campaign=name)
    if campaign.status not in ("running", "completed", "continued_as_new"):
        yield _alarm(
            facts,
            "campaign-ended",
            campaign.status.replace("_", " "),
            campaign=name,
            workflow=campaign_id(name),
        )
    elif summary is None:
        yield _alarm(facts, "campaign-silent", campaign.trouble, campaign=name)
    if summary is not None:
        for code, text, since in _of_summary(facts, campaign, summary):
            yield _alarm(facts, code, text, campaign=name, since=since)
        if summary.wrong:
            yield _told_wrong(facts, summary)
    yield from _of_zones(facts, campaign)


def _told_wrong(facts: Facts, summary: CampaignSummary) -> Alarm:
    """What was told that is not so. Only a zone whose outcome it changed can be begun again."""
    zones = [
        ZoneFact(name=one.zone or str(one.index), area=summary.area, place=(one.shown or one.told).value)
        for one in summary.told_wrong
    ]
    text = wrong_text(summary.told_wrong[0]) if summary.told_wrong else ""
    more = f" (and {summary.wrong - 1} more)" if summary.wrong > 1 else ""
    return _alarm(facts, "told-wrong", f"{text}{more}", campaign=summary.name, zones=zones)


def _of_summary(
    facts: Facts, campaign: CampaignFact, summary: CampaignSummary
) -> Iterator[tuple[str, str, datetime | None]]:
    if summary.state == CampaignPhase.HALTED:
        yield "halted", summary.why, None
    elif summary.halted:
        # A pause does not end it, nor does the end of the pause.
        yield "halted", summary.halted, None
    if summary.state == CampaignPhase.PAUSED and (summary.stopped_by or not summary.holds):
        yield "paused", summary.why, summary.stopped_at
    for trouble, code in _HOLDS.items():
        if holds := [hold for hold in summary.holds if hold.trouble is trouble]:
            more = f" (and {len(holds) - 1} more)" if len(holds) > 1 else ""
            yield code, f"{holds[0]}{more}", min(hold.since for hold in holds)
    if summary.state == CampaignPhase.PAUSING or (
        summary.state == CampaignPhase.ABORTING and summary.permits_out
    ):
        since = _stops_since(summary)
        if since is None or facts.now - since > max(campaign.settles_in, LEAST_STEP):
            yield "pausing-lasts", f"{summary.state}; {counted(summary.permits_out, 'permit')} out", since
    failing = [one for one in summary.retrying if facts.now - one.at < one.again_in + TRY_LASTS]
    if failing and summary.state != CampaignPhase.CLOSED:
        yield "batch-fails", failing[-1].said, failing[0].at


def _stops_since(summary: CampaignSummary) -> datetime | None:
    """Since when permits are taken back: by a person's word, or by the campaign itself."""
    begun = [hold.since for hold in summary.holds] if summary.state == CampaignPhase.PAUSING else []
    return max([*begun, *([summary.stopped_at] if summary.stopped_at else [])], default=None)


def _of_zones(facts: Facts, campaign: CampaignFact) -> Iterator[Alarm]:
    found: dict[str, list[ZoneFact]] = {}
    for zone in campaign.zones:
        own = alarm_codes(zone.place, codes_of(zone.why), zone.area)
        for code in (*own, *_waiting(facts, campaign, zone)):
            found.setdefault(code, []).append(zone)
    for code, zones in found.items():
        since = min((zone.since for zone in zones if zone.since), default=None)
        alarm = _alarm(facts, code, _said(code, zones), campaign=campaign.name, since=since, zones=zones)
        in_vain = code in OF_SIGN_OFFS and not campaign.heeded
        yield _to_begin_signed(alarm) if in_vain else alarm


def _to_begin_signed(alarm: Alarm) -> Alarm:
    """The alarm of what waits for a sign-off that nobody can give."""
    do = tuple(filled(command, {"CAMPAIGN": alarm.campaign}) for command in BEGIN_SIGNED)
    text = f"{BEGUN_UNSIGNED}; {alarm.text}" if alarm.text else BEGUN_UNSIGNED
    return alarm.model_copy(update={"do": do, "text": text})


def _waiting(facts: Facts, campaign: CampaignFact, zone: ZoneFact) -> Iterator[str]:
    age = facts.now - zone.since if zone.since else timedelta(0)
    if zone.place in AWAITING_WORDS:
        if campaign.summary is not None and campaign.summary.state in ENDING:
            # Its zones end by themselves: a decision leads to nothing any more.
            return
        if zone.drifted:
            yield "sign-off-again"
        else:
            yield "sign-off-waits" if zone.place == "awaiting" else "sign-off-alone"
        if age > NEAR * campaign.expires_after:
            yield "sign-off-expires"
        if OF_ENTRY_SIZE & set(codes_of(zone.notices)):
            yield "log-entry-size"
    elif zone.place in _WORKING:
        lasts = campaign.tried_for if zone.failing else campaign.step_lasts
        if age > max(lasts, LEAST_STEP):
            yield "zone-stuck"


def _said(code: str, zones: Sequence[ZoneFact]) -> str:
    """One reason that stands for all, with how many others there are."""
    if code == "log-entry-size":
        reasons = [text_of(one) for zone in zones for one in zone.notices if one.code in OF_ENTRY_SIZE]
    elif code == "zone-stuck":
        reasons = [zone.failing for zone in zones if zone.failing]
    else:
        reasons = [zone.reason for zone in zones if zone.reason]
    first = next(iter(reasons), "")
    more = len(set(reasons)) - 1
    return f"{first} (and {counted(more, 'other reason')})" if more > 0 else first
