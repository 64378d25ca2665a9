"""What a verb shows, as a picture: for the documentation."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console, RenderableType

_FONTS = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)

WIDTH = 100
"""Columns of a picture."""


def save_picture(path: Path, shown: RenderableType, title: str) -> None:
    """Save ``shown`` as it looks on a terminal as an SVG file."""
    console = Console(record=True, width=WIDTH, force_terminal=True, file=io.StringIO())
    console.print(shown)
    # Rich names a font on a server; a picture in our documentation asks nobody for anything.
    text = _FONTS.sub("", console.export_svg(title=title))
    path.write_text(text, encoding="utf-8")
