"""The pages in a real Chromium: they fit a phone, a desktop and paper, in the light and in the dark, and ask
nobody for anything.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser
from pypdf import PdfReader

from edgeshift.views.approval import render_approval
from tests.pages.browser_kit import (
    BROKEN,
    CONTRASTS,
    DESKTOP,
    HIDDEN,
    OUTSIDE,
    PAPER,
    PHONE,
    TABLET,
    asked,
    browser,
    opened,
)
from tests.pages.page_kit import zones
from tests.pages.screenshots import IMAGES, KEY, MOST_BYTES, SHOTS, key, take
from tests.pages.screenshots import notes as notes_of
from tests.pages.waiting_kit import PAGES, approval_data
from tests.rules.report_kit import page as page_of
from tests.rules.test_approval_page import with_text

pytestmark = pytest.mark.timeout(3_000)

EACH = pytest.mark.parametrize("name", PAGES)
LONG = ("x" * 120, ".".join(["a-name-of-forty-letters-and-of-hyphens-x"] * 4), "/a/very/long/path/" * 8)
SCREENS = 10
"""Screens of a desktop that the report of 120 zones takes at most, with its folds closed."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of this module."""
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages as files."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, render in PAGES.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(render(), encoding="utf-8")
    return found


@EACH
@pytest.mark.parametrize("size", [PHONE, TABLET, DESKTOP], ids=["phone", "tablet", "desktop"])
def test_nothing_reaches_out_of_the_screen(
    chromium: Browser, files: dict[str, Path], name: str, size: tuple[int, int]
) -> None:
    """Neither the page, with every fold open, nor an element of it is wider than the screen or hides a part
    of itself; and no word is broken in its middle.
    """
    with opened(chromium, files[name], size, folds=True) as page:
        seen = asked(page, OUTSIDE)
        assert seen == {"width": size[0], "found": []}
        assert asked(page, BROKEN) == []


@pytest.mark.parametrize("size", [PHONE, TABLET, DESKTOP], ids=["phone", "tablet", "desktop"])
@pytest.mark.parametrize("said", LONG, ids=["word", "host", "path"])
def test_the_longest_words_fit_too(
    chromium: Browser, tmp_path: Path, said: str, size: tuple[int, int]
) -> None:
    """Wherever names, values and reasons may stand, however long they are."""
    for number, html in enumerate((page_of(said), render_approval(with_text(said)))):
        file = tmp_path / f"{number}.html"
        file.write_text(html, encoding="utf-8")
        with opened(chromium, file, size, folds=True) as page:
            assert asked(page, OUTSIDE) == {"width": size[0], "found": []}


def test_a_report_of_120_zones_is_read_in_ten_screens(chromium: Browser, files: dict[str, Path]) -> None:
    """The rest is behind folds."""
    with opened(chromium, files["report"], DESKTOP) as page:
        height = asked(page, "() => document.documentElement.scrollHeight")
        assert height / DESKTOP[1] < SCREENS
        first = asked(page, "() => document.querySelector('.tiles').getBoundingClientRect().bottom")
        assert first < DESKTOP[1] / 2
        wide = asked(page, "() => document.querySelector('.plot svg').getBoundingClientRect().width")
        room = asked(page, "() => document.querySelector('main').getBoundingClientRect().width")
        assert wide > 0.85 * room


@EACH
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_can_be_read(chromium: Browser, files: dict[str, Path], name: str, dark: bool) -> None:
    """Each text stands out from what is behind it, by 4.5 to 1 at least, in the light and in the dark."""
    with opened(chromium, files[name], DESKTOP, dark=dark, folds=True) as page:
        found = asked(page, CONTRASTS)
        ground = asked(page, "() => getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 200) is dark
    assert len(found) >= 4
    assert {pair: one for pair, one in found.items() if one["ratio"] < 4.5} == {}


@EACH
def test_a_page_asks_nobody_for_anything(chromium: Browser, files: dict[str, Path], name: str) -> None:
    """No request but for the file itself, no script, nothing that its policy had to keep out."""
    asked_for: list[str] = []
    said: list[str] = []
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.on("request", lambda request: asked_for.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(files[name].as_uri(), wait_until="networkidle")
        assert page.locator("script, link, img, iframe, object, embed").count() == 0
    finally:
        context.close()
    assert asked_for == [files[name].as_uri()] and said == []


def letters(text: str) -> str:
    """A text without spaces and ligatures, which paper has elsewhere than a page."""
    return unicodedata.normalize("NFKC", "".join(text.split()))


@EACH
def test_nothing_reaches_out_of_the_paper(chromium: Browser, files: dict[str, Path], name: str) -> None:
    """Nor is a word broken in its middle, however narrow the columns of a table are there."""
    with opened(chromium, files[name], PAPER, folds=True) as page:
        page.emulate_media(media="print")
        assert asked(page, OUTSIDE) == {"width": PAPER[0], "found": []}
        assert asked(page, BROKEN) == []


@pytest.mark.parametrize("said", LONG, ids=["word", "host", "path"])
def test_the_longest_words_fit_on_paper_too(chromium: Browser, tmp_path: Path, said: str) -> None:
    """Wherever names, values and reasons may stand."""
    for number, html in enumerate((page_of(said), render_approval(with_text(said)))):
        file = tmp_path / f"{number}.html"
        file.write_text(html, encoding="utf-8")
        with opened(chromium, file, PAPER, folds=True) as page:
            page.emulate_media(media="print")
            assert asked(page, OUTSIDE) == {"width": PAPER[0], "found": []}


@pytest.mark.long
@EACH
def test_what_is_printed_is_complete(chromium: Browser, files: dict[str, Path], name: str) -> None:
    """Paper has no folds: all that the page has is on it, also what is folded on the screen."""
    with opened(chromium, files[name], DESKTOP) as page:
        folded = asked(page, HIDDEN)
        page.emulate_media(media="print")
        assert asked(page, HIDDEN) == []
        printed = PdfReader(io.BytesIO(page.pdf(format="A4")))
    assert folded
    text = letters("".join(sheet.extract_text() for sheet in printed.pages))
    if name == "report":
        assert not [zone.name for zone in zones() if zone.name not in text]
    if name == "approval":
        data = approval_data()
        for sheet in data.sheets:
            assert sheet.digest in text
            assert letters(sheet.command("reject", data.summary.name)) in text
        assert len(printed.pages) >= len(data.sheets)


def test_pictures_are_taken_of_the_pages_with_their_colours(
    chromium: Browser, files: dict[str, Path], tmp_path: Path
) -> None:
    """On a desktop, in the dark and on a phone, small; those in docs/images, too, have the very colours of
    the page's ground. tests/pages/test_pictures.py says whether they are of these pages.
    """
    take(chromium, tmp_path)
    for shot in SHOTS:
        with opened(chromium, files[shot.page], DESKTOP, dark=shot.dark) as page:
            grounds = [tuple(colour) for colour in asked(page, GROUNDS)]
        for picture in (tmp_path / shot.name, IMAGES / shot.name):
            assert 5_000 < picture.stat().st_size < MOST_BYTES, shot.name
            with Image.open(picture) as kept:
                seen = kept.convert("RGB")
            counted = sorted(seen.getcolors(seen.width * seen.height) or (), reverse=True)
            # At the left edge is the page itself; cards have more of the rest than any other colour.
            assert [seen.getpixel((3, 3))] == grounds[:1], picture
            assert {colour for _, colour in counted[:2]} == set(grounds), picture
        assert notes_of(tmp_path / shot.name)[KEY] == key(shot)


GROUNDS = """() => [document.body, document.querySelector('.card')].map(
  one => getComputedStyle(one).backgroundColor.match(/\\d+/g).map(Number))"""
"""The colours of the page and of its cards."""


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_name_and_a_digest_move_to_the_next_line_whole(
    chromium: Browser, files: dict[str, Path], size: tuple[int, int]
) -> None:
    """A campaign's name is not broken at its hyphen where it has room below, nor is a digest on a desktop."""
    for name, (chosen, phone) in {"report": ("h1 span", True), "approval": (".facts code", False)}.items():
        if size == PHONE and not phone:
            continue
        with opened(chromium, files[name], size) as page:
            lines = asked(page, LINES.replace("CHOSEN", chosen))
        assert lines and set(lines) == {1}, (name, lines)


LINES = """() => [...document.querySelectorAll('CHOSEN')].map(one => {
  const range = document.createRange()
  range.selectNodeContents(one)
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size
})"""
"""On how many lines the texts of elements are."""
