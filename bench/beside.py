"""How much of the rate limit is used beside somebody else who calls as the same user: processes call as fast
as they are let, the other one begins to take a share of the limit and stops again, and the simulator's
journal is counted. Prints the figures and writes them to ``out/bench-beside.json``.
``python -m bench.beside [PROCESSES [SHARE]]``
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.pace import REQUESTS, SCALE, WINDOW, callers
from bench.stand import Service, simulator
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.settings import Settings, TemporalSettings, WorkerSettings
from edgeshift.runtime.temporal import connect
from edgeshift.service_api import Credential, ServiceClient, ServiceError
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from worker.wiring import workers

ALONE, BESIDE, AFTER = 2, 3, 3
"""Windows before the other one begins, until it stops, and after that."""

AT_ONCE = 50
OUT = Path("out/bench-beside.json")


async def other(service: Service, token: str, zone: str, share: float, seconds: float) -> None:
    """Call at an even pace, whatever is answered."""
    loop = asyncio.get_running_loop()
    began, calls = loop.time(), set()
    async with ServiceClient(service.base_url, Credential(token=token), pacer=Unpaced()) as client:

        async def call() -> None:
            try:
                await client.waf_status(zone)
            except ServiceError:
                return

        number = 0
        while (at := number * WINDOW / REQUESTS / share) < seconds:
            await asyncio.sleep(began + at - loop.time())
            calls.add(asyncio.create_task(call()))
            number += 1
        await asyncio.gather(*calls)


def used(own: Sequence[float], begin: float, end: float, share: float = 1.0) -> float:
    """What was used of a share of the limit from one moment to another."""
    made = sum(begin <= at < end for at in own)
    return round(made / (share * REQUESTS * (end - begin) / WINDOW), 4)


def judged(own: list[tuple[float, int | None]], others: list[tuple[float, int | None]]) -> dict[str, Any]:
    """What was used in each phase, and who was refused."""
    begun, stopped = others[0][0], others[-1][0]
    share = len(others) / (stopped - begun) * WINDOW / REQUESTS
    mine = [at for at, status in own if status != 429]
    both = sorted(mine + [at for at, status in others if status != 429])
    most = ahead = 0
    for number, at in enumerate(both):
        while at - both[ahead] >= WINDOW:
            ahead += 1
        most = max(most, number - ahead + 1)
    return {
        "others_share": round(share, 4),
        "used_alone": used(mine, mine[0] + WINDOW / 2, begun),
        "used_of_the_rest_in_the_first_window": used(mine, begun, begun + WINDOW, 1 - share),
        "used_of_the_rest_beside": used(mine, begun + WINDOW, stopped, 1 - share),
        "used_in_the_first_window_after": used(mine, stopped, stopped + WINDOW),
        "used_after": used(mine, stopped + WINDOW, mine[-1]),
        "fullest_window": most,
        "of": REQUESTS,
        "own_429": sum(status == 429 for _, status in own),
        "others_429": sum(status == 429 for _, status in others),
    }


async def measured(processes: int, share: float) -> dict[str, Any]:
    """One measurement."""
    fleet = Fleet.model_validate({"zones": [{"name": "a.example", "plan": "pro"}]})
    token, zone = fleet.credentials[0].value, fleet.zones[0].id
    os.environ["PACE_TOKEN"] = token
    limit = {"requests": REQUESTS, "window_seconds": WINDOW * SCALE, "headers": True}
    seconds = (ALONE + BESIDE + AFTER) * WINDOW
    with tempfile.TemporaryDirectory() as folder:
        async with (
            embedded_temporal(None) as server,
            simulator(fleet, Path(folder) / "s", {"time_scale": SCALE, "rate_limit": limit}) as service,
        ):
            client = await connect(TemporalSettings(address=server.address))
            settings = Settings(state_dir=Path(folder), worker=WorkerSettings(queues="quota"))
            async with workers(client, settings):
                running = await callers(processes, server.address, service.base_url, zone, seconds, AT_ONCE)
                await asyncio.sleep(ALONE * WINDOW)
                await other(service, token, zone, share, BESIDE * WINDOW)
                for one in running:
                    await one.communicate()
            journal = await service.control.journal()
    calls: dict[str, list[tuple[float, int | None]]] = {"pagerules.list": [], "waf.status": []}
    for entry in journal:
        if entry["call"] in calls:
            at = datetime.fromisoformat(entry["wall_time"]).timestamp()
            calls[entry["call"]].append((at, entry["status"]))
    found = judged(sorted(calls["pagerules.list"]), sorted(calls["waf.status"]))
    return {"processes": processes, "window_seconds": WINDOW} | found


def main(processes: int, share: float) -> None:
    """Measure, print and write."""
    figures = json.dumps(asyncio.run(measured(processes, share)), indent=2)
    print(figures)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(figures + "\n")


if __name__ == "__main__":
    given = sys.argv[1:] + ["1", "0.2"][len(sys.argv) - 1 :]
    main(int(given[0]), float(given[1]))
