"""What earlier campaigns of an area really cost, for the forecast of a plan."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from edgeshift.areas import area_of
from edgeshift.campaign_file.forecast import Measured
from edgeshift.model.fleet import DONE, Area, Plan
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import CallsMade, DocumentUnreadable, calls_folder, get_record

ENOUGH = 5
"""Targets that have to be counted, so that an average says something of others."""

RECENT = 5
"""Campaigns that are looked into, the latest first."""

MOST_RECORDS = 2_000
"""Records that are read of one campaign: of ten workers that counted for weeks."""

SIDE_BY_SIDE = 32

_MOMENT = re.compile(r"\d{8}T\d{12}-\d+")


async def measured_calls(archive: Archive, area: Area) -> dict[bool, Measured]:
    """What a target of the area took in the latest campaign that has changed enough of them, by whether it is
    one that the area validates (Enterprise zones, if any). Raises ArchiveError.
    """
    runs: dict[tuple[str, str], list[str]] = defaultdict(list)
    async for key in archive.list(calls_folder(area)):
        parts = key.split("/")
        if len(parts) == 5 and _MOMENT.match(parts[4]):
            runs[parts[2], parts[3]].append(key)
    found: dict[bool, Measured] = {}
    latest = sorted(runs, key=lambda run: max(map(_moment, runs[run])), reverse=True)
    for run in latest[:RECENT]:
        records = await _read(archive, sorted(runs[run])[-MOST_RECORDS:])
        for validated, calls in counted_in(records, validates=area_of(area).validates).items():
            if len(calls) >= ENOUGH and validated not in found:
                found[validated] = Measured(run[0], len(calls), sum(calls) / len(calls))
    return found


def counted_in(records: Iterable[CallsMade], *, validates: bool) -> Mapping[bool, Sequence[int]]:
    """The calls of each target that was changed and has ended, by whether it is one that is validated. Those
    of a campaign in one archive: of each worker, whatever it has counted.
    """
    calls: dict[str, int] = defaultdict(int)
    plans: dict[str, Plan] = {}
    done: set[str] = set()
    for record in records:
        for target, made in record.zones.items():
            calls[target] += made.calls
            plans[target] = made.plan
        done |= {target for target, outcome in record.ended.items() if outcome in DONE}
    found: dict[bool, list[int]] = defaultdict(list)
    for target in sorted(done & calls.keys()):
        found[validates and plans[target] is Plan.ENTERPRISE].append(calls[target])
    return found


def _moment(key: str) -> str:
    """When a record was made, as a text that orders records by it."""
    return key.rpartition("/")[2].partition("-")[0]


async def _read(archive: Archive, keys: Sequence[str]) -> list[CallsMade]:
    turns = asyncio.Semaphore(SIDE_BY_SIDE)

    async def read(key: str) -> CallsMade | None:
        async with turns:
            try:
                return await get_record(archive, CallsMade, key)
            except DocumentUnreadable:
                # A forecast does not fail for a record that somebody has damaged.
                return None

    return [record for record in await asyncio.gather(*map(read, keys)) if record is not None]
