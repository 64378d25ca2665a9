"""What may be kept of a request that is evidence: paths without what may be secret, networks in place of
clients' addresses, queries without their values. Pure.

Evidence is kept for good and read by many, and both an address and what people type are personal data.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Any

from edgeshift.model.redacted_path import HIDDEN, redacted_part, redacted_path

LONGEST_SAMPLE = 300


def redacted_query(query: object) -> str:
    """The names of a query's values, each with ``=…``; a part without a name is all value."""
    parts = [part for part in str(query or "").removeprefix("?").split("&") if part]
    named = [part.partition("=")[0] if "=" in part else HIDDEN for part in parts]
    return "&".join(name if name == HIDDEN else f"{redacted_part(name, '')}={HIDDEN}" for name in named)


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
