"""Names of zones as people type them. Pure."""

from __future__ import annotations

import re


def typed_zone(zone: str) -> str:
    """What a person has typed for a zone, as its identifier and its name in lower case are compared with it:
    without spaces around it, and without the dot that ends a name in DNS.
    """
    return zone.strip().lower().rstrip(".")


def goes_by(typed: str, name: str, identifier: str) -> bool:
    """Whether a person who has typed this means the zone, or the account, of this name and identifier. An
    account's name may end in a dot of its own.
    """
    return typed_zone(typed) in (typed_zone(name), identifier)


def is_identifier(zone: str) -> bool:
    """Whether this is a zone's identifier rather than its name."""
    return re.fullmatch(r"[0-9a-f]{32}", zone) is not None
