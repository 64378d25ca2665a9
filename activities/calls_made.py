"""What a worker counts of the calls that its targets cost, and records in the archive, so that later plans
forecast by what happened (docs/calls.md).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog
from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from edgeshift.messages import Announce, ReportKind, ZoneStart
from edgeshift.model.fleet import Area, Plan, ZoneOutcome
from edgeshift.service_api.made import counting
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.archive_keys import is_key
from edgeshift.stores.documents import CallsMade, TargetCalls, calls_folder, create_record

log = structlog.get_logger("edgeshift.worker")

PAUSE = 30.0
"""Seconds between two records of a campaign, at least."""

GROWTH = 0.05
"""The pause grows with the time for which a campaign is counted, so that a long one has some 200 records."""

AT_THE_END = 10.0
"""Seconds that a worker which ends waits for the archive."""


@dataclass
class Campaign:
    """One campaign. ``since``: when its counting began; ``recorded``: when it was last recorded. By target,
    what is not recorded yet: its calls, its plan, how it ended.
    """

    since: float
    recorded: float
    calls: dict[str, int] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    ended: dict[str, ZoneOutcome] = field(default_factory=dict)

    def due(self, now: float) -> bool:
        """Whether there is something to record, and it is time."""
        pause = max(PAUSE, GROWTH * (now - self.since))
        return bool(self.calls or self.ended) and now >= self.recorded + pause


class Counts:
    """What one worker has counted, by folder of the archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._campaigns: dict[str, Campaign] = {}
        self._number = 0

    def made(self, start: ZoneStart, target: str, calls: int) -> None:
        """So many calls were made for the target."""
        if not calls:
            return
        found = self._of(start.area, start.campaign, start.campaign_run)
        found.calls[target] = found.calls.get(target, 0) + calls
        found.plans[target] = start.target.zone.plan

    def ended(self, area: Area, word: Announce, target: str, outcome: ZoneOutcome) -> None:
        """The target has told its campaign how it ended."""
        self._of(area, word.campaign, word.report.campaign_run).ended[target] = outcome

    def _of(self, area: Area, campaign: str, run: str) -> Campaign:
        now = time.monotonic()
        folder = calls_folder(area, campaign.rpartition("/")[2], run)
        if not is_key(folder):
            # By a message of anybody's: where nothing can be recorded, nothing is kept of it.
            return Campaign(now, now)
        return self._campaigns.setdefault(folder, Campaign(now, now))

    async def record(self, *, all_of_it: bool = False) -> None:
        """Record what is due, or everything. Raises ArchiveError; what was not recorded stays counted."""
        now = time.monotonic()
        for folder, found in list(self._campaigns.items()):
            if not (found.calls or found.ended) or not (all_of_it or found.due(now)):
                continue
            calls, plans, ended = found.calls, found.plans, found.ended
            found.calls, found.plans, found.ended = {}, {}, {}
            self._number += 1
            moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
            try:
                await create_record(
                    self._archive,
                    f"{folder}/{moment}-{self._number}",
                    CallsMade(
                        zones={one: TargetCalls(calls=many, plan=plans[one]) for one, many in calls.items()},
                        ended=ended,
                    ),
                )
            except BaseException:
                for one, many in calls.items():
                    found.calls[one] = found.calls.get(one, 0) + many
                found.plans = plans | found.plans
                found.ended = ended | found.ended
                raise
            found.recorded = now

    @asynccontextmanager
    async def recorded(self) -> AsyncIterator[None]:
        """Record from time to time for as long as the block runs, and what is left at its end."""
        recording = asyncio.create_task(self._keep_recording())
        try:
            yield
        finally:
            recording.cancel()
            try:
                async with asyncio.timeout(AT_THE_END):
                    await self.record(all_of_it=True)
            except (ArchiveError, TimeoutError) as why:
                log.warning("the last counts of calls could not be recorded", reason=str(why))

    async def _keep_recording(self) -> None:
        while True:
            await asyncio.sleep(PAUSE / 3)
            try:
                await self.record()
            except ArchiveError as why:
                log.warning("counts of calls could not be recorded", reason=str(why))


class CountsCalls(Interceptor):
    """Counts what the activities of targets call."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Count around each activity."""
        return _Counted(next, self._counts)


class _Counted(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, counts: Counts) -> None:
        super().__init__(next)
        self._counts = counts

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        message = input.args[0] if input.args else None
        start = message if isinstance(message, ZoneStart) else getattr(message, "start", None)
        target = activity.info().workflow_id or ""
        if isinstance(start, ZoneStart):
            with counting() as made:
                try:
                    return await super().execute_activity(input)
                finally:
                    self._counts.made(start, target, made.calls)
        found = await super().execute_activity(input)
        if isinstance(message, Announce) and message.report.kind is ReportKind.FINISHED:
            # The name of a target's workflow ends with its area (edgeshift/model/fleet.py).
            area, outcome = target.rpartition("/")[2], message.report.outcome
            if area in list(Area) and outcome is not None:
                self._counts.ended(Area(area), message, target, outcome)
        return found
