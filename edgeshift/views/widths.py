"""Renderables for a terminal of any width: none breaks inside a name, a digest or a command. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

_LONG_HEX = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{20,}\b")


def shortened(text: str) -> str:
    """``text`` with its long identifiers and digests cut to 12 characters, as people read and type them."""
    return _LONG_HEX.sub(r"\1…", text)


def ticket_name(ticket: str) -> str:
    """A ticket as a list names it: a file without its folder, its long identifiers cut."""
    name = ticket.rsplit("/", 1)[-1].removesuffix(".md") if ticket.startswith("/") else ticket
    return shortened(name)


class ByWidth:
    """``wide`` where there are ``least`` columns for it, else ``narrow``."""

    def __init__(self, wide: RenderableType, narrow: RenderableType, least: int) -> None:
        self._wide, self._narrow, self._least = wide, narrow, least

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._narrow if options.max_width < self._least else self._wide


class Card:
    """Titles with values. A value that is too long wraps between words, under itself; a word that is longer
    than the terminal is left whole, so print it with ``soft_wrap``.
    """

    def __init__(self, lines: Sequence[tuple[str, Text]]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = max((cell_len(title) for title, _ in self._lines), default=0) + 4
        yield Text()
        for title, value in self._lines:
            found = textwrap.wrap(
                value.plain,
                max(options.max_width - indent - 2, 16),
                break_long_words=False,
                break_on_hyphens=False,
            )
            for number, part in enumerate(found):
                line = Text(f"  {'' if number else title:<{indent - 2}}", style="dim")
                yield line.append(Text(part, style=str(value.style) or "not dim"))
        yield Text()
