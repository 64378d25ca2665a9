"""Paths of requests without what may be secret in them. Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote

HIDDEN = "…"
"""Stands where something was left out."""

LONGEST_PATH = 200

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9]+")
_DIGITS = re.compile(r"\d{9,}")
_WORD = re.compile(r"[a-z]+")
_BEFORE_SECRETS = frozenset(
    {"activate", "activation", "apikey", "auth", "confirm", "confirmation", "invitation", "invite", "key"}
    | {"keys", "login", "magic", "password", "reset", "secret", "session", "sid", "token", "tokens"}
    | {"unsubscribe", "verification", "verify"}
)


def redacted_path(path: object) -> str:
    """A path as evidence keeps it: without a query and matrix parameters, and with ``…`` for each part that
    may be an e-mail address, a token, an identifier of a person, or a long number.
    """
    parts = str(path or "").partition("?")[0].split("/")
    found = [redacted_part(part, before) for before, part in zip(["", *parts], parts, strict=False)]
    return "/".join(found)[:LONGEST_PATH]


def redacted_part(part: str, before: str) -> str:
    """One part of a path, or ``…`` where it may be secret. ``before``: the part that it follows."""
    part = part.partition(";")[0]
    return HIDDEN if _may_be_secret(unquote(part), unquote(before)) else part


def _may_be_secret(part: str, before: str) -> bool:
    if "@" in part or _UUID.search(part) or _DIGITS.search(part):
        return True
    mixed = any(char.isdigit() or char.isupper() for char in part)
    if len(part) >= 6 and mixed and _BEFORE_SECRETS & set(_WORD.findall(before.lower())):
        return True
    for run in _RUN.findall(part):
        letters, digits = any(map(str.isalpha, run)), any(map(str.isdigit, run))
        cases = any(map(str.islower, run)) and any(map(str.isupper, run))
        if len(run) >= 16 and letters and digits:
            return True
        if len(part) >= 20 and len(run) >= 10 and digits and cases:
            return True
    return False
