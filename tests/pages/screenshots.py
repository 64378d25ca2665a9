"""The pictures of the documentation: ``python -m tests.pages.screenshots`` makes them anew.

Pages are taken in Chromium; what verbs print is drawn as they print it. They show the campaigns of
page_kit.py and waiting_kit.py, but for those of ``make demo``, which show what a run of it has printed
(demo_run.py).
"""

from __future__ import annotations

import hashlib
import io
import math
from collections import Counter
from dataclasses import astuple, dataclass
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser

from tests.pages.browser_kit import DESKTOP, PHONE, browser, opened
from tests.pages.terminal import draw
from tests.pages.waiting_kit import PAGES

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
KEY = "edgeshift page"
"""Under which a picture notes what it was taken of."""

MOST_BYTES = 250_000
COLOURS = 256


@dataclass(frozen=True)
class Shot:
    """A picture of a page: of the screen's size, from the top or from the element ``at`` on."""

    name: str
    page: str
    size: tuple[int, int]
    dark: bool = False
    at: str = ""


SHOTS = (
    Shot("report.png", "report", (DESKTOP[0], 1000)),
    Shot("report-dark.png", "report", (DESKTOP[0], 900), dark=True, at="#outcomes"),
    Shot("report-phone.png", "report", PHONE),
    Shot("approval.png", "approval", (DESKTOP[0], 1000), at="#sheet-1"),
)


def take(running: Browser, folder: Path) -> None:
    """Take every picture into a folder."""
    for shot in SHOTS:
        noted = PngInfo()
        noted.add_text(KEY, key(shot))
        file = folder / f"{shot.page}.html"
        file.write_text(PAGES[shot.page](), encoding="utf-8")
        with opened(running, file, shot.size, dark=shot.dark) as page:
            if shot.at:
                page.evaluate(f"() => document.querySelector({shot.at!r}).scrollIntoView()")
            raw = page.screenshot(animations="disabled")
        file.unlink()
        few_colours(Image.open(io.BytesIO(raw))).save(folder / shot.name, optimize=True, pnginfo=noted)


def few_colours(picture: Image.Image) -> Image.Image:
    """The picture with a palette, which takes a third. A page has few colours, and those that it has most are
    kept as they are; an edge of a letter may have one beside its own.
    """
    raw = picture.convert("RGB").tobytes()
    points = list(zip(raw[::3], raw[1::3], raw[2::3], strict=True))
    kept = [colour for colour, _ in Counter(points).most_common(COLOURS)]
    # Pillow's own way to a given palette is not exact, and leaves the ground another colour.
    nearest = {
        colour: min(range(len(kept)), key=lambda at: math.dist(colour, kept[at])) for colour in set(points)
    }
    found = Image.frombytes("P", picture.size, bytes(nearest[point] for point in points))
    found.putpalette([part for colour in kept for part in colour])
    return found


def key(shot: Shot) -> str:
    """What a picture is taken of now, in a few characters: the page that Chromium is given, and how it looks
    at it.
    """
    asked = repr(astuple(shot)).encode()
    return hashlib.sha256(asked + b"\0" + PAGES[shot.page]().encode()).hexdigest()[:16]


def notes(picture: Path) -> dict[str, str]:
    """What a picture notes of itself."""
    with Image.open(picture) as opened_picture:
        return {str(name): str(value) for name, value in opened_picture.info.items()}


def main() -> None:
    """Make every picture of the documentation anew."""
    with browser() as running:
        take(running, IMAGES)
    draw(IMAGES)
    for picture in sorted(IMAGES.iterdir()):
        print(f"{picture.relative_to(ROOT)}  {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
