"""What becomes part of a path: nothing else than it has to be. Pure."""

from __future__ import annotations

import re

from edgeshift.service_api.errors import InvalidIdentifier

_HEX = re.compile(r"[0-9a-f]{32}")
_WORD = re.compile(r"[A-Za-z0-9_]{1,100}")


def hex_id(value: str, what: str) -> str:
    """``value`` as an identifier for a path. Raises InvalidIdentifier; nothing is sent."""
    if not _HEX.fullmatch(value):
        raise InvalidIdentifier(f"{what} {value[:64]!r}: 32 lower-case hexadecimal digits are right")
    return value


def word(value: str, what: str) -> str:
    """``value`` as a word for a path. Raises InvalidIdentifier; nothing is sent."""
    if not _WORD.fullmatch(value):
        raise InvalidIdentifier(f"{what} {value[:64]!r}: letters, digits and underscores are right")
    return value


def count(value: int, what: str, *, least: int = 1) -> str:
    """``value`` as a number from ``least`` for a path. Raises InvalidIdentifier; nothing is sent."""
    if value < least:
        raise InvalidIdentifier(f"{what} {value}: a number from {least} is right")
    return str(value)
