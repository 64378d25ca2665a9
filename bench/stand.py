"""What each measurement stands on: the simulator in a process of its own, workers, and one campaign over all
zones of a fleet, signed as soon as anything waits.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHandle

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignResult, ZoneResult
from edgeshift.model.fleet import Target, campaign_id, zone_migration_id
from edgeshift.model.sign_off import Choice
from edgeshift.operations.again import zones_at
from edgeshift.operations.campaigns import assess, frozen_by, published, start_campaign
from edgeshift.operations.errors import NotFound
from edgeshift.operations.sign_offs import SEPARATE, sign_fingerprints, sign_zone, waiting_zone
from edgeshift.operations.zones import FoundZone
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.simulator.fleet_file import Fleet, dump_fleet
from worker.wiring import workers

AT_ONCE = 8
"""Histories that are fetched at a time."""


@dataclass(frozen=True)
class Service:
    """A simulator: its base URL, its edge, its control API and its data folder."""

    base_url: str
    edge: str
    control: Control
    data: Path


@dataclass(frozen=True)
class Ended:
    """How the workflow of one zone ended: its result, its history, and the record in the archive."""

    result: ZoneResult
    history: Sequence[HistoryEvent]
    record: Mapping[str, Any]


@asynccontextmanager
async def simulator(fleet: Fleet, folder: Path, options: Mapping[str, Any]) -> AsyncIterator[Service]:
    """The simulator in a process of its own, as the real service would be. ``options``: its own."""
    path, port_file = await asyncio.to_thread(_laid_out, fleet, folder)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.service",
        str(path),
        str(folder / "data"),
        str(port_file),
        json.dumps(options),
    )
    try:
        url = f"http://127.0.0.1:{await asyncio.to_thread(_port, port_file)}"
        control = Control(f"{url}/_simulator")
        edge = (await control.get("health"))["edge"]
        yield Service(f"{url}/client/v4", edge, control, folder / "data")
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


class Stand:
    """A service, workers and a campaign that has not begun.

    ``took``: the campaign's seconds, once it ran. ``by_itself``: zones that were signed each by itself, since
    their evidence was in doubt.
    """

    def __init__(self, client: Client, service: Service, settings: Settings, spec: CampaignSpec) -> None:
        self._client, self._settings = client, settings
        self.service, self.spec = service, spec
        self.took = 0.0
        self.by_itself: set[str] = set()
        self._before = 0

    @property
    def archive(self) -> Archive:
        """What the campaign archived."""
        return Archive(self._settings.archive)

    async def run(self) -> CampaignResult:
        """Plan the campaign, start it by that plan, sign whatever waits, and wait for its end."""
        _, plan = await assess(self._client, self.archive, self.spec)
        self._before = len(await self.service.control.journal())
        start = await start_campaign(
            self._client, self.archive, self.spec, by="bench", frozen=frozen_by(plan, datetime.now(UTC))
        )
        targets = [Target.model_validate(item) for item in await self.archive.get_json(start.targets)]
        began = time.perf_counter()
        handle: WorkflowHandle[object, CampaignResult] = self._client.get_workflow_handle(
            campaign_id(self.spec.name), result_type=CampaignResult
        )
        signing = asyncio.create_task(self._sign(handle, targets))
        result = await handle.result()
        self.took = time.perf_counter() - began
        await signing
        return result

    async def _sign(self, handle: WorkflowHandle[object, CampaignResult], targets: Sequence[Target]) -> None:
        """Approve each fingerprint, and each zone that waits by itself, as soon as it waits."""
        signed: set[str] = set()
        while True:
            described = await handle.describe()
            if described.close_time is not None:
                return
            if (summary := await published(described)) is None:
                await asyncio.sleep(0.2)
                continue
            waiting = [item.fingerprint for item in summary.waiting if item.zones > item.separate]
            if fresh := [fingerprint for fingerprint in waiting if fingerprint not in signed]:
                await sign_fingerprints(self._client, self.spec.name, fresh, Choice.APPROVE, by="bench")
                signed.update(fresh)
            if any(item.separate for item in summary.waiting):
                for one in (await zones_at(self._client, self.spec.name, (SEPARATE,))).targets:
                    await self._sign_zone(one.index, targets[one.index])
            await asyncio.sleep(0.2)

    async def _sign_zone(self, index: int, target: Target) -> None:
        zone = FoundZone.of(index, target, self.spec.area, self.spec.name)
        try:
            state = await waiting_zone(self._client, zone)
            await sign_zone(self._client, zone, state.digest, Choice.APPROVE, by="bench")
        except NotFound:
            return
        self.by_itself.add(target.zone.id)

    async def ended(self, zones: Sequence[str]) -> dict[str, Ended]:
        """How each of these zones (identifiers) ended, once they all have."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(zone: str) -> Ended:
            async with gate:
                found = self._client.get_workflow_handle(
                    zone_migration_id(zone, self.spec.area), result_type=ZoneResult
                )
                result = await found.result()
                history = (await found.fetch_history()).events
                record = await self.archive.get_json(result.record) if result.record else {}
                return Ended(result, history, record)

        return dict(zip(zones, await asyncio.gather(*map(one, zones)), strict=True))

    async def calls(self) -> dict[str, Counter[str]]:
        """The service's calls of each zone by name since the plan, as its journal has them."""
        found: dict[str, Counter[str]] = {}
        for entry in (await self.service.control.journal())[self._before :]:
            if entry["zone"]:
                found.setdefault(entry["zone"], Counter())[_named(entry)] += 1
        return found


@asynccontextmanager
async def stand(
    client: Client,
    folder: Path,
    fleet: Fleet,
    options: Mapping[str, Any],
    terms: Mapping[str, Any],
    *,
    to_edge: bool = False,
) -> AsyncIterator[Stand]:
    """Set up a campaign over all zones of a fleet.

    ``terms``: fields of the campaign beyond its name, targets and service. ``to_edge``: whether the probe of
    esc goes to the simulator's edge.
    """
    variable = f"EDGESHIFT_BENCH_{uuid.uuid4().hex[:8].upper()}"
    os.environ[variable] = fleet.credentials[0].value
    settings = Settings(state_dir=folder / "state")
    try:
        async with (
            simulator(fleet, folder / "service", options) as service,
            workers(client, settings),
        ):
            described = {
                "name": f"bench-{uuid.uuid4().hex[:8]}",
                "targets": {"all": True},
                "sign_off": {"expires_after": "3650d", "valid_for": "3650d"},
                **terms,
                "service": {
                    "base_url": service.base_url,
                    "credentials": [{"token": f"env:{variable}", "user": uuid.uuid4().hex[:8]}],
                    **terms.get("service", {}),
                },
            }
            if to_edge:
                own = described["esc"]
                described["esc"] = {**own, "probe": {**own.get("probe", {}), "edge": service.edge}}
            yield Stand(client, service, settings, CampaignSpec.model_validate(described))
    finally:
        os.environ.pop(variable, None)


def _named(entry: dict[str, object]) -> str:
    query = str(entry["query"])
    return f"{entry['call']} validation" if "waf_migration=validation" in query else str(entry["call"])
