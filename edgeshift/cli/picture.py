"""What a verb shows, as a picture: for the documentation."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import RenderableType

from edgeshift.runtime.files import write_whole
from edgeshift.views.console import SafeConsole

_ELSEWHERE = re.compile(r"@font-face\s*\{.*?\}\s*|<!--.*?-->\s*", re.DOTALL)
"""What names an address: fonts, and who drew the picture."""

WIDTH = 100
"""Columns of a picture."""


def save_picture(path: Path, shown: RenderableType, title: str) -> None:
    """Save ``shown`` as it looks on a terminal as an SVG file."""
    console = SafeConsole(record=True, width=WIDTH, force_terminal=True, file=io.StringIO())
    console.print(shown)
    # Rich names a font on a server; a picture in our documentation asks nobody for anything.
    text = _ELSEWHERE.sub("", console.export_svg(title=title))
    write_whole(path, text)
