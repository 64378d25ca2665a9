"""A simulator with a small fleet, and a client of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from edgeshift.http.tls import tls_context
from edgeshift.model.fleet import Plan, Zone
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, ServiceClient
from edgeshift.testbed.simulator.fleet_whole import Fleet
from edgeshift.testbed.simulator.options import STRICT, SimulatorOptions
from edgeshift.testbed.simulator.server import RunningSimulator, running

BYPASS = {"action": "bypass", "products": ["waf"]}


def fleet() -> Fleet:
    """A zone of each kind that the client meets, and enough others for several pages."""
    zones: list[dict[str, Any]] = [
        {"name": "pro.example", "plan": "pro"},
        {"name": "enterprise.example", "plan": "enterprise"},
        {
            "name": "overrides.example",
            "plan": "business",
            "uri_overrides": [{"urls": ["overrides.example/a"]}, {"urls": ["overrides.example/b"]}],
        },
        {
            "name": "rules.example",
            "plan": "pro",
            "firewall_rules": [{**BYPASS, "expression": f"ip.src eq 192.0.2.{n}"} for n in range(201)],
            "page_rules": [{"targets": ["*rules.example/x*"], "actions": [{"id": "waf", "value": "off"}]}],
        },
        {"name": "done.example", "plan": "pro", "migration": {"state": "complete"}},
        {
            "name": "modes.example",
            "plan": "pro",
            "previous_waf": {"managed": {"rules": {"100008": "simulate"}}},
        },
        *({"name": f"page-{n:03}.example", "plan": "free"} for n in range(60)),
    ]
    return Fleet.model_validate(
        {
            "users": [{"email": "ops@example.org"}],
            "credentials": [
                {"label": "all"},
                {"label": "key", "kind": "key"},
                {"label": "reader", "permissions": ["zone:read", "waf:read"]},
                {"label": "gone", "status": "disabled"},
            ],
            "accounts": [{"name": "Main"}, {"name": "Other"}],
            "zones": zones,
        }
    )


@dataclass
class Scene:
    """A running simulator, and clients of it."""

    simulator: RunningSimulator
    fleet: Fleet

    def zone(self, name: str) -> str:
        return next(zone.id for zone in self.fleet.zones if zone.name == f"{name}.example")

    def client(self, label: str = "all", *, pacer: Pacer | None = None, seconds: float = 10) -> ServiceClient:
        found = next(item for item in self.fleet.credentials if item.label == label)
        credential = (
            Credential(token=found.value)
            if found.kind == "token"
            else Credential(key=found.value, email="ops@example.org")
        )
        return ServiceClient(
            self.simulator.base_url,
            credential,
            pacer=pacer or Unpaced(),
            request_limit=timedelta(seconds=seconds),
        )

    async def control(self, method: str, path: str, document: Any = None) -> Any:
        async with httpx.AsyncClient(verify=tls_context(None)) as http:
            answer = await http.request(method, f"{self.simulator.control_url}{path}", json=document)
            assert answer.is_success, answer.text
            return answer.json() if answer.content else None

    async def journal(self, call: str) -> list[dict[str, Any]]:
        found = await self.control("GET", f"/journal?limit=1000&call={call}")
        return list(found["entries"])


def whole(zone: str, name: str) -> Zone:
    return Zone(id=zone, name=f"{name}.example", account="d" * 32, plan=Plan.PRO)


@asynccontextmanager
async def scene(data: Path, **options: Any) -> AsyncIterator[Scene]:
    times = {"migration_seconds": 0.2, "validation_seconds": 0.1, "visibility_seconds": 0.1}
    # What edgeshift sends is held to the letter.
    options = {"bodies": STRICT, **times, **options}
    made = fleet()
    async with running(made, data, options=SimulatorOptions.model_validate(options)) as simulator:
        yield Scene(simulator, made)


async def until_state(client: ServiceClient, zone: str, state: str) -> None:
    async with asyncio.timeout(60):
        while True:
            if (await client.waf_status(zone)).migration_state == state:
                return
            await asyncio.sleep(0.05)
