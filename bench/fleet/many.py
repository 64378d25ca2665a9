"""One campaign over 100,000 zones: listed, waved, all waiting, signed by fingerprint, swept, a part migrated.

Its stack is durable, and each stage's figures are kept: a measurement that was ended goes on where it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from bench.fleet import figures
from bench.fleet.asking import AWAITING, PATIENCE, beat
from bench.fleet.campaign import Course, Say, options_of, spec_of, until_served
from bench.fleet.growing import Growing
from bench.fleet.growing import series as grown
from bench.fleet.histories import campaign_histories, last_tasks
from bench.fleet.usage import usage_of_workers
from bench.fleet.zones import fleet_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import AssessmentStart, PlanReport, Step
from edgeshift.model.fleet import ZoneOutcome, assessment_id, campaign_id, zone_migration_id
from edgeshift.model.sign_off import Choice
from edgeshift.operations import (
    Frozen,
    OperationError,
    Refused,
    frozen_targets,
    pause,
    planned,
    resume,
    sign_fingerprints,
    start_campaign,
    store_spec,
    summary,
)
from edgeshift.operations.campaigns import describe
from edgeshift.operations.pen import Pen
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import get_document
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.stack import Stack, stack

BLOCK = 1_000
"""Fingerprints of one update."""

EXPIRES_AFTER = "14d"
"""As in a usual campaign; it is divided by the time scale."""

STAGES = "stages.json"
ENDED = frozenset(outcome.value for outcome in ZoneOutcome)

Stage = Callable[[], Awaitable[dict[str, Any]]]


class Many(BaseModel):
    """What is measured. ``settled``: zones that were migrated long ago, so that each wave may begin while all
    others still wait. ``terminated``: workflows that somebody ends, which the sweep has to find within
    ``sweep_within`` seconds. ``migrated``: after how many migrations it ends.
    """

    name: str
    zones: int = 100_000
    fingerprints: int = 2_000
    waves: int = 10
    workers: int = 1
    settled: int = 10
    approvers: tuple[str, ...] = ("ada", "grace", "edith")
    reason: int = 500
    terminated: int = 20
    sweep_within: float = 1_800.0
    migrated: int = 10_000

    @property
    def course(self) -> Course:
        """The service and the campaign: no limit binds, a migration shows at once. A window of ``auto`` would
        grow to thousands then, which have no place in a state of the size that is judged.
        """
        return Course(
            name=self.name, zones=self.zones, limited=False, migration=0.0, enterprise=0, window=400
        )


async def measured_many(many: Many, folder: Path, code: str, say: Say) -> dict[str, Any]:
    """Measure, in a folder that is kept until all stages are through. ``code``: the digest of the code that
    the folder is about. Raises RuntimeError, OperationError.
    """
    fleet = _folder(many, folder, code)
    scale = many.course.scale
    async with stack(
        folder / "stack", fleet=fleet, time_scale=scale, workers=many.workers, say=say
    ) as running:
        await running.control.send("PUT", "options", options_of(many.course))
        settings = TemporalSettings(address=running.address, namespace=running.namespace)
        client = await connect(settings, identity="bench")
        await until_served(client)
        found = await _Scene(many, running, client, folder / STAGES, say).play()
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _folder(many: Many, folder: Path, code: str) -> Fleet | None:
    """Make the folder ready: begun again where it is about another code or course. The fleet, where there is
    none yet.
    """
    mark, wanted = folder / "code", f"{code} {many.model_dump_json()}"
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        mark.write_text(wanted)
    if (folder / "stack" / "fleet.json").exists():
        return None
    return fleet_of(many.zones, fingerprints=many.fingerprints, settled=many.settled)


async def plan_on(client: Client, archive: Archive, spec: CampaignSpec) -> None:
    """Plan, or wait for the plan that runs already: one whose measurement was ended goes on where it was.
    (``assess`` cancels it with its caller, and begins again where one runs.) Raises WorkflowFailureError.
    """
    digest = await store_spec(archive, spec)
    handle = await client.start_workflow(
        "Assessment",
        AssessmentStart(name=spec.name, spec=digest),
        id=assessment_id(spec.name),
        task_queue=Queue.CONTROL,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        memo={"spec": digest},
    )
    await handle.result()


class _Scene:
    """The stages, one after the other. What is told of one that was ended and went on (``went_on``) is about
    its last part alone.
    """

    def __init__(self, many: Many, running: Stack, client: Client, stages: Path, say: Say) -> None:
        self._many, self._running, self._client, self._say = many, running, client, say
        self._stages, self._begun = stages, stages.with_name("begun")
        self._archive = Archive(running.archive)
        self._keyring = running.keyring
        base = spec_of(many.course, running).model_dump(mode="json", exclude_defaults=True)
        waves = [{"zones": -(-many.zones // many.waves)}] * many.waves
        approvers = {"approvers": many.approvers, "required": len(many.approvers)}
        advance = {"percent": 0.001, "failures": many.zones}
        # What is carried has a waiting time for each zone, in steps that follow from this.
        sign_off = {**base["sign_off"], **approvers, "expires_after": EXPIRES_AFTER}
        more = {"waves": waves, "advance": advance, "sign_off": sign_off}
        self._spec = CampaignSpec.model_validate({**base, **more})
        self._usage = usage_of_workers(running.workers)
        self._growing = Growing(client, campaign_id(self._spec.name))

    async def play(self) -> dict[str, Any]:
        """Every stage that was not played before; all figures."""
        found: dict[str, Any] = json.loads(self._stages.read_text()) if self._stages.exists() else {}
        stages: dict[str, Stage] = {
            "listed": self._plan,
            "waiting": self._wait,
            "signed": self._sign,
            "sweep": self._sweep,
            "migrated": self._migrate,
        }
        for name, stage in stages.items():
            if name not in found:
                self._say(f"{self._many.name}: {name} …")
                went_on = self._begun.exists() and self._begun.read_text() == name
                self._begun.write_text(name)
                async with self._looking():
                    began = time.perf_counter()
                    figures_of = await stage()
                    figures_of["seconds"] = round(time.perf_counter() - began, 1)
                found[name] = {**figures_of, **self._used(), "went_on": went_on}
                self._stages.write_text(json.dumps(found, indent=1))
                self._say(f"{self._many.name}: {name}: {found[name]['seconds']:g} s")
        return {
            "zones": self._many.zones,
            "course": self._many.model_dump(),
            **found,
            **await self._ends(found),
        }

    async def _ends(self, found: dict[str, Any]) -> dict[str, Any]:
        workflow = campaign_id(self._spec.name)
        tasks = await last_tasks(self._client, workflow)
        return {
            **await campaign_histories(self._client, workflow),
            **figures.of_last_tasks(tasks),
            "refused": found["signed"]["refused"],
            "double_commits": await self._double_commits(),
            "worker_rss_mb": max(
                found[name]["rss_mb"] for name in ("waiting", "signed", "sweep", "migrated")
            ),
            "worker_cpu_per_zone": found["migrated"]["cpu_per_zone"],
        }

    def _pen(self, by: str) -> Pen:
        """Who signs with the key of a person."""
        return Pen(self._keyring.signer(by), self._archive, by)

    async def _plan(self) -> dict[str, Any]:
        """List, read and start."""
        frozen = await self._frozen()
        if frozen is None:
            await plan_on(self._client, self._archive, self._spec)
            frozen = await self._frozen()
        if await describe(self._client, campaign_id(self._spec.name)) is None:
            await start_campaign(
                self._client, self._archive, self._spec, by="olga", frozen=frozen, pen=self._pen("olga")
            )
        return {"waves": len(frozen.waves) if frozen else None}

    async def _frozen(self) -> Frozen | None:
        return await planned(self._client, self._spec, await store_spec(self._archive, self._spec))

    async def _wait(self) -> dict[str, Any]:
        """Until every zone waits but those that were migrated long ago."""
        wanted = self._many.zones - self._many.settled
        asked = await self._until(lambda places: sum(places.get(place, 0) for place in AWAITING) >= wanted)
        return {"waiting": wanted, "status_p99_seconds": figures.percentile(asked, 0.99)}

    async def _sign(self) -> dict[str, Any]:
        """Every fingerprint by every approver, while the campaign is paused. What is judged is how soon the
        campaign answers; the signature lies in the archive before, with a record of each fingerprint.
        """
        name = self._spec.name
        await pause(self._client, name, by="olga", reason="measured", pen=self._pen("olga"))
        seconds: list[float] = []
        statements: list[float] = []
        refused = 0
        reason = ("Read, compared with the settings of today, and agreed. " * 10)[: self._many.reason]
        prints = await self._fingerprints()
        spec = await store_spec(self._archive, self._spec)
        for person in self._many.approvers:
            for first in range(0, len(prints), BLOCK):
                some = prints[first : first + BLOCK]
                try:
                    began = time.perf_counter()
                    await self._pen(person).fingerprints(
                        name, spec, Choice.APPROVE, step=Step.COMMIT, fingerprints=some, reason=reason
                    )
                    signed = time.perf_counter()
                    await sign_fingerprints(
                        self._client, name, some, Choice.APPROVE, by=person, reason=reason
                    )
                    statements.append(round(signed - began, 3))
                    seconds.append(round(time.perf_counter() - signed, 3))
                except OperationError as error:
                    refused += 1
                    self._say(f"{self._many.name}: {person} was refused: {error}")
        return {
            "fingerprints": len(prints),
            "approvers": len(self._many.approvers),
            "refused": refused,
            "sign_off_seconds": seconds,
            "sign_off_most_seconds": max(seconds, default=None),
            "statement_seconds": statements,
            "statement_most_seconds": max(statements, default=None),
        }

    async def _fingerprints(self) -> list[str]:
        handle = self._client.get_workflow_handle(assessment_id(self._spec.name))
        result = await handle.result()
        report = await get_document(self._archive, PlanReport, result["report"])
        return sorted({line.fingerprint for line in report.zones if line.fingerprint})

    async def _sweep(self) -> dict[str, Any]:
        """How soon the campaign sees that somebody has ended workflows of its zones."""
        listed = await summary(self._client, self._spec.name)
        targets = await frozen_targets(self._archive, listed.targets)
        step = len(targets) // self._many.terminated
        for target in targets[step // 2 :: step][: self._many.terminated]:
            handle = self._client.get_workflow_handle(zone_migration_id(target.zone.id, self._spec.area))
            # Where the stage is played again, it has been ended before.
            with contextlib.suppress(RPCError):
                await handle.terminate("measured")
        # Nobody has signed to the end yet: no other zone has ended.
        before = self._many.settled
        wanted = before + self._many.terminated
        began = time.perf_counter()
        last = before
        while last < wanted and time.perf_counter() - began < self._many.sweep_within:
            await asyncio.sleep(2.0)
            last = _ended((await summary(self._client, self._spec.name)).places)
        return {
            "terminated": self._many.terminated,
            "found_share": round((last - before) / self._many.terminated, 3),
            "found_within_seconds": round(time.perf_counter() - began, 1) if last >= wanted else None,
        }

    async def _migrate(self) -> dict[str, Any]:
        """Until so many zones are migrated; then it is paused."""
        name = self._spec.name
        before = (await summary(self._client, name)).places.get("migrated", 0)
        used = self._usage.look().cpu
        began = time.perf_counter()
        await resume(self._client, name, by="olga", reason="measured", pen=self._pen("olga"))
        asked = await self._until(lambda places: places.get("migrated", 0) >= self._many.migrated)
        took = time.perf_counter() - began
        stopping = time.perf_counter()
        # A small one may be over by then.
        with contextlib.suppress(Refused):
            await pause(self._client, name, by="olga", reason="measured", pen=self._pen("olga"))
        stopped = time.perf_counter() - stopping
        after = (await summary(self._client, name)).places.get("migrated", 0)
        zones = max(1, after - before)
        return {
            "migrated": after,
            "zones_per_second": round(zones / took, 2),
            "cpu_per_zone": round((self._usage.look().cpu - used) / zones, 4),
            "status_p99_seconds": figures.percentile(asked, 0.99),
            "pause_seconds": round(stopped, 2),
        }

    async def _until(self, there: Callable[[dict[str, int]], bool]) -> list[float]:
        """Ask for the campaign's standing until it is there; the seconds of each answer since its question
        was due. One that did not come took as long as anybody waits.
        """
        seconds: list[float] = []
        async for due in beat(2.0):
            try:
                places = (await summary(self._client, self._spec.name)).places
            except OperationError as error:
                self._say(f"{self._many.name}: no answer: {error}")
                seconds.append(max(PATIENCE, time.perf_counter() - due))
                continue
            seconds.append(time.perf_counter() - due)
            if there(places):
                break
        return seconds

    async def _double_commits(self) -> int:
        """Zones with more than one commit that took effect, by the journal."""
        counts: dict[str, int] = {}
        after: int | None = 0
        while after is not None:
            page = await self._running.control.get("journal", after=after, limit=1_000, call="entrypoint.put")
            for entry in page["entries"]:
                if "pending" in entry["query"] and entry["effect"] != "none":
                    counts[entry["zone"]] = counts.get(entry["zone"], 0) + 1
            after = page["next"]
        return sum(number > 1 for number in counts.values())

    @asynccontextmanager
    async def _looking(self) -> AsyncIterator[None]:
        """Look at what the workers use, and how the campaign grows, as long as a stage lasts."""
        self._usage.seen.clear()
        self._growing.seen.clear()
        looking = [asyncio.create_task(one.work()) for one in (self._usage, self._growing)]
        try:
            yield
        finally:
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)

    def _used(self) -> dict[str, Any]:
        seen = self._usage.seen
        first = seen[0].at if seen else datetime.now(UTC)
        series = [(round((one.at - first).total_seconds(), 1), one.rss_mb) for one in seen]
        return {
            "rss_mb": max((one.rss_mb for one in seen), default=0.0),
            "rss_growth": figures.growth([mb for _, mb in series]),
            "plots": {
                "worker_rss_mb": figures.thinned(series),
                **grown(self._growing.seen, first, datetime.now(UTC)),
            },
        }


def _ended(places: dict[str, int]) -> int:
    return sum(number for place, number in places.items() if place in ENDED)
