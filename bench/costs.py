"""What a call of the service and a record of the archive cost the worker's processor, each by itself:
``python -m bench.costs``. Microseconds of the processor's time in this process, the least of a few rounds:
what else the machine does makes it more, never less.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bench.stand import simulator
from bench.waf import INSTANT, equal_zones
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, Refused, ServiceClient
from edgeshift.stores.archive import Archive

OUT = Path("out") / "bench-costs.json"
ROUNDS, TIMES, AT_ONCE = 7, 300, 20

Work = Callable[[int], Awaitable[object]]


async def least(work: Work) -> float:
    """Microseconds a time, ``AT_ONCE`` at a time. ``work`` is given the number of the time, from 0 on."""
    found, number = [], iter(range(ROUNDS * TIMES))

    async def some(times: int) -> None:
        for _ in range(times):
            await work(next(number))

    for _ in range(ROUNDS):
        began = time.process_time()
        await asyncio.gather(*(some(TIMES // AT_ONCE) for _ in range(AT_ONCE)))
        found.append((time.process_time() - began) / (TIMES // AT_ONCE * AT_ONCE))
    return round(min(found) * 1e6)


async def of_calls(folder: Path) -> dict[str, float]:
    """Of a reading, and of a write, by the client that a worker has."""
    fleet = equal_zones("pro", 1)
    zone, body = fleet.zones[0].id, {"name": "default", "rules": []}
    async with (
        simulator(fleet, folder / "service", INSTANT) as service,
        ServiceClient(
            service.base_url, Credential(token=fleet.credentials[0].value), pacer=Unpaced()
        ) as calls,
    ):
        return {
            "reading": await least(lambda _: calls.waf_status(zone)),
            "write": await least(lambda _: _put(calls, zone, body)),
        }


async def _put(calls: ServiceClient, zone: str, body: dict[str, Any]) -> None:
    """Every one after the first is refused, which costs the same."""
    with contextlib.suppress(Refused):
        await calls.put_entry_point(zone, body, "pending")


async def of_records(folder: Path) -> dict[str, float]:
    """Of records in a folder: one that is created, read, looked for in vain, and listed."""
    archive, data = Archive(folder / "archive"), b"{}" * 200

    def key(number: int) -> str:
        return f"intent/{number:032x}/waf/1"

    async def listed(number: int) -> list[str]:
        return [one async for one in archive.list(f"intent/{number:032x}/waf")]

    return {
        "created": await least(lambda number: archive.create_once(key(number), data)),
        "read": await least(lambda number: archive.get_named(key(number))),
        "not there": await least(lambda number: archive.get_named(f"seen/{number:032x}/waf/1")),
        "listed": await least(listed),
    }


async def _measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return {"calls": await of_calls(place), "records": await of_records(place)}


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    text = json.dumps(asyncio.run(_measured()), indent=2)
    OUT.write_text(text + "\n")
    print(text)
