"""From an answer's bytes to a JSON document that everything behind can hold, compare, archive and send back
(docs/service.md §7). Pure.

What two readers of JSON could read differently is not read at all: a key that an object has twice, a number
past 2^53, NaN, half a character, levels without end. None of it is in any answer that the service documents.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

DEEPEST = 64
"""Levels of lists and objects in each other; the deepest answer known has eleven."""

MOST_VALUES = 1_000_000
"""Values of one answer, counted generously; ten thousand security events have a ninth of that."""

LARGEST_WHOLE = 2**53 - 1

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class NotADocument(ValueError):
    """The bytes are no JSON, or none that can be trusted; the text says why, and repeats nothing of them."""


def document_of(body: bytes) -> Any:
    """The JSON document. Raises NotADocument."""
    if body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES:
        raise NotADocument(f"it has more than {MOST_VALUES:,} values")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotADocument("it is not UTF-8") from None
    try:
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_float=_number,
            parse_constant=_constant,
        )
    except RecursionError:
        raise NotADocument(f"it has more than {DEEPEST} levels") from None
    except NotADocument:
        raise
    except ValueError:
        raise NotADocument("it is no JSON") from None
    if text.count("[") + text.count("{") > DEEPEST:
        _check_depth(document)
    if "\\u" in text and _has_half_characters(document):
        raise NotADocument("a text of it has half a character")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotADocument("an object of it has a key twice")
    return found


def _whole(text: str) -> int:
    if len(text) > 20 or abs(number := int(text)) > LARGEST_WHOLE:
        raise NotADocument("a number of it is past 2^53")
    return number


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotADocument("a number of it is past every bound")
    return number


def _constant(text: str) -> float:
    raise NotADocument(f"it has {text}, which is no JSON")


def _check_depth(document: Any) -> None:
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(DEEPEST):
        if not level:
            return
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, dict | list)
        ]
    if level:
        raise NotADocument(f"it has more than {DEEPEST} levels")


def _has_half_characters(document: Any) -> bool:
    text = json.dumps(document, ensure_ascii=False)
    return _LONE_SURROGATE.search(text) is not None
