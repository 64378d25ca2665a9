"""What edgeshift is measured against on the same work: a flow without gates, as people write it first.

Nobody signs, nothing is archived or fenced, nothing keeps to the limit. Five remote activities make the calls
that a Professional zone needs, and the SDK's worker is taken as it comes.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    import httpx

QUEUE = "bench-naive"
PHASE = "http_request_firewall_managed"
LIMIT = timedelta(seconds=60)


class Calls:
    """The activities, over one client of the service."""

    def __init__(self, base_url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=30.0, trust_env=False)

    async def _result(self, method: str, path: str, **more: Any) -> Any:
        answer = await self.client.request(method, path, **more)
        return answer.raise_for_status().json()["result"]

    @activity.defn(name="naive_config")
    async def config(self, zone: str) -> dict[str, Any]:
        """Read the configuration that is put."""
        found = await self._result("GET", f"/zones/{zone}/waf_migration/config", params={"phase_two": "1"})
        return {"name": found.get("name") or "default", "rules": found["rules"]}

    @activity.defn(name="naive_page_rules")
    async def page_rules(self, zone: str) -> int:
        """Read the page rules; how many."""
        return len(await self._result("GET", f"/zones/{zone}/pagerules"))

    @activity.defn(name="naive_put")
    async def put(self, zone: str, body: dict[str, Any]) -> None:
        """Send the irreversible step."""
        path, query = _entry_point(zone), {"waf_migration": "pending", "phase_two": "1"}
        await self._result("PUT", path, params=query, json=body)

    @activity.defn(name="naive_status")
    async def status(self, zone: str) -> str:
        """Read the state of the migration."""
        return str((await self._result("GET", f"/zones/{zone}/waf_migration/status"))["migration_state"])

    @activity.defn(name="naive_stored")
    async def stored(self, zone: str) -> int:
        """Read the rules that are stored; how many."""
        return len((await self._result("GET", _entry_point(zone)))["rules"])


def _entry_point(zone: str) -> str:
    return f"/zones/{zone}/rulesets/phases/{PHASE}/entrypoint"


@workflow.defn
class NaiveZone:
    """One zone: the five calls, one after the other. Its result is the state that the service shows."""

    @workflow.run
    async def run(self, zone: str) -> str:
        """Make the calls."""
        body = await workflow.execute_activity_method(Calls.config, zone, start_to_close_timeout=LIMIT)
        await workflow.execute_activity_method(Calls.page_rules, zone, start_to_close_timeout=LIMIT)
        await workflow.execute_activity_method(Calls.put, args=[zone, body], start_to_close_timeout=LIMIT)
        state = await workflow.execute_activity_method(Calls.status, zone, start_to_close_timeout=LIMIT)
        await workflow.execute_activity_method(Calls.stored, zone, start_to_close_timeout=LIMIT)
        return state


async def measure_naive(
    client: Client, base_url: str, token: str, zones: Sequence[str], window: int
) -> float:
    """Zones (identifiers) a second, ``window`` of them at a time. Raises RuntimeError where one is not
    migrated.
    """
    run = uuid.uuid4().hex[:8]
    at_once = asyncio.Semaphore(window)
    calls = Calls(base_url, token)

    async def one(zone: str) -> str:
        async with at_once:
            return await client.execute_workflow(
                NaiveZone.run, zone, id=f"naive-{run}-{zone}", task_queue=QUEUE
            )

    activities: list[Callable[..., Any]] = [
        calls.config,
        calls.page_rules,
        calls.put,
        calls.status,
        calls.stored,
    ]
    async with calls.client, Worker(client, task_queue=QUEUE, workflows=[NaiveZone], activities=activities):
        began = time.perf_counter()
        states = await asyncio.gather(*map(one, zones))
        took = time.perf_counter() - began
    if left := [state for state in states if state != "complete"]:
        raise RuntimeError(f"the naive flow left {len(left)} zones {left[0]}")
    return len(zones) / took
