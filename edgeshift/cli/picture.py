"""What a verb shows, as a picture: for the documentation."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console, RenderableType

WIDTH = 100
"""Columns of a picture."""


def save_picture(path: Path, shown: RenderableType, title: str) -> None:
    """Save ``shown`` as it looks on a terminal as an SVG file."""
    console = Console(record=True, width=WIDTH, force_terminal=True, file=io.StringIO())
    console.print(shown)
    console.save_svg(str(path), title=title)
