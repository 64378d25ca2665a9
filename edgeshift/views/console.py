"""The console on which everything is printed: it obeys nothing that is in what it shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from edgeshift.runtime.safe_text import visible


class SafeConsole(Console):
    """Rich's console, for text that may come from anywhere.

    Markup (``[bold]``) and emoji names (``:smile:``) are text like any other; what is styled is a ``Text``.
    Whatever a renderable holds, characters that a terminal obeys, or that hide something, are shown as
    escapes (edgeshift/runtime/safe_text.py). A reader that goes away raises BrokenPipeError.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, "highlight": False, **settings})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments of what is shown; Rich's own commands to the terminal are left as they are."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            if control is None and not (text.isascii() and text.isprintable()):
                yield Segment(visible(text), style, control)
            else:
                yield segment

    def on_broken_pipe(self) -> None:
        """Called by Rich while it handles the error, which it would make an exit of its own."""
        raise BrokenPipeError("the reader of the output went away")
