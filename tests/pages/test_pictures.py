"""The pictures of the documentation show what edgeshift shows now. This needs no browser: what verbs print is
drawn anew, and a picture of a page notes which page it was taken of.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.text import Text

from edgeshift.areas.waf.evidence import Evidence
from edgeshift.cli.picture import WIDTH, save_picture
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.testbed.demo.areas.waf_scenario import CAMPAIGN
from edgeshift.testbed.demo.scenario import TIME_SCALE
from edgeshift.views.console import SafeConsole
from edgeshift.views.figures import Pace
from edgeshift.views.live import campaign_view
from edgeshift.views.words import PLACES, look
from tests.pages import demo_run
from tests.pages.page_kit import BEGAN, LATER, report, report_source
from tests.pages.screenshots import IMAGES, KEY, SHOTS, key, notes
from tests.pages.terminal import draw
from tests.pages.waiting_kit import approval_data

ANEW = "make screenshots draws it anew"


def test_what_verbs_print_is_drawn_as_they_print_it_now(tmp_path: Path) -> None:
    """Each SVG is drawn anew, and is the committed one."""
    draw(tmp_path)
    drawn = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    kept = {file.name: file.read_text(encoding="utf-8") for file in IMAGES.glob("*.svg")}
    assert drawn.keys() == kept.keys()
    assert [name for name in drawn if drawn[name] != kept[name]] == [], ANEW


@pytest.mark.parametrize("shot", SHOTS, ids=[shot.name for shot in SHOTS])
def test_pages_were_taken_as_they_are_now(shot: object) -> None:
    """Of the very page that is made now: of its data and of what renders it, not of its templates alone."""
    (one,) = [known for known in SHOTS if known is shot]
    assert notes(IMAGES / one.name)[KEY] == key(one), ANEW


def test_every_picture_is_shown_and_every_shown_one_is_there() -> None:
    """In the README or on a page."""
    root = IMAGES.parents[1]
    pages = [root / "README.md", *(root / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w.-]+)\)", page.read_text("utf-8"))}
    assert shown == {file.name for file in IMAGES.iterdir()}


def test_what_the_demo_printed_is_what_it_prints_now() -> None:
    """Its record is of this demo, and has no heading and no word for a place that a campaign has not now."""
    shown = demo_run.running().plain
    assert shown.splitlines()[0].split()[:3] == [CAMPAIGN, "waf", "running"]
    assert f"time runs {TIME_SCALE:,.0f} times as fast" in shown
    data = approval_data().summary
    now = drawn(campaign_view(data, Pace().progress(data, data.now), data.now))
    for heading in ("where the zones are", "waiting for a sign-off", "to read it, and then to sign it:"):
        assert heading in shown and heading in now
    table = shown.split("this wave")[1].split("waiting for a sign-off")[0]
    labels = re.findall(r"^  (\S)  (\D+?) {2,}\d", table, re.MULTILINE)
    known = {(look(place, Area.WAF).mark, look(place, Area.WAF).label) for place in PLACES}
    assert len(labels) > 5 and set(labels) <= known


def drawn(shown: object) -> str:
    """What a terminal shows."""
    console = SafeConsole(width=WIDTH, record=True, quiet=False, force_terminal=False)
    with console.capture() as seen:
        console.print(shown)
    return seen.get()


def test_a_look_is_taken_from_what_a_terminal_was_sent() -> None:
    """The pictures of a live display are drawn over each other; the one with a wave that began is kept,
    without its notes.
    """
    up = "\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K"
    first, second = "  rest    ····  0/9\r\n", "  \x1b[1mrest\x1b[0m    ▒▒··  0/9   \r\n"
    more = "  waiting for a sign-off\r\n  \r\n  Notes\r\n  ▸ long"
    kept = demo_run.chosen(f"demo\r\n\x1b[?25l{first}{more}{up}{second}{more}{up}{second}")
    assert Text.from_ansi(kept).plain.split("\n")[0] == "  rest    ▒▒··  0/9"
    assert "\x1b[1mrest" in kept and "Notes" not in kept


def test_the_reports_data_can_be() -> None:
    """Nothing has happened later than it is looked at; histories are told by edgeshift's own sentences."""
    source = report_source()
    for told in (source.summary, approval_data().summary):
        noted = [note[:19] for note in told.notes]
        assert noted and max(noted) < f"{told.now:%Y-%m-%d %H:%M:%S}"
    for row in source.rows:
        assert row.started_at and row.closed_at
        assert BEGAN <= row.started_at < row.closed_at <= LATER
        seen = source.documents.get(row.index)
        assert seen is None or isinstance(seen, Evidence)
        assert seen is None or (seen.until and seen.until <= row.closed_at)
        attempt = source.timelines[row.index].attempts[0]
        if row.place == ZoneOutcome.FAILED.value:
            reason = f"failed ({attempt.reason}); a commit was sent (ada agreed to what was sent)."
            assert source.timelines[row.index].sentence.endswith(reason)
    assert "was not migrated by campaign waf-autumn: failed" in report().replace("<wbr>", "")


def test_a_picture_is_its_own(tmp_path: Path) -> None:
    """The same text is drawn the same; another is not: this is what the comparison rests on."""
    for name, text in (("one", "a"), ("two", "a"), ("three", "b")):
        save_picture(tmp_path / name, Text(text), "t")
    one, two, three = ((tmp_path / name).read_text() for name in ("one", "two", "three"))
    assert one == two != three
