"""How much of the rate limit is used: processes of one user call as fast as they are let, and the simulator's
journal is counted. ``python -m bench.pace [PROCESSES [SECONDS [AT_ONCE]]]``
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.stand import simulator
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.quota.leases import Quotas
from edgeshift.runtime.settings import Settings, TemporalSettings, WorkerSettings
from edgeshift.runtime.temporal import connect
from edgeshift.service_api import Credential, RateLimited, ServiceClient
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from worker.wiring import workers

SCALE = 10
REQUESTS = 1200
WINDOW = 300 / SCALE
ENDS = 5.0
"""Seconds at the beginning and at the end that are not counted."""


def spec(base_url: str) -> CampaignSpec:
    """A campaign's file whose user is the only one."""
    return CampaignSpec.model_validate(
        {
            "name": "pace",
            "targets": {"all": True},
            "service": {
                "base_url": base_url,
                "credentials": [{"token": "env:PACE_TOKEN", "user": "u1"}],
                "rate": {"people": 0},
            },
            "time_scale": SCALE,
        }
    )


async def caller(address: str, base_url: str, zone: str, seconds: float, at_once: int) -> None:
    """Call with so many at once until the seconds are over; every tenth call is urgent."""
    scaled = spec(base_url).scaled()
    quotas = Quotas(await connect(TemporalSettings(address=address)))
    credential = scaled.service.credentials[0]
    pacer = quotas.pacer(credential, scaled)
    until, done, refused = time.monotonic() + seconds, 0, 0
    async with ServiceClient(base_url, Credential(token=os.environ["PACE_TOKEN"]), pacer=pacer) as client:

        async def flat_out(number: int) -> None:
            nonlocal done, refused
            while time.monotonic() < until:
                try:
                    await client.page_rules(zone, urgent=number % 10 == 0)
                    done += 1
                except RateLimited:
                    refused += 1

        try:
            async with asyncio.timeout(seconds + 5):
                await asyncio.gather(*(flat_out(number) for number in range(at_once)))
        except TimeoutError:
            pass
    await quotas.close()
    print(json.dumps({"done": done, "refused": refused}), flush=True)


def judged(times: list[float], statuses: list[int | None]) -> dict[str, Any]:
    """What is used of the limit between the ends, the fullest window, and how many were refused."""
    first, last = times[0] + ENDS, times[-1] - ENDS
    inside = [at for at in times if first <= at <= last]
    most, begin = 0, 0
    for end in range(len(times)):
        while times[end] - times[begin] >= WINDOW:
            begin += 1
        most = max(most, end - begin + 1)
    by_second = [0] * (int(last - first) + 1)
    for at in inside:
        by_second[int(at - first)] += 1
    return {
        "quota_used": round(len(inside) / ((last - first) * REQUESTS / WINDOW), 4),
        "fullest_window": most,
        "of": REQUESTS,
        "own_429": statuses.count(429),
        "seconds": round(last - first, 1),
        "by_second": by_second,
    }


async def callers(
    processes: int, address: str, base_url: str, zone: str, seconds: float, at_once: int
) -> list[asyncio.subprocess.Process]:
    """Processes that call for so many seconds, with PACE_TOKEN; each prints what it saw at its end."""
    return [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.pace", "caller", address, base_url, zone, str(seconds), str(at_once),
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(processes)
    ]  # fmt: skip


async def measured(processes: int, seconds: float, at_once: int) -> dict[str, Any]:
    """One measurement."""
    fleet = Fleet.model_validate({"zones": [{"name": "a.example", "plan": "pro"}]})
    os.environ["PACE_TOKEN"] = fleet.credentials[0].value
    options = {"time_scale": SCALE, "rate_limit": {"requests": REQUESTS, "window_seconds": 300}}
    with tempfile.TemporaryDirectory() as folder:
        async with (
            embedded_temporal(None) as server,
            simulator(fleet, Path(folder) / "s", options) as service,
        ):
            client = await connect(TemporalSettings(address=server.address))
            settings = Settings(state_dir=Path(folder), worker=WorkerSettings(queues="quota"))
            async with workers(client, settings):
                running = await callers(
                    processes, server.address, service.base_url, fleet.zones[0].id, seconds, at_once
                )
                said = [json.loads((await one.communicate())[0]) for one in running]
            journal = await service.control.journal()
    found = sorted(
        (datetime.fromisoformat(one["wall_time"]).timestamp(), one["status"])
        for one in journal
        if one["call"] == "pagerules.list"
    )
    return {"processes": processes, "said": said} | judged(
        [at for at, _ in found], [status for _, status in found]
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["caller"]:
        asyncio.run(caller(sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]), int(sys.argv[6])))
    else:
        given = [float(one) for one in sys.argv[1:]] + [1.0, 60.0, 50.0][len(sys.argv) - 1 :]
        print(json.dumps(asyncio.run(measured(int(given[0]), given[1], int(given[2])))))
