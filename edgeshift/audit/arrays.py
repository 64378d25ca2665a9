"""A large JSON array, one item at a time. Pure."""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator
from typing import Any

_DECODER = json.JSONDecoder()
_BETWEEN = " \t\r\n"
LARGEST_ITEM = 4 * 1024 * 1024
"""Characters of one item at most."""


class NoArray(ValueError):
    """What is no JSON array of objects."""


async def items_of(parts: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """The objects of an array whose bytes come in parts. Raises NoArray, and what ``parts`` raises."""
    decoder, text, begun = codecs.getincrementaldecoder("utf-8")(), "", False
    try:
        async for part in parts:
            text = (text + decoder.decode(part)).lstrip(_BETWEEN)
            if not begun and text:
                if text[0] != "[":
                    raise NoArray("it is no JSON array")
                text, begun = text[1:], True
            while True:
                item, text = _next(text)
                if item is None:
                    break
                yield item
            if len(text) > LARGEST_ITEM:
                raise NoArray("it is no JSON array of objects")
        text += decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise NoArray("it is not UTF-8") from None
    if not begun or text.strip(_BETWEEN) != "]":
        raise NoArray("it is no JSON array of objects")


def _next(text: str) -> tuple[dict[str, Any] | None, str]:
    """The first item of what is left, and the rest; None where it is not all there yet."""
    at = len(text) - len(text.lstrip(_BETWEEN + ","))
    if not text.startswith("{", at):
        return None, text
    try:
        found, end = _DECODER.raw_decode(text, at)
    except (json.JSONDecodeError, RecursionError):
        return None, text
    return found, text[end:]
