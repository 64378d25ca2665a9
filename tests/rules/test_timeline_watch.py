"""The live picture of a campaign: bars, figures, and the lines that are printed without a terminal."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from edgeshift.cli.picture import save_picture
from edgeshift.cli.streams import _PLAIN
from edgeshift.messages import Book, CampaignSummary, Step, Waiting, WaveSummary
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.views.figures import Pace, Said, changed_lines, said_in
from edgeshift.views.live import (
    campaign_view,
    figures_line,
    header,
    notes_block,
    phases_table,
    shares,
    totals_view,
    waiting_block,
)
from edgeshift.views.words import Kind, lasting, one_line

BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PRINT = "7f3a9c21e0b4" + "0" * 52


def summary(done: int = 0, state: str = "running", **changes: object) -> CampaignSummary:
    """A campaign of 100 zones, of which ``done`` are migrated."""
    places = {"migrated": done, "working": 10, "awaiting": 5, "pending": 85 - done}
    base = CampaignSummary(
        name="autumn",
        area=Area.WAF,
        state=state,
        started_by="olga",
        started_at=BEGAN,
        now=BEGAN,
        time_scale=1,
        count=100,
        wave=0,
        waves=[WaveSummary(number=0, name="all", size=100, places=places)],
        places=places,
        permits_out=0,
        waiting=[],
        book=[],
        targets="a" * 64,
        spec="b" * 64,
    )
    return base.model_copy(update=changes)


def shown(picture: object, width: int = 80) -> str:
    """What a picture looks like in so many columns."""
    console = Console(width=width)
    with console.capture() as captured:
        console.print(picture)
    return captured.get()


@given(
    counts=st.fixed_dictionaries({kind: st.integers(0, 100_000) for kind in Kind}),
    width=st.integers(len(Kind), 200),
)
def test_a_bar_is_exactly_full_and_hides_nobody(counts: dict[Kind, int], width: int) -> None:
    """The cells add up to the width, and one failed zone among 100,000 still has a cell."""
    cells = shares(counts, width)
    assert sum(cells.values()) == (width if any(counts.values()) else 0)
    assert {kind for kind, count in counts.items() if count} == set(cells)
    assert all(count >= 1 for count in cells.values())


@pytest.mark.parametrize("area", Area)
def test_totals_have_a_tick_only_where_all_are_verified(area: Area) -> None:
    """A summary counts zones whose fields were written and not verified together with those that were."""
    settled = summary(area=area, places={"settled": 3, "already_settled": 1, "failed": 1})
    [line] = [line for line in shown(phases_table(settled)).splitlines() if " 3 %" in line]
    assert ("✓" in line, "○" in line) == ((False, True) if area is Area.LOG_FIELDS else (True, False)), line
    [plain] = [line for line in shown(phases_table(settled, plain=True)).splitlines() if " 3 %" in line]
    assert plain.startswith("/ " if area is Area.LOG_FIELDS else "+ ")


def test_rate_and_rest_follow_the_last_minute() -> None:
    """20 zones in the last minute are 20 a minute; what still moves takes accordingly long."""
    pace = Pace()
    places = {"migrated": 30, "working": 10, "pending": 60}
    pace.progress(summary(10), BEGAN + timedelta(minutes=5))
    now = BEGAN + timedelta(minutes=6)
    progress = pace.progress(summary(30).model_copy(update={"places": places}), now)
    assert progress.rate == pytest.approx(20)
    assert progress.left is not None
    assert progress.left.total_seconds() == pytest.approx(60 * (10 + 60) / 20)
    assert progress.percent == 30


@pytest.mark.parametrize(
    ("place", "people", "said"),
    [
        ("awaiting", 28, "28 wait for people"),
        ("awaiting_separate", 28, "28 wait for people"),
        ("support", 28, "28 wait for people"),
        ("waiting", 0, "28 in the validation window"),
    ],
)
def test_no_time_is_left_while_the_rest_hangs_on_others(place: str, people: int, said: str) -> None:
    """Zones that wait for people, or for the end of a window, do not move at the rate of the others."""
    pace = Pace()
    places = {"migrated": 30, "working": 10, place: 28, "pending": 32}
    pace.progress(summary(10), BEGAN + timedelta(minutes=5))
    now = summary(30).model_copy(update={"places": places})
    progress = pace.progress(now, BEGAN + timedelta(minutes=6))
    assert (progress.left, progress.people) == (None, people)
    line = figures_line(progress, now).plain
    assert said in line and " left" not in line


@pytest.mark.parametrize("state", ["aborting", "closed"])
def test_nothing_is_offered_for_a_sign_off_of_a_campaign_that_ends(state: str) -> None:
    """What waits is still there to be seen; a decision leads to nothing any more."""
    waiting = Waiting(fingerprint=PRINT, zones=7, waves=[0], example=3, step=Step.COMMIT)
    for shown, offered in (
        (summary(5, waiting=[waiting]), True),
        (summary(5, state, waiting=[waiting]), False),
    ):
        console = Console(width=120, file=io.StringIO())
        console.print(waiting_block(shown))
        drawn = console.file.getvalue()  # type: ignore[attr-defined]
        assert ("sign-off approve" in drawn) is offered and PRINT[:12] in drawn
        assert any("sign-off approve" in line for line in changed_lines(None, shown)) is offered


@pytest.mark.parametrize("singly", [0, 1, 2, 7])
def test_zones_that_wait_singly_are_offered_by_cause(singly: int) -> None:
    """Where there are several; one is shown by itself. Without a terminal it is said once."""
    waiting = Waiting(fingerprint=PRINT, zones=7, waves=[0], example=3, step=Step.COMMIT, separate=singly)
    now, command = summary(5, waiting=[waiting]), "edgeshift sign-off causes autumn"
    lines = shown(waiting_block(now)).splitlines()
    assert (f"  {command}" in [line.rstrip() for line in lines]) is (singly > 1), lines
    assert any(line.endswith(f"-> {command}") for line in changed_lines(summary(), now)) is (singly > 1)
    assert changed_lines(now, now) == []
    narrow = " ".join(shown(waiting_block(now), 50).split())
    assert f"7 zones, commit, waves 1{f', {singly} to be signed singly' if singly else ''} " in f"{narrow} "
    ended = now.model_copy(update={"state": "aborting"})
    assert command not in shown(waiting_block(ended))
    assert command not in shown(waiting_block(now, heeded=False))


def test_no_time_is_left_once_every_zone_has_begun() -> None:
    """The rate says when zones begin: the last ones take as long as each of them takes."""
    pace = Pace()
    pace.progress(summary(10), BEGAN + timedelta(minutes=5))
    last = summary(99).model_copy(update={"places": {"migrated": 99, "working": 1}})
    progress = pace.progress(last, BEGAN + timedelta(minutes=6))
    assert progress.rate == pytest.approx(89) and progress.left is None


@pytest.mark.parametrize("again", [False, True])
def test_no_rate_is_known_at_the_first_look_after_zones_were_begun_again(again: bool) -> None:
    """Most of the time since the start may be one in which the campaign was closed; from what is seen since
    the first look there is a rate all the same. What people and notes say of it is no matter.
    """
    pace, at = Pace(), BEGAN + timedelta(hours=11)
    notes = ["2026-03-01 22:00:00 30 zones restarted by olga: z"]
    first = pace.progress(summary(75, notes=notes).model_copy(update={"begun_again": again}), at)
    assert first.rate == (None if again else pytest.approx(75 / 660)) and first.left is None
    assert pace.progress(summary(77), at + timedelta(minutes=1)).rate == pytest.approx(2)


def test_nothing_is_forecast_while_the_campaign_is_paused() -> None:
    """A paused campaign has no rest time: it depends on a person."""
    pace = Pace()
    pace.progress(summary(10), BEGAN + timedelta(minutes=5))
    assert pace.progress(summary(30, "paused"), BEGAN + timedelta(minutes=6)).left is None


def test_zones_begun_again_do_not_make_the_rate_negative() -> None:
    """A retry takes zones back; the rate starts anew."""
    pace = Pace()
    pace.progress(summary(30), BEGAN + timedelta(minutes=5))
    rate = pace.progress(summary(20), BEGAN + timedelta(minutes=5, seconds=30)).rate
    assert rate is not None
    assert rate >= 0


def test_only_what_changed_is_printed() -> None:
    """State, sign-offs that wait, decisions, notes and exclusions are printed once each."""
    waiting = Waiting(fingerprint=PRINT, zones=7, waves=[0], example=3, step=Step.COMMIT)
    decision = Decision(choice=Choice.APPROVE, digest=PRINT, by="alice", reason="fine", at=BEGAN)
    first = summary()
    later = summary(
        5,
        "paused",
        why="by bob: lunch",
        waiting=[waiting],
        book=[Book(fingerprint=PRINT, decisions=[decision])],
        notes=["paused by bob"],
        excluded={7: "already in campaign/other"},
    )
    assert changed_lines(None, first) == ["autumn: running"]
    assert changed_lines(first, later) == [
        "autumn: paused - by bob: lunch",
        "waiting for a sign-off: fingerprint 7f3a9c21e0b4, commit, 7 zones"
        " -> edgeshift sign-off approve autumn --fingerprint 7f3a9c21e0b4",
        "alice approved fingerprint 7f3a9c21e0b4: fine",
        "note: paused by bob",
        "zone number 8 is left out: already in campaign/other",
    ]
    assert changed_lines(first, later, {7: "shop.example"})[-1].startswith("zone shop.example is left out: ")
    assert changed_lines(later, later) == []


def test_a_decision_that_a_reopening_voided_is_told_once_more_when_it_is_said_again() -> None:
    """The same person's same word, later: another decision. At each further look it is known."""

    def rejected(at: datetime) -> CampaignSummary:
        no = Decision(choice=Choice.REJECT, digest=PRINT, by="alice", reason="not yet", at=at)
        return summary(5, book=[Book(fingerprint=PRINT, decisions=[no])])

    said = "alice rejected fingerprint 7f3a9c21e0b4: not yet"
    last = rejected(BEGAN + timedelta(hours=2))
    before, told, lines = None, set[Said](), []
    for look in (rejected(BEGAN), summary(5), last, summary(5), last):
        lines.append([line for line in changed_lines(before, look, told=told) if line == said])
        before, told = look, told | said_in(look)
    assert lines == [[said], [], [said], [], []]


def test_a_zone_that_is_left_out_is_named() -> None:
    """By its name; where nobody knows it, by its number, as people count."""
    left = summary(5, excluded={7: "already in campaign/other", 9: "gone"})
    assert "2 zones left out, such as zone shop.example: already" in shown(
        notes_block(left, names={7: "shop.example"}), 120
    )
    assert "2 zones left out, such as zone number 8: already" in shown(notes_block(left), 120)


def test_only_the_note_of_a_wave_is_left_out() -> None:
    """That a wave begins is told with its size; what a person says may end in the same word."""
    waves = [WaveSummary(number=n, name=name, size=50, places={}) for n, name in enumerate(("first", "rest"))]
    at = "2026-03-01 12:30:05"
    said = f"{at} paused by olga: until the freeze begins"
    other = f"{at} resumed by olga (was paused): wave 'rest' begins"
    before = summary().model_copy(update={"waves": waves})
    now = before.model_copy(update={"wave": 1, "notes": [f"{at} wave 'rest' begins", said, other]})
    assert changed_lines(before, now) == [
        "wave 2 of 2 (rest) begins: 50 zones",
        f"note: {said}",
        f"note: {other}",
    ]


@pytest.mark.parametrize("width", [60, 80, 90, 120])
def test_the_time_stands_apart_from_the_scale(width: int) -> None:
    """Beside it with a gap, or in a line of its own: neither is broken for the other."""
    fast = summary(name="rehearsal-log-fields", area=Area.LOG_FIELDS, time_scale=3_600)
    lines = [line.strip() for line in shown(header(fast, BEGAN), width).splitlines()]
    [at] = [line for line in lines if "12:00:00 UTC" in line and "started" not in line]
    assert re.fullmatch("(.* times as fast {2,})?12:00:00 UTC", at), lines


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("plain", [False, True])
def test_the_picture_fits_the_screen(width: int, plain: bool) -> None:
    """No line is wider than the terminal; without Unicode every character is ASCII."""
    waiting = [
        Waiting(fingerprint=PRINT, zones=7, waves=[0], example=3, step=Step.DELETE_OVERRIDES, separate=2)
    ] * 12
    full = summary(
        5,
        "halted",
        why="3 zones failed " * 12,
        waiting=waiting,
        fingerprints_waiting=12,
        notes=["x" * 300],
        time_scale=14400,
    )
    text = shown(
        campaign_view(full, Pace().progress(full, BEGAN), BEGAN, plain=plain, trouble="no answer"), width
    )
    assert max(len(line) for line in text.splitlines()) <= width
    assert "halted" in text
    assert "14,400 times" in text
    assert "4 more fingerprints" in text
    if plain:
        # What is left is written in plainer characters by the stream (edgeshift/cli/streams.py).
        assert not [char for char in text.translate(_PLAIN) if not char.isascii()]


def test_text_from_outside_cannot_draw() -> None:
    """Reasons and notes may hold markup and escape sequences; they are shown as text."""
    evil = summary(1, why="[bold red]x[/] \x1b[2J", notes=["[link=http://evil.example]y[/link]\nz"])
    text = shown(campaign_view(evil, Pace().progress(evil, BEGAN), BEGAN))
    assert "[bold red]x[/]" in text
    assert "[link=http://evil.example]y[/link] z" in text
    assert "\x1b" not in text


def test_the_totals_of_a_closed_campaign_are_all_of_it() -> None:
    """The last picture names every outcome with its share and how long it took."""
    closed = summary(
        state="closed", places={"migrated": 97, "failed": 3}, now=BEGAN + timedelta(hours=2, minutes=5)
    )
    text = shown(totals_view(closed, Pace().progress(closed, closed.now)))
    assert "100 zones in 2h 5m" in text
    assert "97 %" in text
    assert "100 of 100 zones finished (100 %)" in text


@given(st.text(max_size=60))
def test_one_line_is_one_line(text: str) -> None:
    """Whatever comes in, one printable line goes out."""
    found = one_line(text)
    assert "\n" not in found
    assert "\x1b" not in found
    assert len(found.splitlines()) <= 1


def test_durations_are_never_negative() -> None:
    """Clocks that disagree do not make a negative length."""
    assert lasting(timedelta(seconds=-3)) == "0.0s"


def test_a_picture_for_the_documentation_asks_nobody_for_anything(tmp_path: Path) -> None:
    """The exported SVG has the text, and nothing in it is fetched from anywhere."""
    full = summary(5)
    path = tmp_path / "watch.svg"
    save_picture(path, campaign_view(full, Pace().progress(full, BEGAN), BEGAN), "edgeshift watch autumn")
    svg = path.read_text()
    assert "autumn" in svg
    assert not re.search(r"(?:url\(|href=|src=)[\"']?http", svg)
