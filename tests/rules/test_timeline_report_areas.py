"""The reports of esc and log-fields: what needs a replacement, which fields arrive, what was rolled back."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgeshift.areas.esc.probe import Controls, Coverage, Difference, Feature, Kind, ProbeReport
from edgeshift.areas.log_fields.entries import FieldSeen, FieldState, Judgement
from edgeshift.areas.log_fields.names import Kind as FieldKind
from edgeshift.messages import CampaignSummary, WaveSummary
from edgeshift.model.fleet import Area, ScopeKind
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, in_words
from edgeshift.views.report_data import report_data
from edgeshift.views.report_page import render_report
from edgeshift.views.report_source import Source
from edgeshift.views.rows import ZoneRow

BEGAN = datetime(2023, 11, 1, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}"


def row(index: int, area: Area, place: str, reason: str = "", **more: Any) -> ZoneRow:
    """A zone that ended."""
    return ZoneRow(
        index=index,
        id=f"{index:032x}",
        name=f"z{index}.example",
        account="a" * 32,
        plan="enterprise",
        wave=0,
        place=place,
        reason=reason,
        record="r" * 64,
        area=area,
        started_at=BEGAN,
        closed_at=BEGAN + timedelta(minutes=index + 1),
        **more,
    )


def rolled_back(index: int, why: str, took: float, after: str) -> ZoneRow:
    """A scope whose change was undone, in so many seconds."""
    back = Reason(
        code=ReasonCode.ROLLED_BACK,
        seconds=took,
        because=(Reason(code=ReasonCode.URLS_WORSE, names=(why,)),),
        then=in_words(after, ReasonCode.URLS_AS_BEFORE),
    )
    return row(index, Area.ESC, "rolled_back", text_of(back), causes=[back])


def source(area: Area, rows: list[ZoneRow], **more: Any) -> Source:
    """A closed campaign over these zones."""
    places = {one.place: sum(other.place == one.place for other in rows) for one in rows}
    summary = CampaignSummary(
        name="autumn",
        area=area,
        state="closed",
        started_by="olga",
        started_at=BEGAN,
        now=BEGAN + timedelta(hours=1),
        time_scale=1,
        count=len(rows),
        wave=0,
        waves=[WaveSummary(number=0, name="all", size=len(rows), places=places)],
        places=places,
        permits_out=0,
        waiting=[],
        book=[],
        targets="d" * 64,
        spec="d" * 64,
    )
    return Source(summary=summary, made_at=BEGAN, rows=rows, **more)


def page(found: Source) -> str:
    """The report as HTML."""
    return render_report(report_data(found), found.rows)


def text(found: Source) -> str:
    """What a reader sees of it."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page(found))).split())


def probe(host: str, **more: Any) -> ProbeReport:
    """A probe that found a redirect and a header."""
    common = {"host": host, "path": "/", **more}
    return ProbeReport(
        differences=(
            Difference(
                kind=Kind.REDIRECT,
                what="location",
                feature=Feature.REDIRECT_RULE,
                before="301 /new",
                after="404",
                **common,
            ),
            Difference(
                kind=Kind.HEADER,
                what="x-frame-options",
                feature=Feature.RESPONSE_HEADER_RULE,
                before="DENY",
                after="",
                **common,
            ),
        ),
        coverage=Coverage(urls=9, zones_covered=2, zones_probed=1),
        controls=Controls(pairs=9, alarms=0),
        made_at=BEGAN,
        rounds=3,
    )


ESC_ROWS = [
    row(0, Area.ESC, "settled", "esc off"),
    rolled_back(1, "1 of 9 URLs fail", 2.4, "9 URL(s) answer as before"),
    row(2, Area.ESC, "already_settled", kind=ScopeKind.ACCOUNT, covers=12),
]


def test_a_report_of_esc_says_what_needs_a_replacement() -> None:
    """By feature over all scopes, with where it was seen; what was rolled back, why and in which time."""
    shown = text(source(Area.ESC, ESC_ROWS, documents={0: probe("z0.example"), 1: probe("z1.example")}))
    assert "2 scopes were probed with and without the secret: 18 URLs" in shown
    assert (
        "Control comparisons: 0 of 18 differed" in shown
        and "2 zones that scopes cover gave no answer" in shown
    )
    assert "redirect rule 1 2" in shown and "response header transform rule 1 2" in shown
    assert "redirect rule redirect location 301 /new 404 2 z0.example/, z1.example/" in shown
    assert "header x-frame-options DENY absent" in shown
    assert "z1.example 1 of 9 URLs fail 2.4 s 9 URL(s) answer as before" in shown
    assert "account of 12 zones" in shown
    for word in ("esc off", "esc on again", "esc was off", "3 scopes finished within"):
        assert word in shown
    for word in ("migrated", "validation window", "Aftercare", "provider's support"):
        assert word not in shown


def test_a_report_of_log_fields_says_which_fields_arrive() -> None:
    """In how many zones each was seen, or why not; who was written and never verified."""
    fields = [
        FieldSeen(kind=FieldKind.REQUEST, name="x-a", state=FieldState.SEEN, entries=5),
        FieldSeen(kind=FieldKind.COOKIE, name="Id", state=FieldState.NEVER_SENT, entries=0),
        FieldSeen(kind=FieldKind.RESPONSE, name="x-late", state=FieldState.SET_LATER, entries=0),
    ]
    judged = {
        0: Judgement(entries=20, full=0, fields=tuple(fields)),
        1: Judgement(
            entries=10, full=3, fields=(fields[0].model_copy(update={"state": FieldState.TRUNCATED}),)
        ),
    }
    rows = [row(index, Area.LOG_FIELDS, "settled", "written") for index in range(3)]
    shown = text(source(Area.LOG_FIELDS, rows, documents=judged))
    assert "30 log entries of 2 zones were read" in shown
    assert "request header x-a 1 0 1 0 0 0" in shown
    assert "cookie Id 0 1 0 0 0 0" in shown and "response header x-late 0 0 0 1 0 0" in shown
    assert "Written, but not verified by entries: z2.example." in shown
    assert "fields written" in shown and "Nothing had to be undone" in shown
    assert "migrated" not in shown


def test_totals_of_what_was_not_verified_have_no_tick() -> None:
    """Where some zones of an outcome are not verified, or nobody read them: how many, and no ✓ for all."""
    kept = Reason(code=ReasonCode.FIELDS_KEPT_UNVERIFIED, said="no log entry came")
    rows = [row(index, Area.LOG_FIELDS, "settled", "seen") for index in range(3)]
    assert "✓ fields written 3" in text(source(Area.LOG_FIELDS, rows))
    rows += [row(3, Area.LOG_FIELDS, "settled", text_of(kept), causes=[kept])]
    rows += [row(index, Area.LOG_FIELDS, "settled", unread=True) for index in (4, 5)]
    found = source(Area.LOG_FIELDS, rows)
    [total] = report_data(found).totals
    assert total.label == "fields written (1 not verified, 2 not read)", total
    shown = text(found)
    assert "○ fields written (1 not verified" in shown
    assert "✓ fields written 6" not in shown


@pytest.mark.parametrize("area", [Area.ESC, Area.LOG_FIELDS])
def test_nothing_at_all_is_a_report_too(area: Area) -> None:
    """It says so."""
    shown = text(source(area, []))
    assert "Nothing had to be undone" in shown and "Nobody has decided on anything" in shown
    assert "No scope was probed" in shown or "No log entries were judged" in shown


def test_what_the_edge_answered_stays_text() -> None:
    """Paths, values and reasons come from outside."""
    rows = [rolled_back(0, HOSTILE, 1.0, HOSTILE)]
    found = page(source(Area.ESC, rows, documents={0: probe("z0.example", path=f"/{HOSTILE}")}))
    # A long word may be broken at its joints.
    found = found.replace("<wbr>", "")
    assert "<script" not in found and html.escape(HOSTILE) in found.replace("&#34;", "&quot;")
    assert "49" not in text(source(Area.ESC, rows)).replace("2023", "")


def test_tables_have_captions_and_links_lead_somewhere() -> None:
    """In each area's page."""
    for area, more in ((Area.ESC, {"documents": {0: probe("z0.example")}}), (Area.LOG_FIELDS, {})):
        found = page(source(area, [row(0, area, "rolled_back", "why"), row(1, area, "settled")], **more))
        assert found.count("<table") == found.count("<caption>")
        ids = set(re.findall(r'id="([^"]+)"', found))
        assert set(re.findall(r'href="#([^"]+)"', found)) <= ids
