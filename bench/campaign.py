"""One campaign over equal zones, signed as soon as it waits: how fast, how many events, how many calls."""

from __future__ import annotations

import asyncio
import os
import sys
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from temporalio.client import Client, WorkflowHandle

from edgeshift.archive import Archive
from edgeshift.campaign_spec import CampaignSpec
from edgeshift.fleet import Area, campaign_id, zone_migration_id
from edgeshift.messages import Answer, CampaignResult, CampaignSignOff, CampaignSummary
from edgeshift.operations.campaigns import start_campaign
from edgeshift.settings import Settings
from edgeshift.sign_off import Choice
from edgeshift.simulator.fleet_file import Fleet, dump_fleet
from edgeshift.witness.control import Control
from worker.wiring import workers

SCALE = 1_000_000.0
"""So that neither windows nor the rate limit wait: what is measured is edgeshift and its engine."""


@dataclass(frozen=True)
class Measured:
    """Of one campaign: zones per second, history events of each zone, calls of each zone by name."""

    rate: float
    events: list[int]
    calls: list[Counter[str]]

    @property
    def typical_events(self) -> int:
        """The median number of history events of a zone."""
        return round(median(self.events))


def equal_zones(plan: str, number: int) -> Fleet:
    """Zones of one plan and one shape."""
    names = [f"z{index:05d}-{plan}.example" for index in range(number)]
    return Fleet.model_validate({"zones": [{"name": name, "plan": plan} for name in names]})


@asynccontextmanager
async def simulator(fleet: Fleet, folder: Path) -> AsyncIterator[tuple[str, Control]]:
    """The simulator in a process of its own, as the real service would be; its base URL and its control."""
    path, port_file = await asyncio.to_thread(_laid_out, fleet, folder)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.service", str(path), str(folder / "data"), str(port_file), str(SCALE)
    )
    try:
        url = f"http://127.0.0.1:{await asyncio.to_thread(_port, port_file)}"
        control = Control(f"{url}/_simulator")
        yield f"{url}/client/v4", control
    finally:
        process.terminate()
        await process.wait()


def _laid_out(fleet: Fleet, folder: Path) -> tuple[Path, Path]:
    folder.mkdir(parents=True)
    dump_fleet(fleet, folder / "fleet.json")
    return folder / "fleet.json", folder / "port"


def _port(file: Path) -> str:
    """The port that the simulator writes once it listens. Raises TimeoutError after half a minute."""
    for _ in range(300):
        if file.exists() and (port := file.read_text().strip()):
            return port
        time.sleep(0.1)
    raise TimeoutError("the simulator does not start")


async def measure_campaign(client: Client, folder: Path, plan: str, zones: int, window: int) -> Measured:
    """Run a campaign over ``zones`` equal zones, ``window`` at a time.

    Raises RuntimeError where one is not migrated.
    """
    fleet = equal_zones(plan, zones)
    variable = f"EDGESHIFT_BENCH_{uuid.uuid4().hex[:8].upper()}"
    os.environ[variable] = fleet.credentials[0].value
    settings = Settings(state_dir=folder / "state")
    async with simulator(fleet, folder / "service") as (base_url, control), workers(client, settings):
        spec = CampaignSpec.model_validate(
            {
                "name": f"bench-{uuid.uuid4().hex[:8]}",
                "targets": {"all": True},
                "service": {
                    "base_url": base_url,
                    "credentials": [{"token": f"env:{variable}", "user": uuid.uuid4().hex[:8]}],
                },
                "window": window,
                "time_scale": SCALE,
                "sign_off": {"expires_after": "3650d", "valid_for": "3650d"},
            }
        )
        start = await start_campaign(client, Archive(settings.archive), spec, by="bench")
        began = time.perf_counter()
        handle = client.get_workflow_handle(campaign_id(spec.name), result_type=CampaignResult)
        signing = asyncio.create_task(_sign(handle))
        result = await handle.result()
        took = time.perf_counter() - began
        await signing
        if result.outcomes != {"migrated": start.count}:
            raise RuntimeError(f"not every zone was migrated: {result.outcomes}")
        journal = await control.journal()
    os.environ.pop(variable)
    calls: dict[str, Counter[str]] = {zone.id: Counter() for zone in fleet.zones}
    for entry in journal:
        if entry["zone"]:
            calls[entry["zone"]][_named(entry)] += 1
    events = []
    for zone in fleet.zones:
        found = client.get_workflow_handle(zone_migration_id(zone.id, Area.WAF))
        events.append(len((await found.fetch_history()).events))
    return Measured(rate=zones / took, events=events, calls=list(calls.values()))


async def _sign(handle: WorkflowHandle[object, CampaignResult]) -> None:
    """Approve each fingerprint as soon as it waits."""
    signed: set[str] = set()
    while True:
        summary = await handle.query("summary", result_type=CampaignSummary)
        waiting = [item.fingerprint for item in summary.waiting if item.fingerprint not in signed]
        if waiting:
            message = CampaignSignOff(choice=Choice.APPROVE, fingerprints=tuple(waiting), by="bench")
            await handle.execute_update("sign_off", message, result_type=Answer)
            signed.update(waiting)
        if summary.state == "closed":
            return
        await asyncio.sleep(0.2)


def _named(entry: dict[str, object]) -> str:
    query = str(entry["query"])
    return f"{entry['call']} validation" if "waf_migration=validation" in query else str(entry["call"])
