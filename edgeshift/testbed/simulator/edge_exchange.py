"""One request that the edge served, as the log jobs and the tests see it (docs/service.md §2.3, §8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

Headers = list[tuple[str, str]]
"""Headers in the order in which they came, names lower case; a repeated header stands more than once."""


@dataclass(slots=True)
class EdgeExchange:
    """What came in, what the origin answered and what went out.

    ``request_headers``: as the client sent them, before any rule or behaviour. ``origin_headers``: as the
    origin sent them, before any rule or behaviour (docs/service.md §8: only original headers are logged).
    ``response_headers``: as they went out. ``at``: the edge's start time, by the simulator's clock.
    """

    zone_id: str
    ray: str
    at: datetime
    method: str
    scheme: str
    host: str
    path: str
    query: str
    client_ip: str
    request_headers: Headers = field(default_factory=list)
    origin_status: int = 0
    origin_headers: Headers = field(default_factory=list)
    status: int = 0
    response_headers: Headers = field(default_factory=list)
    response_bytes: int = 0
    ended_at: datetime | None = None
