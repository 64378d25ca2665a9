"""The simulator in process: it answers as it does over HTTP, so tests that need no wire need no server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from edgeshift.testbed.simulator.control import Control
from edgeshift.testbed.simulator.server import ROUTE_MODULES
from tests.service.simulated import Caller, MovableTime, a_fleet, in_process, simulated

OF_THE_CONNECTION = frozenset({"date", "connection", "transfer-encoding", "content-length", "cf-ray"})
"""Headers that belong to one answer or to the wire."""

DRAWN = re.compile(r'\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b|"wall_time":"[^"]+"|"buckets":"[^"]+"')
"""Identifiers, of which each simulator draws its own, the machine's time, and the simulator's own folder."""

BODIES: tuple[Any, ...] = (None, {}, [], {"value": "on"}, {"rules": [], "name": "x", "always": True})


def calls(caller: Caller) -> Iterator[tuple[str, str, Any, bool]]:
    """Every endpoint of the service and the control, with each body: method, path, body, control or not."""
    account = caller.fleet.accounts[0].id
    zone = caller.ids["pro"]
    for module in ROUTE_MODULES:
        for route in module.ROUTES:
            for path in filled(route.path, zone, account):
                for body in BODIES if route.method != "GET" else (None,):
                    yield route.method, path, body, False
    for known in Control(caller.server.state).routes():
        for method in sorted((known.methods or set()) - {"HEAD"}):
            for path in filled(known.path.strip("/"), zone, account):
                for body in BODIES if method != "GET" else (None,):
                    yield method, path, body, True


def filled(path: str, zone: str, account: str) -> list[str]:
    """A path with a zone and an account that are there; what else it names is once there and once not."""
    path = path.replace("{zone_id}", zone).replace("{account_id}", account)
    phase = re.sub(r"\{phase[^}]*\}", "http_request_firewall_managed", path)
    return sorted({re.sub(r"\{[^}]+\}", value, phase) for value in ("0" * 32, "always_use_https", "1")})


async def answer(caller: Caller, method: str, path: str, body: Any, control: bool) -> tuple[Any, ...]:
    """What can be compared of an answer."""
    if control:
        url = f"{caller.server.control_url}/{path}"
        found = await caller.http.request(method, url, json=body, headers={"accept-encoding": "identity"})
    else:
        found = await caller(method, path, body)
    headers = {name: value for name, value in found.headers.items() if name not in OF_THE_CONNECTION}
    return found.status_code, headers, DRAWN.sub("#", found.text.replace(caller.server.url, "http://here"))


@pytest.mark.timeout(240)
async def test_every_endpoint_answers_alike_in_process_and_over_http(tmp_path: Path) -> None:
    """Status, headers and document, also of what is refused; and both have written the same journal."""
    fleet, time = a_fleet(), MovableTime()
    async with (
        in_process(tmp_path / "inside", fleet=fleet, time=time) as inside,
        simulated(tmp_path / "outside", fleet=fleet, time=time) as outside,
    ):
        statuses: set[int] = set()
        count = 0
        for call in calls(inside):
            first, second = await answer(inside, *call), await answer(outside, *call)
            if call[1:] == ("health", None, True):
                # It says where the edge is, which the one without a wire has not.
                first, second = (one[:2] for one in (first, second))
            assert first == second, call
            statuses.add(first[0])
            count += 1
        assert count > 200 and {200, 400, 404} <= statuses
        assert len(await inside.journal(limit=10000)) == len(await outside.journal(limit=10000)) > 100


async def test_nobody_is_reached_in_process_over_the_wire(tmp_path: Path) -> None:
    """So a test that needs the wire fails at once, and does not meet another simulator."""
    async with in_process(tmp_path) as inside, httpx.AsyncClient() as http:
        with pytest.raises(httpx.TransportError):
            await http.get(f"{inside.server.base_url}/zones")
