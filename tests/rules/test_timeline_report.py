"""The report's page: complete, self-contained, accessible, and safe whatever the names and reasons are."""

from __future__ import annotations

import base64
import csv
import io
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.evidence import Evidence, EvidenceVerdict, Finding, Kind
from edgeshift.messages import Book, CampaignSummary, WaveSummary
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.views.charts import finishes, parts_of
from edgeshift.views.entries import Attempt, Signed, Timeline
from edgeshift.views.report_data import MOST_ROWS, Source, counts, report_data
from edgeshift.views.report_page import render_report
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
    care = Aftercare(
        terraform=f'name = "{text}"',
        state_rm=(text,),
        custom_rules=({"action": "block", "expression": text, "description": text},),
        review=(text,),
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
        evidence={0: evidence},
        aftercare={0: care},
        trouble=text,
    )


def page(text: str = "plain", number: int = 18) -> str:
    """A whole report with ``text`` in every place that text from outside can reach."""
    some = rows(number, name=f"{text}{{}}", reason=text)
    return render_report(report_data(source(some, text)), some)


class Reader(HTMLParser):
    """Collects what a browser would make of the page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Remember the text."""
        self.text += data


EXPECTED_TAGS = frozenset(tag for tag, _ in Reader(page()).tags)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_stays_text(text: str) -> None:
    """No name, reason or note can bring in an element, an attribute or a template expression."""
    read = Reader(page(text))
    assert {tag for tag, _ in read.tags} == EXPECTED_TAGS
    assert "script" not in EXPECTED_TAGS
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert "\u202e" not in read.text
    assert "\x1b" not in read.text
    visible = text.replace("\u202e", "").replace("\x1b", "").replace("\x00", "")
    assert visible in read.text


@settings(deadline=None, max_examples=40)
@given(text=st.text(min_size=1, max_size=30))
def test_any_text_leaves_the_structure_as_it_is(text: str) -> None:
    """Whatever the text, the page has the same elements in the same number as with a plain word."""
    plain = [tag for tag, _ in Reader(page("plain", 2)).tags]
    assert [tag for tag, _ in Reader(page(text, 2)).tags] == plain


def test_the_page_needs_nothing_else() -> None:
    """No script, no request: every address is a place in the page or data in the page."""
    read = Reader(page())
    for tag, attributes in read.tags:
        assert tag not in ("script", "link", "iframe", "object", "embed", "img", "base")
        for name in ("src", "href", "action", "xlink:href"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:text/csv;"))
    assert "url(" not in re.sub(r"url\(#[a-z_-]+\)", "", page())
    assert "@import" not in page()
    policy = next(item["content"] for tag, item in read.tags if item.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_tables_have_captions_and_scopes_and_charts_have_words() -> None:
    """Every table has a caption and scoped headings, every chart a text alternative; links lead somewhere."""
    text = page()
    assert text.count("<table") == text.count("<caption>")
    read = Reader(text)
    assert all(attributes.get("scope") for tag, attributes in read.tags if tag == "th")
    for tag, attributes in read.tags:
        if tag == "svg":
            named = attributes.get("aria-label") or attributes.get("aria-labelledby")
            assert named or attributes.get("aria-hidden") == "true"
    ids = [attributes["id"] for _, attributes in read.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    targets = {(attributes.get("href") or "")[1:] for tag, attributes in read.tags if tag == "a"}
    assert {target for target in targets if not target.startswith("ata:")} <= set(ids)


def test_every_outcome_is_told_in_words_and_marks() -> None:
    """Nothing is told by colour alone: each outcome has its word and its mark."""
    text = Reader(page()).text
    for word in (
        "migrated",
        "blocked",
        "needs support",
        "rejected",
        "on hold",
        "aborted",
        "failed",
        "unknown",
    ):
        assert word in text


def test_a_rehearsal_says_so() -> None:
    """A time scale other than 1 is shown."""
    assert "time ran 14,400 times as fast" in Reader(page()).text


def test_the_csv_holds_every_zone_and_no_formula() -> None:
    """The embedded CSV has one line a zone; a name that a spreadsheet would run is disarmed."""
    text = page('=HYPERLINK("http://evil.example")')
    (data,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", text)
    lines = list(csv.DictReader(io.StringIO(base64.b64decode(data).decode())))
    assert len(lines) == 18
    assert all(line["name"].startswith("'=HYPERLINK") for line in lines)


def test_a_large_campaign_lists_what_stands_out_and_counts_the_rest() -> None:
    """The table is bounded: migrated zones are left to the CSV, and the page says how many."""
    some = rows(3 * MOST_ROWS)
    data = report_data(source(some))
    assert len(data.rows) == MOST_ROWS
    assert not {row.place for row in data.rows} & {"migrated", "already_migrated"}
    assert data.left_out["rows"] == 2 * MOST_ROWS
    text = render_report(data, some)
    assert "the others are in the CSV" in text
    assert f"{3 * MOST_ROWS:,} zones finished within" in text


def test_a_csv_that_is_too_long_is_named_and_not_embedded() -> None:
    """Beyond some megabytes the page says where the list is, or how to get it."""
    some = rows(1500, reason="x" * 3000)
    data = report_data(source(some))
    assert "--csv FILE" in render_report(data, some)
    assert "all.csv" in render_report(data, some, "all.csv")
    assert "base64" not in render_report(data, some)


def test_nothing_at_all_is_a_report_too() -> None:
    """A campaign without zones, decisions or evidence still has a page that says so."""
    bare = source([]).model_copy(update={"timelines": {}, "evidence": {}, "aftercare": {}})
    text = Reader(render_report(report_data(bare), [])).text
    assert "No failures, no unknown results" in text
    assert "No validation window was judged" in text


def test_the_chart_of_finishes_ends_at_all_that_finished() -> None:
    """The stacked areas add up to the zones that closed, and the sentence tells the same."""
    some = rows(90)
    chart = finishes(some)
    assert chart is not None
    assert sum(layer.zones for layer in chart.layers) == 90
    assert sum(chart.table[-1][1]) == 90
    assert chart.told.startswith("90 zones finished within 10m 23s")


@given(st.dictionaries(st.sampled_from([outcome.value for outcome in ZoneOutcome]), st.integers(0, 10**6)))
def test_a_bar_is_full(places: dict[str, int]) -> None:
    """The parts of a bar follow one another without gap or overlap, up to the whole."""
    end = 0.0
    for part in parts_of(counts(places)):
        assert part.start == pytest.approx(end)
        end = part.start + part.width
    assert end == pytest.approx(100 if any(places.values()) else 0)
