"""A simulator before the removal date, with its edge, for the tests of Edge Side Code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import httpx

from edgeshift.testbed.simulator.fleet_edge import (
    EscBehaviour,
    EscKind,
    EscScope,
    OriginFailure,
    ZoneEdge,
    ZoneEsc,
)
from edgeshift.testbed.simulator.fleet_file import Credential, Fleet, FleetAccount, FleetUser, FleetZone
from tests.service.simulated import Caller, MovableTime, simulated

BEFORE = datetime(2023, 10, 1, 12, tzinfo=UTC)

ESC_KINDS: tuple[EscKind, ...] = get_args(EscKind)

BEHAVIOURS: dict[str, dict[str, Any]] = {
    "redirect": {"kind": "redirect", "path": "/old/*", "to": "https://new.example/", "status": 301},
    "tls_sni": {"kind": "tls_sni", "path": "/api/items", "to": "sni.example"},
    "resolved_host": {"kind": "resolved_host", "path": "/api/search", "to": "backend.example"},
    "host_header": {"kind": "host_header", "path": "/api/tenant", "to": "tenant.example"},
    "url_rewrite": {"kind": "url_rewrite", "path": "/legacy/*", "to": "/api/orders", "query": "from=legacy"},
    "request_header": {"kind": "request_header", "path": "/shop/*", "name": "X-Region", "value": "eu"},
    "feature_exception": {"kind": "feature_exception", "path": "/contact", "feature": "email_obfuscation"},
    "custom_error": {"kind": "custom_error", "path": "/status/503", "body": "<h1>Back soon</h1>"},
    "response_header": {
        "kind": "response_header",
        "path": "/account/*",
        "name": "X-Frame-Options",
        "value": "DENY",
    },
    "status_redirect": {"kind": "status_redirect", "path": "/help/*", "to": "/contact"},
}
"""One behaviour of each kind, each on a path of its own."""


def edge_fleet(**zone: Any) -> Fleet:
    """Two accounts: `shop` (every behaviour), `plain` and `side` (its sibling with one) in the first, `other`
    in the second."""
    every = ZoneEsc(behaviours=[EscBehaviour.model_validate(one) for one in BEHAVIOURS.values()])
    one = ZoneEsc(behaviours=[EscBehaviour.model_validate(BEHAVIOURS["redirect"])])
    return Fleet(
        users=[FleetUser(email="ada@example.com")],
        credentials=[
            Credential(label="ada-token"),
            Credential(label="reader", permissions=["esc:read", "zone:read"]),
            Credential(label="waf-only", permissions=["waf:edit", "zone:edit", "account:read"]),
            Credential(label="second-only", accounts=["Second"]),
        ],
        accounts=[FleetAccount(name="First"), FleetAccount(name="Second")],
        zones=[
            FleetZone(name="shop.example", plan="enterprise", **{"esc": every, **zone}),
            FleetZone(name="side.example", plan="enterprise", esc=one),
            FleetZone(name="plain.example", plan="pro"),
            FleetZone(name="other.example", plan="enterprise", account="Second", esc=one),
        ],
    )


class EdgeCaller:
    """Calls the service, and the edge as a zone's visitor."""

    def __init__(self, call: Caller, time: MovableTime) -> None:
        self.call, self.time = call, time
        self.accounts = {one.name: f"/accounts/{one.id}/disable_esc" for one in call.fleet.accounts}

    async def get(
        self, zone: str, path: str, *, cookie: str | None = None, method: str = "GET", **headers: str
    ) -> httpx.Response:
        """Ask the edge for a path of a zone; `cookie` is the whole Cookie header."""
        sent = {"host": zone if "." in zone else f"{zone}.example", **headers}
        if cookie is not None:
            sent["cookie"] = cookie
        # Each visitor is a new one: the origin says which cookies came.
        self.call.http.cookies.clear()
        return await self.call.http.request(method, self.call.server.edge_url + path, headers=sent)

    async def acts(self, zone: str, *, cookie: str | None = None) -> bool:
        """Whether the zone's redirect is there, for a visitor with this cookie."""
        return (await self.get(zone, "/old/page", cookie=cookie)).status_code == 301

    async def esc(self, method: str, scope: str, body: Any = None, **more: Any) -> httpx.Response:
        """Call `disable_esc` of a zone's or an account's name."""
        path = self.accounts.get(scope, f"{scope}:/disable_esc")
        return await self.call(method, path, body, **more)

    async def accepted(self, method: str, scope: str, body: Any = None) -> httpx.Response:
        answer = await self.esc(method, scope, body)
        assert answer.is_success, answer.text
        return answer

    async def calls(self) -> list[Any]:
        """The journal's entries of esc calls."""
        return [one for one in await self.call.journal() if one["call"].startswith("esc.")]


@asynccontextmanager
async def edge(
    data: Path, *, fleet: Fleet | None = None, at: datetime = BEFORE, **options: Any
) -> AsyncIterator[EdgeCaller]:
    """A simulator at `at`, whose calls on Edge Side Code take effect at once unless options say otherwise."""
    time = MovableTime()
    time.now = at
    chosen = {"esc_effect_seconds": 0} | options
    async with simulated(data, fleet=fleet or edge_fleet(), time=time, **chosen) as call:
        yield EdgeCaller(call, time)


__all__ = ["BEHAVIOURS", "EdgeCaller", "EscScope", "OriginFailure", "ZoneEdge", "edge", "edge_fleet"]
