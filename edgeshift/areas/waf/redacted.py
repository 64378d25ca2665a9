"""What may be kept of a request that is evidence: paths without what may be secret, networks in place of
clients' addresses, queries without their values. Pure.

Evidence is kept for good and read by many, and both an address and what people type are personal data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import unquote

HIDDEN = "…"
"""Stands where something was left out."""

LONGEST_PATH = 200
LONGEST_SAMPLE = 300

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
    found = [_shown_part(part, before) for before, part in zip(["", *parts], parts, strict=False)]
    return "/".join(found)[:LONGEST_PATH]


def _shown_part(part: str, before: str) -> str:
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


def redacted_query(query: object) -> str:
    """The names of a query's values, each with ``=…``; a part without a name is all value."""
    parts = [part for part in str(query or "").removeprefix("?").split("&") if part]
    named = [part.partition("=")[0] if "=" in part else HIDDEN for part in parts]
    return "&".join(name if name == HIDDEN else f"{_shown_part(name, '')}={HIDDEN}" for name in named)


def redacted_network(address: object) -> str:
    """The network that an address is in, by its first 24 bits, or 48 of IPv6; ``unreadable`` for others."""
    try:
        read = ip_address(str(address))
    except ValueError:
        return "unreadable"
    return str(ip_network(f"{read}/{24 if read.version == 4 else 48}", strict=False))


def redacted_request(event: Mapping[str, Any]) -> str:
    """One request as a sample: when, method, host, path, names of the query, and the ray."""
    query = redacted_query(event.get("clientRequestQuery"))
    return (
        f"{event.get('datetime') or ''} {event.get('clientRequestHTTPMethodName') or ''} "
        f"{event.get('clientRequestHTTPHost') or ''}{redacted_path(event.get('clientRequestPath'))}"
        f"{'?' + query if query else ''} ray {event.get('rayName') or ''}"
    )[:LONGEST_SAMPLE]
