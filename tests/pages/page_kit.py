"""A campaign whose report is looked at in a browser: 120 generated zones with every outcome. It is made by
the rules that make it in a campaign, with the same content each time.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from pydantic import BaseModel

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.aftercare import Aftercare, aftercare
from edgeshift.areas.waf.answers import MANAGED_RULESET, OWASP_RULESET
from edgeshift.areas.waf.evidence import Evidence, Finding, Kind
from edgeshift.areas.waf.evidence_terms import Agreement, ClientLine, RuleLine
from edgeshift.areas.waf.losses import Fate, Loss, SettingKind
from edgeshift.messages import Book, CampaignSummary, WaveSummary
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Area, Plan, Zone, ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.stores.documents import ZoneRecord
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.views.entries import Attempt, Sending, Signed, Timeline
from edgeshift.views.report_data import report_data
from edgeshift.views.report_page import render_report
from edgeshift.views.report_source import Source
from edgeshift.views.rows import ZoneRow
from edgeshift.views.sentences import sentence
from tests.rules.report_kit import kept

BEGAN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
COUNT = 120
WAVES = (("canary", 12), ("early", 36), ("rest", 72))
"""Of which one begins a day, whether or not windows of the one before are open."""
WINDOW = timedelta(hours=72)
LATER = BEGAN + timedelta(days=5, hours=3)
"""When it is looked at: the windows of the last wave have ended some hours before."""
TICKETS = "/var/lib/edgeshift/tickets"
RULES = {
    "5de7edfa648c4d6891dc3e7f84534ffa": "Anomaly:Header:User-Agent - Missing or empty",
    "0242110ae62e44028a13bf4834780914": "SQLi - Comparison in a query",
    "8e361ee4328f4a3caf6caf3e664ed6fe": "XSS, HTML Injection - Script tag",
}
OUTCOMES = {
    ZoneOutcome.MIGRATED: 78,
    ZoneOutcome.ALREADY_MIGRATED: 7,
    ZoneOutcome.BLOCKED: 9,
    ZoneOutcome.NEEDS_SUPPORT: 7,
    ZoneOutcome.REJECTED: 6,
    ZoneOutcome.ON_HOLD: 4,
    ZoneOutcome.ABORTED: 3,
    ZoneOutcome.FAILED: 4,
    ZoneOutcome.UNKNOWN: 2,
}
REASONS = {
    ZoneOutcome.BLOCKED: ("URI-based overrides are in use", "no managed rule would run: unprotected"),
    ZoneOutcome.NEEDS_SUPPORT: (
        "260 firewall rules that migrate are over the limit of 200",
        "a rule's expression has 5,120 bytes; 4,096 are allowed",
    ),
    ZoneOutcome.REJECTED: ("rejected by grace: a rule skips the WAF for every request",),
    ZoneOutcome.ON_HOLD: ("Sign-off expired",),
    ZoneOutcome.ABORTED: ("the campaign was aborted by olga: freeze begins",),
    ZoneOutcome.FAILED: (
        "the stored rules are not the signed ones: rule 2 of phases/http_request_firewall_managed/entrypoint",
    ),
    ZoneOutcome.UNKNOWN: ("the commit was not answered, and the zone could not be read for 4h",),
}


@cache
def zones() -> list[Zone]:
    """The fleet: the names and plans of generated zones."""
    fleet = generate_fleet(COUNT, 7)
    return [
        Zone(id=zone.id, name=zone.name, account=zone.account, plan=Plan(zone.plan)) for zone in fleet.zones
    ]


def signed_body(name: str, *, login: bool, action: str = "log") -> dict[str, Any]:
    """What a zone would be sent: a skip, the managed ruleset with an override, the core ruleset. ``login``:
    the latter on one path alone; ``action``: of the override.
    """
    on = '(starts_with(http.request.uri.path, "/login") and http.request.method eq "POST")'
    override = {"rules": [{"id": next(iter(RULES)), "action": action}]}
    return {
        "name": "default",
        "rules": [
            {
                "action": "skip",
                "expression": f'(http.host eq "{name}" and ip.src in {{198.51.100.0/24 203.0.113.7}})',
                "action_parameters": {"ruleset": "current"},
                "description": "Office and monitoring",
            },
            {
                "action": "execute",
                "expression": "true",
                "action_parameters": {"id": MANAGED_RULESET, "overrides": override},
            },
            {
                "action": "execute",
                "expression": on if login else "true",
                "action_parameters": {"id": OWASP_RULESET},
            },
        ],
    }


LOST = (
    Loss(
        kind=SettingKind.PACKAGE,
        fate=Fate.CARRIED_OVER,
        package="OWASP ModSecurity Core Rule Set",
        name="OWASP",
        mode="sensitivity high with action challenge",
        paranoia_level=2,
        score_threshold=40,
        action="managed_challenge",
    ),
    *(
        Loss(
            kind=SettingKind.RULE,
            package="OWASP ModSecurity Core Rule Set",
            group="OWASP Generic Attacks",
            id=str(950_000 + number),
            name=f"Generic attack {number}",
            mode="off",
        )
        for number in range(1, 13)
    ),
    Loss(
        kind=SettingKind.GROUP,
        fate=Fate.COMPARE,
        package="Managed Rules",
        id="wordpress",
        name="WordPress",
        mode="off",
    ),
)


def wave_of(index: int) -> int:
    """The wave of a zone."""
    return 0 if index < 12 else 1 if index < 48 else 2


def wave_began(wave: int) -> datetime:
    """When a wave began."""
    return BEGAN + timedelta(days=wave)


def evidence(number: int, name: str, began: datetime = BEGAN) -> Evidence:
    """What a validation window said that ``began`` then: of every third that it failed, of every third that
    it saw too little.
    """
    verdict = list(EvidenceVerdict)[number % 3]
    first, second, third = RULES
    networks = (
        ClientLine(network="198.51.100.0/24", requests=15),
        ClientLine(network="2001:db8:7::/48", requests=9),
    )
    wrong = Finding(
        kind=Kind.FALSE_POSITIVE,
        rule=first,
        path="/api/v2/orders/export/quarterly-statements",
        requests=27,
        clients=2,
        verdict=verdict,
        samples=(f"POST {name}/api/v2/orders/export/quarterly-statements?format=[hidden]",),
        top_clients=networks,
        other=(second,),
    )
    gap = Finding(
        kind=Kind.GAP, rule="981242", path="/search", requests=4, clients=1, samples=(), verdict=verdict
    )
    why = {
        EvidenceVerdict.PASS: "412 requests judged alike, nothing beyond what was agreed",
        EvidenceVerdict.FAIL: "27 requests that only the new WAF stops; at most 0 agreed",
        EvidenceVerdict.INCONCLUSIVE: "3 events of the two WAFs seen; 20 are needed to say anything",
    }
    return Evidence(
        mode="shadow",
        verdict=verdict,
        why=why[verdict],
        events=1_204,
        compared=871,
        requests=443,
        agreed=412,
        false_positives=27 if verdict is EvidenceVerdict.FAIL else 0,
        gaps=4 if verdict is EvidenceVerdict.FAIL else 0,
        clients=38,
        stands_for=4_430,
        top_clients=networks,
        since=began,
        until=began + WINDOW,
        matrix=(
            Agreement(old="block", new="would_stop", requests=412),
            Agreement(old="none", new="would_stop", requests=27),
        ),
        rules=tuple(
            RuleLine(waf="new", ruleset=MANAGED_RULESET, rule=rule, alike=140 - at, alone=9 * at)
            for at, rule in enumerate((first, second, third))
        ),
        findings=(wrong, gap) if verdict is EvidenceVerdict.FAIL else (),
        alike=(Finding(kind=Kind.AGREED, rule=second, path="/login", requests=212, clients=17, samples=()),),
        names=RULES,
    )


def care(zone: Zone, seen: Evidence | None) -> Aftercare:
    """What is left to do for a migrated zone."""
    return aftercare(zone, signed_body(zone.name, login=False), LOST, seen, campaign="campaign/waf-autumn")


def summary(places: dict[str, int], state: str = "closed", **more: Any) -> CampaignSummary:
    """A campaign in three waves."""
    waves, first = [], 0
    listed = [place for place, count in places.items() for _ in range(count)]
    # Mixed, so that each wave has some of each.
    listed = [listed[(index * 7) % len(listed)] for index in range(len(listed))]
    # But that the zones of a wave have all begun where the next has.
    listed.sort(key=lambda place: place == "pending")
    for number, (name, size) in enumerate(WAVES):
        waves.append(
            WaveSummary(
                number=number, name=name, size=size, places=dict(Counter(listed[first : first + size]))
            )
        )
        first += size
    fields: dict[str, Any] = {
        "now": LATER,
        "waiting": [],
        "book": [],
        "notes": [
            f"{wave_began(number):%Y-%m-%d %H:%M:%S} wave {name!r} begins"
            for number, (name, _) in enumerate(WAVES)
        ],
        **more,
    }
    return CampaignSummary(
        name="waf-autumn",
        area=Area.WAF,
        state=state,
        started_by="olga",
        started_at=BEGAN,
        time_scale=1,
        count=COUNT,
        wave=2,
        waves=waves,
        places=places,
        permits_out=0,
        targets=digest({"targets": 1}),
        spec=digest({"spec": 1}),
        **fields,
    )


def outcomes() -> list[ZoneOutcome]:
    """The outcome of each zone."""
    listed = [outcome for outcome, count in OUTCOMES.items() for _ in range(count)]
    return [listed[(index * 7) % COUNT] for index in range(COUNT)]


@cache
def report_source() -> Source:
    """A campaign that has closed."""
    found = outcomes()
    rows: list[ZoneRow] = []
    seen: dict[int, BaseModel] = {}
    records: dict[int, ZoneRecord] = {}
    lost: dict[int, tuple[BaseModel, ...]] = {}
    timelines: dict[int, Timeline] = {}
    decisions: Counter[str] = Counter()
    for index, (zone, outcome) in enumerate(zip(zones(), found, strict=True)):
        body = signed_body(zone.name, login=index % 5 == 0)
        mark = fingerprint(body, zone)
        reasons = REASONS.get(outcome, ("",))
        changed = outcome is ZoneOutcome.MIGRATED
        wave = wave_of(index)
        window: Evidence | None = None
        windowed = zone.plan is Plan.ENTERPRISE and outcome not in (
            ZoneOutcome.BLOCKED,
            ZoneOutcome.NEEDS_SUPPORT,
        )
        if windowed:
            seen[index] = window = evidence(index, zone.name, wave_began(wave))
        closed = wave_began(wave) + (WINDOW if windowed else timedelta()) + timedelta(minutes=index + 1)
        if changed:
            decisions[mark] += 1
            done = care(zone, window)
            records[index], lost[index] = kept(zone, done), done.losses
        rows.append(
            ZoneRow(
                index=index,
                id=zone.id,
                name=zone.name,
                account=zone.account,
                plan=zone.plan.value,
                wave=wave,
                place=outcome.value,
                reason=reasons[index % len(reasons)],
                attempt=1,
                run_id=f"run-{index}",
                started_at=wave_began(wave),
                closed_at=closed,
                digest=digest(body),
                fingerprint=mark,
                record=digest({"record": index}) if changed else "",
                tickets=[f"{TICKETS}/waf-too_many_rules-{zone.id}.md"]
                if outcome is ZoneOutcome.NEEDS_SUPPORT
                else [],
            )
        )
        timelines[index] = told(zone, rows[-1], digest(body), singly=index % 6 == 0)
    book = [
        Book(
            fingerprint=mark,
            decisions=[
                Decision(choice=Choice.APPROVE, digest=mark, by="ada", reason="as the plan showed", at=BEGAN)
            ],
        )
        for mark in sorted(decisions)
    ]
    return Source(
        summary=summary({outcome.value: count for outcome, count in OUTCOMES.items()}, book=book),
        made_at=LATER + timedelta(hours=1),
        rows=rows,
        timelines=timelines,
        records=records,
        documents=seen,
        losses=lost,
        closed_tickets=frozenset(row.tickets[0] for row in rows[:40] if row.tickets),
    )


@cache
def report() -> str:
    """Its report."""
    source = report_source()
    return render_report(report_data(source), source.rows)


COMMITTED = {
    ZoneOutcome.MIGRATED: "answered",
    ZoneOutcome.FAILED: "answered",
    ZoneOutcome.UNKNOWN: "unknown",
}
"""What became of the commit of a zone, by its outcome; the others sent none."""


def told(zone: Zone, row: ZoneRow, signed: str, *, singly: bool) -> Timeline:
    """A zone's history, with the sentence that edgeshift makes of it; ``singly``: somebody decided on it by
    its name.
    """
    outcome = ZoneOutcome(row.place)
    choice = "reject" if outcome is ZoneOutcome.REJECTED else "approve"
    closed = row.closed_at or LATER
    decision = Signed(
        by="grace", choice=choice, digest=signed, reason="read it rule by rule", at=closed, way="by update"
    )
    status = COMMITTED.get(outcome)
    sent = Sending(step="commit", status=status or "", digest=signed, permit=1, agreed=["ada"])
    attempt = Attempt(
        number=1,
        campaign="waf-autumn",
        run_ids=["r"],
        started_at=row.started_at or BEGAN,
        closed_at=closed,
        outcome=outcome.value,
        reason=row.reason,
        sendings=[sent] if status else [],
        signed=[decision] if singly or choice == "reject" else [],
    )
    text = sentence(zone.name, Area.WAF, [attempt])
    return Timeline(zone=zone.id, name=zone.name, sentence=text, attempts=[attempt])
