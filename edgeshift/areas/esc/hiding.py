"""The scope's secret in what a site says back: hidden in whatever form it comes. Pure.

A site may repeat the probe's cookie in headers, pages and JSON, escaped in its own way: by percent, as HTML,
as JSON or JavaScript, several times over, some characters of it alone, or decoded.
"""

from __future__ import annotations

import base64
import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from html.entities import html5
from urllib.parse import unquote, unquote_plus

from edgeshift.runtime.redaction import MASK

COOKIE = "disable_esc"
"""The cookie that turns Edge Side Code off for a request (docs/service.md §2.1)."""

Hide = Callable[[str], str]

_SHORTEST = 6
"""Characters below which a value is a word: it is hidden behind the cookie's name alone."""

_NO_WORD = 12
"""Characters from which on it is hidden in either case: a shorter one may stand in a page by itself, which is
watched without the secret.
"""

_NAMES: defaultdict[str, list[str]] = defaultdict(list)
for _name, _meant in html5.items():
    _NAMES[_meant].append(_name)


def hider(*values: str) -> Hide:
    """What hides these values of the cookie in a text, and whatever stands behind the cookie's name."""
    forms = {form for value in values for form in _decoded(value) if len(form) >= _SHORTEST}
    packed = [re.escape(form) for value in values if len(value) >= _SHORTEST for form in _packed(value)]
    # One after the other: each begins with one of few characters, and so is found fast.
    patterns = [_escaped(form) for form in sorted(forms, key=lambda form: (-len(form), form))]
    known = [re.compile(pattern) for pattern in (*patterns, *packed)]

    def hide(text: str) -> str:
        for pattern in (*known, _BEHIND_THE_NAME):
            text = pattern.sub(MASK, text)
        return text

    return hide


def _decoded(value: str) -> set[str]:
    """What a site may take it for, which decodes what it gets."""
    return {value, unquote(value), unquote_plus(value), html.unescape(value)}


def _packed(value: str) -> Iterator[str]:
    """As hexadecimal digits, and the part of it in base64 that does not depend on what stands around it."""
    data = value.encode("utf-8", "replace")
    yield from (data.hex(), data.hex().upper())
    for before in range(3):
        text = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        whole = text[(0, 2, 3)[before] : len(text) - ((before + len(data)) % 3 > 0)]
        yield from {whole, whole.replace("+", "-").replace("/", "_")}


def _escaped(text: str) -> str:
    """A pattern of the text, with each character as it is or escaped."""
    # Where several stand together, nobody can tell which of them escapes which.
    one_each = re.sub(r"\\+", r"\\", text)
    return "".join(_character(char, either_case=len(text) >= _NO_WORD) for char in one_each)


def _character(char: str, *, either_case: bool = False) -> str:
    """No part of it repeats without bound, and each form begins with a plain character, by which a search
    skips all else.
    """
    if char == "\\":
        return r"(?:\\\\{0,15}|%(?:25){0,4}5[cC]|&(?:amp;){0,4}(?:#92|#[xX]5[cC]|bsol);?)"
    code = ord(char)
    by_percent = "".join(
        f"%(?:25){{0,4}}{_digits(f'{byte:02x}')}" for byte in char.encode("utf-8", "replace")
    )
    units = char.encode("utf-16-be", "surrogatepass").hex()
    units = r"\\{1,8}".join(f"u{_digits(units[at : at + 4])}" for at in range(0, len(units), 4))
    in_script = [units, rf"u\{{0{{0,4}}{_digits(f'{code:x}')}\}}", re.escape(char)]
    named = sorted(_NAMES.get(char, ()), key=lambda name: (-len(name), name))
    entities = [re.escape(name) for name in named]
    entities += [f"#0{{0,8}}{code};?", f"#[xX]0{{0,8}}{_digits(f'{code:x}')};?"]
    cases = dict.fromkeys((char, char.lower(), char.upper()) if either_case else (char,))
    found = [re.escape(case) for case in cases if len(case) == 1]
    found += [by_percent, f"&(?:amp;|#38;|#x26;){{0,4}}(?:{'|'.join(entities)})"]
    if code < 256:
        in_script += [f"x{_digits(f'{code:02x}')}", f"0?{code:03o}"]
    if code < 0x10000:
        found += [f"%(?:25){{0,4}}u{_digits(f'{code:04x}')}"]
    found += [rf"\\\\{{0,7}}(?:{'|'.join(in_script)})"]
    return f"(?:{'|'.join(found)})"


def _digits(text: str) -> str:
    """Hexadecimal digits, in either case."""
    return "".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in text)


_NAME = "".join(_character(char, either_case=True) for char in COOKIE)
# Up to the next separator that is none of an escape.
_VALUE = r"(?:[^\s\"',;<>\\&]|&(?:#?\w{1,31};)?|\\{1,8}(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|[0-7]{1,3}|/))*"
_BEHIND_THE_NAME = re.compile(_NAME + _character("=") + _VALUE)


def cleaned(value: object, hide: Hide) -> object:
    """A JSON document with all its texts hidden, and what no file can hold of them replaced. Raises
    RecursionError where it is too deep.
    """
    if isinstance(value, str):
        return hide(value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {cleaned(key, hide): cleaned(item, hide) for key, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item, hide) for item in value]
    return value


nothing_known = hider()
"""Hides what stands behind the cookie's name alone. A fetcher without a secret does that too, and so sees a
page as one with a secret does.
"""
