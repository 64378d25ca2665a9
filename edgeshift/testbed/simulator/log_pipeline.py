"""From an exchange at the edge to an object at a log job's destination, in batches (docs/service.md §2.3,
§8)."""

import asyncio
import contextlib
import hashlib
import logging
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from edgeshift.testbed.simulator.clock import Clock, timestamp
from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.edge_exchange import EdgeExchange
from edgeshift.testbed.simulator.log_fields import PHASE, configured
from edgeshift.testbed.simulator.log_jobs import Document, LogJobs
from edgeshift.testbed.simulator.logs.destinations import parsed
from edgeshift.testbed.simulator.logs.entries import Logged, entry
from edgeshift.testbed.simulator.logs.field_names import HTTP_REQUESTS
from edgeshift.testbed.simulator.logs.job_options import of_job
from edgeshift.testbed.simulator.logs.sending import DeliveryError, deliver
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.rulesets import Rulesets
from edgeshift.testbed.simulator.zone_records import Zones

log = logging.getLogger("edgeshift.testbed.simulator")
LOW_FREQUENCY = 10
"""How many times as long a job of low frequency gathers."""
MOST_ATTEMPTS = 5
MOST_QUEUED = 100_000
_LOOK_SECONDS = 0.1


@dataclass
class _Queue:
    """The entries of one job that wait. `since` is when the gathering began."""

    zone: str
    job: int
    since: datetime
    entries: list[tuple[datetime, bytes]] = field(default_factory=list)
    attempts: int = 0
    lost: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class LoggedState(Protocol):
    """What the pipeline reads of the simulator's state; the options may change while it runs."""

    options: SimulatorOptions
    database: Database
    clock: Clock
    zones: Zones
    rulesets: Rulesets
    log_jobs: LogJobs


class LogPipeline:
    """Writes an entry of every exchange for each enabled job of its zone, and pushes them in batches.

    What waits is in memory alone: the death of the process loses it, an orderly end pushes it. A batch that
    cannot be delivered is tried again, five times in all.
    """

    def __init__(self, state: LoggedState) -> None:
        self._state = state
        self._queues: dict[int, _Queue] = {}
        self._woken = asyncio.Event()

    @property
    def buckets(self) -> Path:
        """The folder of the buckets."""
        return self._state.options.buckets or self._state.database.folder / "buckets"

    def record(self, exchange: EdgeExchange) -> None:
        """Queue what the jobs of the exchange's zone log of it, with the custom fields of this moment."""
        state = self._state
        record = state.zones.get(exchange.zone_id)
        jobs = [one for one in state.log_jobs.of_zone(exchange.zone_id) if _pushes(one)]
        if record is None or not jobs:
            return
        custom = configured(state.rulesets.of_phase(exchange.zone_id, PHASE), state.options.log_fields)
        logged = Logged(exchange, record.zone.name, custom)
        for job in jobs:
            options = of_job(job, HTTP_REQUESTS, state.options.facts)
            if not _sampled(exchange.ray, options.sample_rate):
                continue
            queue = self._queue(exchange.zone_id, job["id"])
            if len(queue.entries) >= MOST_QUEUED:
                queue.lost += 1
                continue
            line = entry(logged, options, state.options.log_fields, state.options.facts)
            queue.entries.append((exchange.at, line))
            self._woken.set()

    def standing(self) -> list[dict[str, Any]]:
        """A line for each job that has pushed or is to push: entries that wait, attempts that failed, entries
        lost."""
        return [
            {
                "job": one.job,
                "zone": one.zone,
                "queued": len(one.entries),
                "failed_attempts": one.attempts,
                "lost": one.lost,
            }
            for one in self._queues.values()
        ]

    async def run(self) -> None:
        """Push batches as they become due, until cancelled."""
        while True:
            await self._woken.wait()
            try:
                await self.push_due()
            except Exception:
                log.exception("pushing log entries failed in the simulator itself")
            if any(queue.entries for queue in self._queues.values()):
                await asyncio.sleep(_LOOK_SECONDS)
            else:
                self._woken.clear()

    async def push_due(self) -> int:
        """Push the batches that are due; how many entries were delivered."""
        return sum(await asyncio.gather(*(self._push(one, False) for one in list(self._queues.values()))))

    async def flush(self) -> int:
        """Push everything that waits; how many entries were delivered."""
        return sum(await asyncio.gather(*(self._push(one, True) for one in list(self._queues.values()))))

    async def close(self, seconds: float) -> None:
        """Push everything that waits, as far as it can be done in so many seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), seconds)

    def _queue(self, zone: str, job: int) -> _Queue:
        now = self._state.clock.now()
        queue = self._queues.setdefault(job, _Queue(zone, job, now))
        if not queue.entries:
            queue.since = now
        return queue

    async def _push(self, queue: _Queue, everything: bool) -> int:
        delivered = 0
        async with queue.lock:
            while queue.entries:
                job = self._state.log_jobs.get(queue.zone, queue.job)
                if job is None:
                    queue.entries.clear()
                    break
                if not everything and not self._due(queue, job):
                    break
                batch = queue.entries[: self._state.options.log_batch_entries]
                if not await self._delivered(queue, job, batch):
                    break
                del queue.entries[: len(batch)]
                delivered += len(batch)
                queue.since = self._state.clock.now()
        return delivered

    def _due(self, queue: _Queue, job: Document) -> bool:
        options = self._state.options
        seconds = options.log_batch_seconds * (LOW_FREQUENCY if job["frequency"] == "low" else 1)
        waited = self._state.clock.now() - queue.since
        full = len(queue.entries) >= options.log_batch_entries and not queue.attempts
        return full or waited >= self._state.clock.lasting(seconds)

    async def _delivered(self, queue: _Queue, job: Document, batch: list[tuple[datetime, bytes]]) -> bool:
        """Whether the batch reached its destination; the job says so or says why not."""
        first, last = min(at for at, _ in batch), max(at for at, _ in batch)
        try:
            await deliver(
                self.buckets,
                parsed(job["destination_conf"]),
                day=first.astimezone(UTC).strftime("%Y%m%d"),
                name=f"{_moment(first)}_{_moment(last)}_{secrets.token_hex(4)}",
                lines=b"".join(line for _, line in batch),
                compressed=self._state.options.log_gzip,
                at=self._state.clock.now(),
            )
        except DeliveryError as error:
            self._note(queue, {"last_error": self._now(), "error_message": str(error)})
            queue.attempts += 1
            queue.since = self._state.clock.now()
            if queue.attempts >= MOST_ATTEMPTS:
                queue.lost += len(batch)
                queue.attempts = 0
                del queue.entries[: len(batch)]
            return False
        queue.attempts = 0
        self._note(queue, {"last_complete": self._now(), "last_error": None, "error_message": None})
        return True

    def _note(self, queue: _Queue, patch: Document) -> None:
        with self._state.database.transaction():
            self._state.log_jobs.change(queue.zone, queue.job, patch)

    def _now(self) -> str:
        return timestamp(self._state.clock.now().replace(microsecond=0)).replace(".000000Z", "Z")


def _pushes(job: Document) -> bool:
    return bool(job["enabled"]) and job["dataset"] == HTTP_REQUESTS


def _sampled(ray: str, rate: float) -> bool:
    part = int.from_bytes(hashlib.sha256(ray.encode()).digest()[:4], "big") / 2**32
    return part < rate


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
