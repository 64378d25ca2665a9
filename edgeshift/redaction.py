"""Keeps secret values out of what people and machines read: logs, errors, reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MASK = "[redacted]"

SECRET_FIELDS = frozenset(
    {
        "api_key",
        "api_token",
        "authorization",
        "cookie",
        "destination_conf",
        "disable_esc",
        "ownership_challenge",
        "password",
        "secret",
        "token",
        "with_secret",
        "x_auth_email",
        "x_auth_key",
    }
)
"""Field and header names whose values are never shown, lower case, with `_` for `-`."""

_SHORTEST = 4
"""Characters below which a value is too common to be looked for in a text."""

_known: set[str] = set()


def register_secret(value: str) -> None:
    """Remember a secret's value: `redact_text` masks it from now on, wherever it turns up."""
    if len(value) >= _SHORTEST:
        _known.add(value)
        # The form it takes inside JSON and in the repr of a string.
        _known.add(json.dumps(value)[1:-1])
        _known.add(repr(value)[1:-1])


def redact_text(text: str) -> str:
    """`text` with every registered secret's value masked, longest first."""
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, MASK)
    return text


def redact(value: Any) -> Any:
    """A copy of plain data (mappings, lists, tuples, texts) without the values of secret fields."""
    if isinstance(value, Mapping):
        return {
            key: MASK if _is_secret(key) and item not in (None, "") else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return redact_text(value) if isinstance(value, str) else value


def _is_secret(key: object) -> bool:
    return isinstance(key, str) and key.lower().replace("-", "_") in SECRET_FIELDS
