"""A campaign for reports, with hostile text wherever text from outside may stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.evidence import Evidence, Finding, Kind
from edgeshift.areas.waf.losses import Loss, SettingKind
from edgeshift.messages import Book, CampaignSummary, WaveSummary
from edgeshift.model.fleet import Area, Plan, Zone, ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.stores.documents.areas.waf import WafRecord
from edgeshift.views.entries import Attempt, Signed, Timeline
from edgeshift.views.report_data import report_data
from edgeshift.views.report_page import render_report
from edgeshift.views.report_source import Source
from edgeshift.views.rows import ZoneRow

BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DIGEST = "d" * 64
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE zones; --",
    "{{ 7*7 }}{% raw %}",
    "</style><style>*{display:none}",
    "javascript:alert(1)",
    "\u202egnp.exe\x1b[2J\x00",
    "\x9b2J\u2066gnp.exe",
    "&lt;b&gt; ]]> <!-- ",
    '=HYPERLINK("http://evil.example")',
]


def rows(number: int, name: str = "zone-{}.example", reason: str = "because") -> list[ZoneRow]:
    """Zones with every outcome in turn."""
    outcomes = list(ZoneOutcome)
    return [
        ZoneRow(
            index=index,
            id=f"{index:032x}",
            name=name.replace("{}", str(index)),
            account="a" * 32,
            plan="enterprise",
            wave=index % 2,
            place=outcomes[index % len(outcomes)].value,
            reason=reason,
            attempt=1,
            run_id=f"run-{index}",
            started_at=BEGAN,
            closed_at=BEGAN + timedelta(seconds=index * 7),
            digest=DIGEST,
            fingerprint="f" * 64,
        )
        for index in range(number)
    ]


ZONE = Zone(id="0" * 32, name="zone-0.example", account="a" * 32, plan=Plan.ENTERPRISE)


def kept(zone: Zone, care: Aftercare) -> WafRecord:
    """The archived result of a migration with this aftercare."""
    return WafRecord(
        zone=zone,
        campaign="autumn",
        digest="d" * 64,
        snapshot="5" * 64,
        proposal="b" * 64,
        evidence="",
        aftercare=care,
    )


def care_of(made: Source) -> Aftercare:
    """The aftercare of the first zone."""
    record = made.records[0]
    assert isinstance(record, WafRecord)
    return record.aftercare


def source(some: list[ZoneRow], text: str = "plain") -> Source:
    """A campaign over these zones, ``text`` standing wherever text from outside may stand."""
    places: dict[str, int] = {}
    for row in some:
        places[row.place] = places.get(row.place, 0) + 1
    decision = Decision(choice=Choice.APPROVE, digest="f" * 64, by=text.strip() or "x", reason=text, at=BEGAN)
    finding = Finding(kind=Kind.GAP, rule=text, path=text, requests=3, clients=2, samples=(text,))
    evidence = Evidence(
        mode="shadow",
        verdict=EvidenceVerdict.FAIL,
        why=text,
        events=9,
        requests=4,
        agreed=1,
        false_positives=0,
        gaps=3,
        cannot_see=text,
        findings=(finding,),
    )
    loss = Loss(kind=SettingKind.RULE, package=text, id="981138", name=text, group=text, mode="off")
    care = Aftercare(
        terraform=f'name = "{text}"',
        state_rm=(text,),
        custom_rules=({"action": "block", "expression": text, "description": text},),
        review=(text,),
        losses=(loss,),
    )
    signed = Signed(
        by=text, choice="reject", digest=DIGEST, reason=text, at=BEGAN, way="by update", refused=text
    )
    attempt = Attempt(
        number=1, campaign="autumn", run_ids=["r"], started_at=BEGAN, tickets=[text], signed=[signed]
    )
    timeline = Timeline(zone="0" * 32, name=text, sentence=text, attempts=[attempt])
    summary = CampaignSummary(
        name="autumn",
        area=Area.WAF,
        state="closed",
        why=text,
        started_by=text,
        started_at=BEGAN,
        now=BEGAN + timedelta(minutes=30),
        time_scale=14400,
        count=len(some),
        wave=0,
        waves=[WaveSummary(number=0, name=text, size=len(some), places=places)],
        places=places,
        permits_out=0,
        waiting=[],
        book=[Book(fingerprint="f" * 64, decisions=[decision])],
        excluded={},
        notes=[text],
        targets=DIGEST,
        spec=DIGEST,
    )
    return Source(
        summary=summary,
        made_at=BEGAN,
        rows=some,
        timelines={index: timeline for index in range(min(9, len(some)))},
        records={0: kept(ZONE, care)},
        documents={0: evidence},
        losses={0: (loss,)},
        trouble=text,
    )


def page(text: str = "plain", number: int = 18) -> str:
    """A whole report with ``text`` in every place that text from outside can reach."""
    some = rows(number, name=f"{text}{{}}", reason=text)
    return render_report(report_data(source(some, text)), some)
