"""The report's page: complete, self-contained, accessible, and safe whatever the names and reasons are."""

from __future__ import annotations

import base64
import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from edgeshift.areas.waf.evidence import Finding, Kind
from edgeshift.areas.waf.losses import Loss, SettingKind
from edgeshift.runtime.safe_text import visible
from edgeshift.views.areas.waf_report import WafSections
from edgeshift.views.pages import labelled
from edgeshift.views.report_data import MOST_ROWS, as_json, report_data
from edgeshift.views.report_file import closed_tickets
from edgeshift.views.report_page import render_report
from tests.rules.report_kit import HOSTILE, ZONE, care_of, kept, page, rows, source


class Reader(HTMLParser):
    """Collects what a browser would make of the page, but for where long words may be broken (``wbr``)."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the tag."""
        if (tag, attrs) != ("wbr", []):
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
    assert visible(text) in read.text


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


def test_what_a_person_looks_for_first_comes_first() -> None:
    """Failed, unknown, rejected, on hold, in this order, also where there is none; then who else waits."""
    made = source(rows(2))
    summary = made.summary.model_copy(update={"places": {"migrated": 7, "rejected": 1, "awaiting": 3}})
    data = report_data(made.model_copy(update={"summary": summary}))
    assert [(tile.label, tile.zones) for tile in data.tiles] == [
        ("failed", 0),
        ("unknown", 0),
        ("rejected", 1),
        ("on hold", 0),
        ("awaiting a sign-off", 3),
    ]
    shown = render_report(data, made.rows)
    assert shown.index('class="tiles"') < shown.index("<dt>failed</dt>") < shown.index('id="outcomes"')


def test_evidence_is_folded_and_names_its_rules() -> None:
    """No window is open; rules that were seen by name stand under it, also where aftercare speaks of them."""
    rule = "0242110ae62e44028a13bf4834780914"
    made = source(rows(2))
    seen = made.documents[0].model_copy(
        update={
            "names": {rule: "Anomaly:Header:User-Agent"},
            "findings": (Finding(kind=Kind.GAP, rule=rule, path="/save", requests=3, clients=2, samples=()),),
        }
    )
    care = care_of(made).model_copy(update={"review": (f"rule {rule} stopped 3 requests",)})
    made = made.model_copy(update={"documents": {0: seen}, "records": {0: kept(ZONE, care)}})
    # An identifier may be broken in its middle.
    shown = render_report(report_data(made), made.rows).replace("<wbr>", "")
    assert "<details open" not in shown
    named = f"rule Anomaly:Header:User-Agent ({rule})"
    assert f"gap: {named} on /save, 3 requests from 2 clients" in shown
    assert f"<li>{named} stopped 3 requests</li>" in shown


def test_tickets_that_are_gone_are_counted_and_not_listed() -> None:
    """Whoever closes a ticket of the folder moves or deletes its file."""
    made = source(rows(4), "plain")
    for row, ticket in zip(
        made.rows, ("/t/open.md", "/t/closed.md", "https://desk.example/7", ""), strict=True
    ):
        row.tickets = [ticket] if ticket else []
    made = made.model_copy(update={"timelines": {}, "closed_tickets": frozenset({"/t/closed.md"})})
    data = report_data(made)
    assert [item.text for item in data.tickets] == ["/t/open.md", "https://desk.example/7"]
    assert "1 ticket was closed: the file was moved or deleted" in render_report(data, made.rows)


def test_a_ticket_is_gone_when_its_folder_is_there_without_it(tmp_path: Path) -> None:
    """Of a folder that is not on this machine, and of a ticket system, nothing is known."""
    kept, moved = tmp_path / "kept.md", tmp_path / "moved.md"
    kept.write_text("ticket")
    elsewhere = (str(tmp_path / "none" / "x.md"), "https://desk.example/7", "DESK-7")
    assert closed_tickets([str(kept), str(moved), *elsewhere]) == {str(moved)}


def test_a_decision_for_one_wave_counts_the_zones_of_that_wave() -> None:
    """Those of other waves have the same fingerprint, and nobody has decided on them by it."""
    made = source(rows(18))
    [for_all] = made.summary.book
    book = [for_all, for_all.model_copy(update={"wave": 0}), for_all.model_copy(update={"wave": 2})]
    made.summary.book[:] = book
    told = {line.subject: line.zones for line in report_data(made).by_fingerprint}
    assert told == {"all waves": 18, "wave 1": 9, "wave 3": 0}


def test_long_lists_are_folded() -> None:
    """The page shows the first zones, and has every other behind a fold."""
    some = rows(120)
    shown = render_report(report_data(source(some)), some)
    zones = shown[shown.index('id="zones"') :]
    before, _, folded = zones.partition("<details><summary>100 more</summary>")
    assert before.count("zone-19.example") == 1 and "zone-20.example" not in before
    assert all(f"zone-{number}.example" in folded for number in range(20, 120))


def test_a_cell_says_its_heading_and_breaks_long_words_at_joints_alone() -> None:
    """For screens without room for columns. No joint is within a tag or an entity; a short name has none."""
    path = "/var/lib/edgeshift/tickets/waf-too_many_rules.md"
    cells = Markup('<th scope="row">a.example</th><td><code title="{}">{}&amp;</code></td><td>7</td>').format(
        "d" * 64, path
    )
    shown = labelled(cells, ["Zone", "Ticket", "#Times"])
    assert shown.startswith(
        '<th scope="row" class="t">a.example</th><td data-label="Ticket"><code title="' + "d" * 64
    )
    assert "/<wbr>var/<wbr>lib/<wbr>" in shown and "rules.<wbr>md&amp;</code>" in shown
    assert shown.endswith('<td data-label="Times" class="n">7</td>')
    assert 'class="long"' in labelled(Markup(f"<td>{'x' * 80}</td>"), ["Reason"])


def test_aftercare_names_the_range_and_the_verb() -> None:
    """Configuration for another range than the provider's would weaken the zone; one of before names none."""
    made = source(rows(2))
    old = care_of(made)
    named = {0: kept(ZONE, old.model_copy(update={"provider": "4"})), 1: kept(ZONE, old)}
    made = made.model_copy(update={"records": named})
    shown = render_report(report_data(made), made.rows)
    for place, said in ((0, "For provider 4."), (1, "which named no range: do not apply it.")):
        name = made.rows[place].name
        assert f"{said} " in shown
        assert f"edgeshift export terraform autumn --zone {name}</code>" in shown


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


def test_what_migrations_lost_is_named() -> None:
    """Over all zones, with how many have it, and zone by zone up to a bound; JSON has the facts."""
    lost = tuple(
        Loss(kind=SettingKind.RULE, package="Core", id=f"9811{number:02d}", name="A robot", mode="off")
        for number in range(45)
    )
    seen = source(rows(2))
    care = care_of(seen).model_copy(update={"losses": lost})
    seen = seen.model_copy(
        update={"records": {0: kept(ZONE, care), 1: kept(ZONE, care)}, "losses": {0: lost, 1: lost}}
    )
    data = report_data(seen)
    assert isinstance(data.area, WafSections)
    assert data.area.losses[0] == ("rule 981100 (A robot) of Core: off", 2) and len(data.area.losses) == 45
    text = Reader(render_report(data, seen.rows)).text
    assert "rule 981144 (A robot) of Core: off" in text
    assert f"5 more: edgeshift snapshot {seen.rows[0].name}" in text
    shown = as_json(seen)["losses"]
    assert [(one["zone"], one["losses"]) for one in shown] == [(row.name, lost) for row in seen.rows]


def test_nothing_at_all_is_a_report_too() -> None:
    """A campaign without zones, decisions or evidence still has a page that says so."""
    bare = source([]).model_copy(update={"timelines": {}, "documents": {}, "records": {}})
    text = Reader(render_report(report_data(bare), [])).text
    assert "No failures, no unknown results" in text
    assert "No validation window was judged" in text
