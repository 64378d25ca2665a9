"""Renderables for a terminal of any width: none breaks inside a name, a digest or a command. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_LONG_HEX = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{20,}\b")


def shortened(text: str) -> str:
    """``text`` with its long identifiers and digests cut to 12 characters, as people read and type them."""
    return _LONG_HEX.sub(r"\1…", text)


MOST_INDENT = 8
"""Columns by which words from anywhere may stand further in."""


def indent_of(words: str) -> int:
    """By how many columns words stand further in by themselves, such as what belongs to the line above."""
    return min(len(words) - len(words.lstrip(" ")), MOST_INDENT)


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


class Paragraph:
    """``lead``, which is never broken, and words after it that wrap under each other. A plain list in one
    word that is longer than the terminal goes on in the next line after a comma, unless these words have
    quotes; any other such word is left whole, so print it with ``soft_wrap``.
    """

    def __init__(self, lead: Text, words: str, *, hang: int, style: str = "") -> None:
        self._lead, self._words, self._hang, self._style = lead, words, hang, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width, self._hang + 16)
        first = self._lead.cell_len
        each = self._words.split()
        if '"' not in self._words:
            # A comma in quotes may be a string's own: with a space after it, it would be another string.
            each = [part for word in each for part in _parts(word, width - self._hang)]
        words = " ".join(each)
        lines = wrapped(words, width - self._hang, width - first)
        yield self._lead + Text(lines[0], style=self._style)
        for line in lines[1:]:
            # A long word moves to the left rather than over the edge, where the terminal would break it.
            indent = min(self._hang, max(0, options.max_width - cell_len(line)))
            yield Text(" " * indent).append(line, style=self._style)


_LIST = re.compile(r"[\w.=&:-]+(?:,[\w.=&:-]*)+")


def _parts(word: str, width: int) -> list[str]:
    """A list in parts that end with commas, each as long as ``width`` lets it, where it is longer itself."""
    if cell_len(word) <= width or not _LIST.fullmatch(word):
        return [word]
    parts = [""]
    for item in re.split(r"(?<=,)", word):
        if parts[-1] and cell_len(parts[-1] + item) > width:
            parts.append("")
        parts[-1] += item
    return parts


def wrapped(words: str, width: int, first: int) -> list[str]:
    """``words`` in lines of so many columns, ``first`` for the first, broken between words alone; at least
    one line. Where not even a word fits beside what stands before, the first line is empty.
    """
    lines, room = [""], first
    for word in words.split():
        line = lines[-1]
        if line and cell_len(line) + 1 + cell_len(word) <= room:
            lines[-1] = f"{line} {word}"
        elif not line and (cell_len(word) <= room or len(lines) > 1):
            lines[-1] = word
        else:
            lines.append(word)
            room = width
    return lines


class Command:
    """A command after ``lead``, to be copied as it is shown: where it is too long for the terminal, it goes
    on in the next line after a backslash, as a shell takes it. No word of it is broken.
    """

    def __init__(self, lead: Text, command: str, *, hang: int) -> None:
        self._lead, self._command, self._hang = lead, command, hang

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterable[Text]:
        """Its lines at this width."""
        room, first = width - self._hang, width - self._lead.cell_len
        if cell_len(self._command) <= first:
            yield self._lead + Text(self._command)
            return
        words = [word.replace(" ", "\0") for word in _WORDS.findall(self._command)]
        # Each line but the last has a backslash after it.
        lines = wrapped(" ".join(words), room - 2, first - 2)
        if not lines[0]:
            yield self._lead
            lines = lines[1:]
            before = Text(" " * self._hang)
        else:
            before = self._lead
        for number, line in enumerate(lines):
            end = " \\" if number < len(lines) - 1 else ""
            yield before + Text(line.replace("\0", " ") + end)
            before = Text(" " * self._hang)


_WORDS = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
"""Words of a command, with what is quoted in them."""


class Card:
    """Titles with values. A value that is too long wraps between words, under itself; all values stand
    further left where the longest word, as a digest, needs the room. A word that has no room beside its title
    has a line of its own below. One that is longer than the terminal begins in its first column and is left
    whole, so print it with ``soft_wrap``: nothing else is selected with it.

    ``commands``: titles whose values are commands, which go on after a backslash.
    """

    def __init__(self, lines: Sequence[tuple[str, Text]], *, commands: Collection[str] = ()) -> None:
        self._lines, self._commands = lines, commands

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        titles = max((cell_len(title) for title, _ in self._lines), default=0)
        longest = max((longest_word(value.plain) for _, value in self._lines), default=0)
        # Two columns before a title, and one after it at least.
        indent = min(titles + 4, max(titles + 3, options.max_width - longest))
        yield Text()
        for title, value in self._lines:
            lead = Text(f"  {title:<{indent - 2}}", style="dim")
            room = options.max_width - max(indent, cell_len(lead.plain))
            if longest_word(value.plain) > room:
                yield Text(f"  {title}", style="dim")
                yield from self._below(title, value, options.max_width)
            elif title in self._commands:
                yield from Command(lead, value.plain, hang=indent).lines(options.max_width)
            else:
                for number, part in enumerate(_wrapped(value, room)):
                    before = Text(" " * indent) if number else lead
                    yield before.copy().append(part, style=str(value.style) or "not dim")
        yield Text()

    def _below(self, title: str, value: Text, width: int) -> Iterable[Text]:
        """The value under its title, as far to the right as its longest word allows."""
        backslash = 2 if title in self._commands else 0
        indent = min(4, max(0, width - longest_word(value.plain) - backslash))
        if backslash:
            yield from Command(Text(" " * indent), value.plain, hang=indent).lines(width)
            return
        for part in _wrapped(value, width - indent):
            yield Text(" " * indent).append(part, style=str(value.style))


def _wrapped(value: Text, width: int) -> list[str]:
    return textwrap.wrap(value.plain, max(width, 1), break_long_words=False, break_on_hyphens=False)


GAP = 2
"""Columns between two columns of a table."""


class Columns:
    """A table of one line a row, whose cells wrap between words alone. Where the terminal has no room for the
    longest words of all columns side by side, each row becomes a paragraph: the first cell, and below it the
    others, each after its heading. A word that is longer than the terminal is broken by nobody but it.

    ``right``: columns, by their headings, of numbers; ``headed``: whether headings are printed above columns.
    """

    def __init__(
        self, *headings: str, title: str = "", right: Collection[str] = (), headed: bool = True
    ) -> None:
        self._headings, self._title, self._right, self._headed = headings, title, right, headed
        self._rows: list[list[Text]] = []

    def add(self, *cells: Text | str) -> None:
        """Add a row, a cell for each heading."""
        assert len(cells) == len(self._headings), cells
        self._rows.append([cell if isinstance(cell, Text) else Text(cell) for cell in cells])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._title:
            yield Text(self._title, style="bold")
        heads = [self._headings] if self._headed else []
        columns = [
            [*(row[at] for row in heads), *(row[at].plain for row in self._rows)]
            for at in range(len(self._headings))
        ]
        least = [max((longest_word(cell) for cell in column), default=0) for column in columns]
        most = [max((_longest_line(cell) for cell in column), default=0) for column in columns]
        room = options.max_width - GAP * (len(columns) - 1)
        if sum(least) <= room:
            yield self._beside(spread(least, most, room))
        else:
            yield from self._below()

    def _beside(self, sizes: Sequence[int]) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=self._headed)
        for heading, size in zip(self._headings, sizes, strict=True):
            right = heading in self._right
            table.add_column(heading, justify="right" if right else "left", width=size, header_style="bold")
        for row in self._rows:
            table.add_row(*row)
        return table

    def _below(self) -> Iterable[RenderableType]:
        for first, *others in self._rows:
            yield Paragraph(Text(), first.plain, hang=2, style=str(first.style))
            for heading, cell in zip(self._headings[1:], others, strict=True):
                if cell.plain.strip():
                    lead = Text("  ").append(f"{heading}: " if heading and self._headed else "", style="dim")
                    yield Paragraph(lead, cell.plain, hang=4, style=str(cell.style))


def spread(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Sizes of columns: each has what its longest word needs, and what is left goes to those that want more,
    the one that wants the least first. ``room`` is at least the sum of ``least``.
    """
    sizes, left = list(least), room - sum(least)
    wanting = sorted(range(len(sizes)), key=lambda at: most[at] - least[at])
    for number, at in enumerate(wanting):
        more = min(most[at] - least[at], left // (len(wanting) - number))
        sizes[at] += more
        left -= more
    return sizes


def longest_word(text: str) -> int:
    """Columns of the longest word of a text."""
    return max(map(cell_len, text.split()), default=0)


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)
