"""Text that may come from anywhere - a zone's name, a rule, a reason, an answer - made safe to show. Pure.

A terminal obeys escape sequences, a spreadsheet computes formulas, and some characters turn the reading
direction or take no room at all: whoever may edit a zone could hide what an approver reads. What hides is not
left out, it is shown as an escape (``\\x1b``, ``\\u202e``): a name that hides something is seen to.
"""

from __future__ import annotations

import unicodedata

_HIDING_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control characters (C0, C1), formatting and bidirectional marks, halves of pairs, private and unassigned
characters, separators of lines and paragraphs.
"""

_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing."""

_UNSEEN_MARKS = frozenset(
    map(chr, (0x34F, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""Marks that change how the character before them is drawn, or nothing: a name looks alike with and without.
What else Unicode calls ignorable is of a category above.
"""

FORMULA = frozenset("=+-@\t\r\n＝＋－＠")  # noqa: RUF001
"""What a cell begins with that some spreadsheet takes for a formula."""


def hides(char: str) -> bool:
    """Whether a character is obeyed or left unseen in place of being shown. Spaces do not hide."""
    return unicodedata.category(char) in _HIDING_CATEGORIES or char in _BLANK_LETTERS or char in _UNSEEN_MARKS


def visible(text: str, *, keep: str = "\n") -> str:
    """``text`` with every character that hides shown as its escape, but those in ``keep``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(escaped(char) if char not in keep and hides(char) else char for char in text)


def escaped(char: str) -> str:
    """A character as its escape: ``\\x1b``, ``\\u202e``, ``\\U000e0041``."""
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def printable(text: str) -> str:
    """``text`` with its lines; tabs are spaces, and what else hides is shown as an escape."""
    return visible(text.replace("\r\n", "\n").replace("\t", " "))


def one_line(text: str, longest: int = 500) -> str:
    """``text`` on one line, what hides shown as an escape (it may come from anywhere), cut if too long."""
    clean = visible(" ".join(text.split()))
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def csv_cell(value: object) -> object:
    """A value as a cell of CSV: nothing for None; of a text, what hides as an escape, and an apostrophe in
    front of what a spreadsheet would take for a formula, also after spaces.
    """
    if not isinstance(value, str):
        return "" if value is None else value
    begins = any(first in FORMULA for first in (value[:1], value.strip()[:1]))
    return ("'" if begins else "") + visible(value, keep="\n\t")


def json_text(text: str) -> str:
    """A JSON document with what hides in its strings as JSON's own escapes; its line feeds stay."""
    if text.isascii():
        # JSON escapes control characters by itself, all but DEL.
        return text.replace("\x7f", "\\u007f")
    return "".join(_json_escape(char) if char != "\n" and hides(char) else char for char in text)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
