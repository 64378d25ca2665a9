"""One measured campaign: its fleet, its service, its people, and the figures that it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from temporalio.client import Client, WorkflowHandle

from bench.fleet.asking import Asking, asked, people
from bench.fleet.checked import checked, lost, verdicts
from bench.fleet.counted import counted_up
from bench.fleet.figures import Span
from bench.fleet.growing import Growing, series
from bench.fleet.histories import campaign_histories, zone_histories
from bench.fleet.left import state_in
from bench.fleet.usage import Usage, measurable, usage_of_workers
from bench.fleet.users import outage_of_the_last, users_of
from bench.fleet.zones import fleet_of, plans_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignResult
from edgeshift.model.fleet import campaign_id
from edgeshift.operations import assess, planned, start_campaign, store_spec
from edgeshift.operations.pen import Pen
from edgeshift.rate_limit.terms import MOST_REQUESTS
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from edgeshift.testbed.invariants.service import load_journal
from edgeshift.testbed.stack import Stack, serving, stack

REQUESTS, PER = 1200, 300.0
"""The limit of a user: so many calls in so many seconds, before the time scale (docs/service.md §8)."""

FIGURES = "figures.json"
"""What was counted of a campaign before its rules were checked, in its folder."""

LEAVE_WITHIN = 60.0
"""Seconds until whoever asks has heard that the campaign is closed."""

Say = Callable[[str], None]


class Course(BaseModel):
    """What is measured. Seconds are those before ``scale`` divides them, where they are not said to be real.

    ``enterprise``: every so manieth zone is an Enterprise zone, 0: none. ``limited``: whether the rate limit
    binds. ``migration``: seconds that one takes; ``window_seconds``: of the validation window. ``faults``:
    which share of the calls goes wrong: a reading that is answered 502, a change whose answer is lost.
    ``gather``: nobody signs before this share of the zones waits. ``hold_back``: this share of the
    fingerprints is signed only ``held_for`` seconds later.
    ``pause_every``: real seconds, None: never.
    ``users``: so many accounts share the zones, each with a user, a token and a limit of its own.
    ``outage``: how many real seconds after the campaign's first call, and for how many, the service does not
    answer the last user.
    """

    name: str
    zones: int
    enterprise: int = 10
    fingerprints: int = 20
    workers: int = 1
    limited: bool = True
    scale: float = 10.0
    migration: float = 300.0
    window_seconds: float = 60.0
    window: int | Literal["auto"] = "auto"
    faults: float = 0.0
    pause_every: float | None = 15.0
    gather: float = 0.0
    hold_back: float = 0.0
    held_for: float = 0.0
    users: int = 1
    outage: tuple[float, float] | None = None

    @property
    def limit(self) -> int:
        """Calls of the user in one window of the limit."""
        return REQUESTS if self.limited else MOST_REQUESTS

    @property
    def calls_per_second(self) -> float:
        """Of one user, of real time."""
        return self.limit * self.scale / PER

    @property
    def latency(self) -> float:
        """Real seconds from a commit to the reading that shows it."""
        return self.migration / self.scale

    @property
    def signed_first(self) -> int:
        """How many fingerprints are signed before the others, which are held back."""
        return round((1 - self.hold_back) * min(self.fingerprints, self.zones))


def spec_of(course: Course, running: Stack) -> CampaignSpec:
    """The campaign over the whole fleet. Raises ValidationError (ValueError) for a window that is larger than
    a campaign file takes.
    """
    described: dict[str, Any] = {
        "name": f"bench-{course.name}",
        "targets": {"all": True},
        "time_scale": course.scale,
        "window": course.window,
        "sign_off": {"expires_after": "3650d", "valid_for": "3650d"},
        "validation": {"window": f"{course.window_seconds:.0f}s", "evidence": {"enough": 0}},
        # Nobody keeps a share of the limit, and what fails stops nobody: the faults are the measurement's.
        "advance": {"failures": course.zones},
        "commit": {"migration_limit": f"{max(3_600.0, 2 * course.migration):.0f}s"},
        "service": {
            "base_url": running.service,
            "credentials": [one.model_dump() for one in running.credentials],
            "rate": {"requests": course.limit, "per": f"{PER:g}s", "people": 0},
        },
    }
    return CampaignSpec.model_validate(described)


def options_of(course: Course) -> dict[str, Any]:
    """The simulator's."""
    return {
        "migration_seconds": course.migration,
        "validation_seconds": course.window_seconds / 2,
        "visibility_seconds": 0,
        "rate_limit": {"requests": course.limit, "window_seconds": PER, "block_seconds": PER},
    }


def faults_of(course: Course) -> list[dict[str, Any]]:
    """Readings that are answered 502, changes that take effect and are not answered."""
    if not course.faults:
        return []
    readings = {"kind": "server_error", "status": 502, "effect": "before", "match": {"method": "GET"}}
    changes = {"kind": "server_error", "status": 502, "effect": "after", "match": {"method": "PUT"}}
    return [{**one, "probability": course.faults, "seed": 1} for one in (readings, changes)]


async def measured(course: Course, folder: Path, say: Say) -> dict[str, Any]:
    """Run the campaign in ``folder``, which is removed at the end, and put together what it left. After an
    error it is kept (``state_in``), with what was counted by then (``FIGURES``). Raises RuntimeError where a
    worker does not come, ValueError as of ``spec_of``.
    """
    if not measurable():
        say("this machine has no /proc: memory and CPU are not measured")
    fleet = fleet_of(
        course.zones, enterprise=course.enterprise, fingerprints=course.fingerprints, users=course.users
    )
    with state_in(folder, say):
        async with stack(
            folder, fleet=fleet, time_scale=course.scale, workers=course.workers, say=say
        ) as running:
            return await _measured(course, running, say)


async def _measured(course: Course, running: Stack, say: Say) -> dict[str, Any]:
    await running.control.send("PUT", "options", options_of(course))
    settings = TemporalSettings(address=running.address, namespace=running.namespace)
    client = await connect(settings, identity="bench")
    await until_served(client)
    spec, archive = spec_of(course, running), Archive(running.archive)
    workers = usage_of_workers(running.workers)
    rest = Usage(lambda: (running.temporal_pid, running.simulator.pid, os.getpid()))
    growing = Growing(client, campaign_id(spec.name))
    outages: list[Span] = []
    looking = [asyncio.create_task(one.work()) for one in (workers, rest, growing)]
    try:
        say(f"{course.name}: planning {course.zones:,} zones")
        planned_at = datetime.now(UTC)
        await assess(client, archive, spec)
        frozen = await planned(client, spec, await store_spec(archive, spec))
        for fault in faults_of(course):
            await running.control.send("POST", "faults", fault)
        say(f"{course.name}: the campaign begins")
        began, clock = datetime.now(UTC), time.perf_counter()
        pen = Pen(running.keyring.signer("bench"), archive, "bench")
        start = await start_campaign(client, archive, spec, by="bench", frozen=frozen, pen=pen)
        handle: WorkflowHandle[object, CampaignResult] = client.get_workflow_handle(
            campaign_id(spec.name), result_type=CampaignResult
        )
        notes = running.places.folder / "asked.txt"
        if course.outage:
            down = outage_of_the_last(running.control, course.users, *course.outage, outages)
            looking.append(asyncio.create_task(down))
        async with people(_asking(course, running, spec), notes) as process:
            result = await ended(handle, process)
            makespan, over = time.perf_counter() - clock, datetime.now(UTC)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), LEAVE_WITHIN)
    finally:
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
    say(f"{course.name}: closed after {makespan:.0f} s; checking the rules")
    journal, noted, plans = await load_journal(running.control), asked(notes), plans_of(running.fleet)
    found = counted_up(
        journal=journal,
        noted=noted,
        plans=plans,
        planned_at=planned_at,
        began=began,
        over=over,
        makespan=makespan,
        calls_per_second=course.calls_per_second if course.limited else None,
        limit_seconds=PER / course.scale,
        latency=course.latency,
        workers=workers,
        rest=rest,
        users=users_of(running.fleet),
        outages=outages,
    )
    found["plots"] |= series(growing.seen, began, over)
    found |= await campaign_histories(client, campaign_id(spec.name))
    found["history_events_per_zone"] = await zone_histories(client, plans, course.zones)
    found = {
        "course": course.model_dump(mode="json"),
        "window": spec.window,
        "outcomes": dict(result.outcomes),
        **found,
    }
    # What follows may fail, and the campaign has taken an hour.
    (running.places.folder / FIGURES).write_text(json.dumps(found, indent=1) + "\n")
    seen = await checked(running, client, spec, start.targets, journal, noted)
    absent = {4} | (set() if noted.stops else {7}) | (set() if course.enterprise else {3})
    return {
        **found,
        "lost": lost(seen),
        "rules": verdicts(seen, frozenset(absent)),
    }


async def ended(
    handle: WorkflowHandle[object, CampaignResult], process: asyncio.subprocess.Process
) -> CampaignResult:
    """The campaign's end. Raises RuntimeError where its people end before it: nobody would sign any more."""
    closing = asyncio.create_task(handle.result())
    leaving = asyncio.create_task(process.wait())
    await asyncio.wait({closing, leaving}, return_when=asyncio.FIRST_COMPLETED)
    if leaving.done() and leaving.result() != 0:
        closing.cancel()
        raise RuntimeError(f"whoever asks and signs ended with {leaving.result()}")
    leaving.cancel()
    return await closing


def _asking(course: Course, running: Stack, spec: CampaignSpec) -> Asking:
    return Asking(
        address=running.address,
        namespace=running.namespace,
        campaign=spec.name,
        archive=running.archive,
        authority=str(running.places.authority),
        pause_every=course.pause_every,
        gather=int(course.gather * course.zones),
        signed_first=course.signed_first,
        held_for=course.held_for,
        hurry=running.control.url if course.held_for else None,
    )


async def until_served(client: Client) -> None:
    """Return once a worker is there. Raises RuntimeError."""
    if not await serving.until_served(client):
        raise RuntimeError(f"no worker came within {serving.SERVED_WITHIN:g} s")
