"""Keeps secret values out of what people and machines read: logs, errors, reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

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

_SHORTEST_PART = 8
_CREDENTIAL = re.compile(r"auth|credential|header_|key|pass|secret|sig|token", re.IGNORECASE)

_longest_first: list[str] = []


def register_secret(value: str) -> None:
    """Remember a secret's value: `redact_text` masks it from now on, wherever it turns up."""
    fresh = set(secret_forms(value)) - set(_longest_first)
    if fresh:
        _longest_first[:] = sorted([*_longest_first, *fresh], key=len, reverse=True)


def register_destination(value: str) -> None:
    """Remember a log job's `destination_conf`, and by itself whatever in it may be a credential."""
    for part in destination_secrets(value):
        register_secret(part)


def secret_forms(value: str) -> list[str]:
    """How a secret may turn up in a text, longest first: as it is, inside JSON, in the repr of a string,
    in a URL. Empty for a value that is too common to be looked for.
    """
    if len(value) < _SHORTEST:
        return []
    inside_json = (json.dumps(value, ensure_ascii=plain)[1:-1] for plain in (True, False))
    forms = {value, *inside_json, repr(value)[1:-1], quote(value), quote(value, safe="")}
    return sorted(forms, key=len, reverse=True)


def destination_mask(value: str) -> str:
    """What may be shown of a `destination_conf` (docs/service.md §2.3): its scheme and bucket or host.

    The same destination has always the same mask: `s3://logs/…` for `s3://logs/a/b?region=eu`.
    """
    parts = _split(value)
    if parts is None:
        return MASK
    hidden = "/…" if parts.path.strip("/") or parts.query or parts.fragment else ""
    return f"{_shown(parts)}{hidden}"


def destination_secrets(value: str) -> list[str]:
    """What must not be repeated of a `destination_conf`: the whole of it, the user and password, and the
    parameters that are credentials by their name. Over http the path may be one too.
    """
    parts = _split(value)
    if parts is None:
        return [value]
    found = [] if value in (_shown(parts), f"{_shown(parts)}/") else [value]
    found += _destination_parts(parts)
    return list(dict.fromkeys(part for part in found if part))


def holds_credentials(text: str) -> bool:
    """Whether a text is an address with a user, or with a parameter that is a credential by its name."""
    parts = _split(text)
    if parts is None:
        return False
    names = (pair.partition("=")[0] for pair in parts.query.split("&"))
    return "@" in parts.netloc or any(_CREDENTIAL.search(name) for name in names)


def _destination_parts(parts: SplitResult) -> Iterator[str]:
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    likely = [user, password]
    for pair in parts.query.split("&"):
        name, _, given = pair.partition("=")
        if _CREDENTIAL.search(name):
            likely += [given, unquote(given), *unquote(given).split()]
    if parts.scheme in ("http", "https"):
        # Some receivers of logs know their customers by the path alone.
        likely += [parts.path, *(step for step in parts.path.split("/") if len(step) >= 2 * _SHORTEST_PART)]
    yield from (part for part in likely if len(part) >= _SHORTEST_PART)


def _split(value: str) -> SplitResult | None:
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    return parts if parts.scheme and "://" in value else None


def _shown(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def redact_text(text: str) -> str:
    """`text` with every registered secret's value masked, longest first."""
    for value in _longest_first:
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
