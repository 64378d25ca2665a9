"""A small fleet and a caller, for the tests of the simulator, over HTTP or in process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from edgeshift.http.tls import tls_context
from edgeshift.testbed.simulator.fleet_file import (
    Credential,
    FirewallRule,
    Fleet,
    FleetAccount,
    FleetUser,
    FleetZone,
    Owasp,
    PageRule,
    PageRuleAction,
    PreviousWaf,
    UriOverride,
)
from edgeshift.testbed.simulator.options import STRICT as STRICT_BODIES
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.server import RunningSimulator, create_app, running

ENTRY_POINT = "/rulesets/phases/http_request_firewall_managed/entrypoint"
MANAGED_RULESET = "efb7b8c949ac4650a09736fc376e9aee"
STRICT = STRICT_BODIES.model_dump()
"""The option `bodies` by which bodies are read to the letter."""
Json = Any


def a_fleet() -> Fleet:
    """Two accounts, two users, and a zone of each kind that the rules tell apart."""
    bypass = [FirewallRule(expression='ip.src eq "192.0.2.1"', products=["waf"])]
    return Fleet(
        users=[FleetUser(email="ada@example.com"), FleetUser(email="bob@example.com")],
        credentials=[
            Credential(label="ada-token", user="ada@example.com"),
            Credential(label="ada-key", kind="key", user="ada@example.com"),
            Credential(label="ada-reader", user="ada@example.com", permissions=["zone:read", "waf:read"]),
            Credential(label="bob-token", user="bob@example.com", accounts=["Second"]),
            Credential(label="old-token", user="bob@example.com", status="expired"),
        ],
        accounts=[FleetAccount(name="First"), FleetAccount(name="Second")],
        zones=[
            FleetZone(name="pro.example", plan="pro", firewall_rules=bypass),
            FleetZone(name="enterprise.example", plan="enterprise"),
            FleetZone(name="business.example", plan="business", account="Second"),
            FleetZone(
                name="overridden.example", plan="pro", uri_overrides=[UriOverride(urls=["a.example/*"])]
            ),
            FleetZone(
                name="phase-one.example",
                plan="pro",
                previous_waf=PreviousWaf(owasp=Owasp(sensitivity="off")),
            ),
            FleetZone(
                name="paged.example",
                plan="pro",
                page_rules=[
                    PageRule(targets=["paged.example/*"], actions=[PageRuleAction(id="waf", value="off")])
                ],
            ),
        ],
    )


class MovableTime:
    """A source of time that stands still until it is told to pass."""

    def __init__(self) -> None:
        self.now = datetime(2022, 10, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Caller:
    """Calls the simulator over HTTP as one of its credentials."""

    def __init__(self, server: RunningSimulator, fleet: Fleet, http: httpx.AsyncClient) -> None:
        self.server, self.fleet, self.http = server, fleet, http
        self.ids = {zone.name.removesuffix(".example"): zone.id for zone in fleet.zones}
        self.time: MovableTime | None = None

    def headers(self, label: str) -> dict[str, str]:
        found = next(one for one in self.fleet.credentials if one.label == label)
        if found.kind == "token":
            return {"authorization": f"Bearer {found.value}"}
        email = next(user.email for user in self.fleet.users if user.id == found.user)
        return {"x-auth-key": found.value, "x-auth-email": email}

    async def __call__(
        self, method: str, path: str, body: Json = None, *, by: str = "ada-token", **more: Any
    ) -> httpx.Response:
        """`path` is below the base path; a leading `zone-name:` stands for that zone's path."""
        if not path.startswith("/"):
            zone, _, rest = path.partition(":")
            path = f"/zones/{self.ids[zone]}{rest}"
        url = self.server.base_url + path
        if body is not None:
            more["json"] = body
        return await self.http.request(method, url, headers=self.headers(by), **more)

    async def result(self, method: str, path: str, body: Json = None, **more: Any) -> Json:
        """The result of a call that must succeed."""
        answer = await self(method, path, body, **more)
        assert answer.status_code == 200, answer.text
        document = answer.json()
        assert document["success"] is True
        assert document["errors"] == []
        return document["result"]

    async def refused(
        self, status: int, method: str, path: str, body: Json = None, **more: Any
    ) -> list[Json]:
        """The error objects of a call that must be refused with `status`."""
        answer = await self(method, path, body, **more)
        assert answer.status_code == status, answer.text
        document = answer.json()
        assert document["success"] is False
        assert document["result"] is None
        assert "cf-ray" in answer.headers
        errors: list[Json] = document["errors"]
        return errors

    async def control(self, method: str, path: str, body: Json = None, **more: Any) -> Json:
        """A control call that must succeed."""
        answer = await self.http.request(method, f"{self.server.control_url}/{path}", json=body, **more)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def journal(self, **query: Any) -> list[Json]:
        """The journal's entries."""
        found: list[Json] = (await self.control("GET", "journal", params=query))["entries"]
        return found

    async def migrate(self, zone: str, value: str, body: Json = None) -> httpx.Response:
        """The entry point's PUT with `waf_migration`."""
        if body is None:
            body = await self.result("GET", f"{zone}:/waf_migration/config?phase_two=1")
        return await self("PUT", f"{zone}:{ENTRY_POINT}?waf_migration={value}&phase_two=1", body)

    async def state(self, zone: str) -> str:
        """The migration state that the status shows."""
        return str((await self.result("GET", f"{zone}:/waf_migration/status"))["migration_state"])


@asynccontextmanager
async def simulated(
    data: Path, *, fleet: Fleet | None = None, time: MovableTime | None = None, **options: Any
) -> AsyncIterator[Caller]:
    """A simulator that answers until the block ends; without options, migrations are instantly there."""
    chosen = {"migration_seconds": 0, "validation_seconds": 0, "visibility_seconds": 0} | options
    served = fleet or a_fleet()
    async with (
        running(served, data, options=SimulatorOptions.model_validate(chosen), clock=time) as server,
        httpx.AsyncClient(timeout=10, trust_env=False, verify=tls_context(None)) as http,
    ):
        yield Caller(server, served, http)


@asynccontextmanager
async def in_process(
    data: Path, *, fleet: Fleet | None = None, time: MovableTime | None = None, **options: Any
) -> AsyncIterator[Caller]:
    """The same without a wire: calls go straight into the application, which answers alike
    (test_simulator_in_process.py). For what needs no connection, no edge and no log job that pushes.
    """
    chosen = {"migration_seconds": 0, "validation_seconds": 0, "visibility_seconds": 0} | options
    served = fleet or a_fleet()
    app = create_app(served, data, SimulatorOptions.model_validate(chosen), time)
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), verify=False) as http:
            # Nobody listens at these ports.
            yield Caller(RunningSimulator("127.0.0.1", 0, 0, app.state.simulator), served, http)
    finally:
        app.state.deliverer.close()
        app.state.simulator.close()


def log_only(body: Json) -> Json:
    """A configuration whose managed rulesets only log."""
    rules = []
    for rule in body["rules"]:
        if rule["action"] == "execute":
            given = rule["action_parameters"].get("overrides", {})
            inner = [{**one, "action": "log"} for one in given.get("rules", [])]
            overrides = {**given, "action": "log", **({"rules": inner} if inner else {})}
            rule = {**rule, "action_parameters": {**rule["action_parameters"], "overrides": overrides}}
        rules.append(rule)
    return {**body, "rules": rules}
