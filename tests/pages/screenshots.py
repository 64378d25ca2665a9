"""The pictures of the documentation: ``python -m tests.pages.screenshots`` makes them anew.

Pages are taken in Chromium; what verbs print is drawn as they print it. All of them show the campaigns of
page_kit.py and waiting_kit.py.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser

from tests.pages.browser_kit import DESKTOP, PHONE, browser, opened
from tests.pages.terminal import draw
from tests.pages.waiting_kit import PAGES

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
TEMPLATES = ROOT / "edgeshift" / "views" / "templates"
KEY = "edgeshift templates"
"""Under which a picture notes what it was taken of."""

MOST_BYTES = 250_000
COLOURS = 160


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
    noted = PngInfo()
    noted.add_text(KEY, key())
    for shot in SHOTS:
        file = folder / f"{shot.page}.html"
        file.write_text(PAGES[shot.page](), encoding="utf-8")
        with opened(running, file, shot.size, dark=shot.dark) as page:
            if shot.at:
                page.evaluate(f"() => document.querySelector({shot.at!r}).scrollIntoView()")
            raw = page.screenshot(animations="disabled")
        file.unlink()
        # A page has few colours: with a palette it takes a third.
        seen = Image.open(io.BytesIO(raw)).convert("RGB")
        few = seen.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(folder / shot.name, optimize=True, pnginfo=noted)


def key() -> str:
    """What the templates and the style sheet are now, in a few characters."""
    found = hashlib.sha256()
    for file in sorted(TEMPLATES.iterdir()):
        found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


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
