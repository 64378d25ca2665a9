"""One scene with a worker that is killed once, on any path of any area; what was sent, and what was begun."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from temporalio.client import Client

from tests.faults_kit import Stage, staged
from tests.faults_worker import Kill, Moment, Order, supervised

AT_ONCE = 4
"""Scenes that are played side by side: most of the time they wait for time-outs."""

LONGEST = 240.0
"""Seconds that a scene may take on a busy machine; alone it takes about ten, and a time-out or two."""

ASIDE = frozenset({"describe_zones"})
"""What is begun by the clock, and so not at the same place each time."""

Changes = list[tuple[str, str]]


async def _nothing(stage: Stage) -> None:
    """Nothing beside the campaign."""


@dataclass(frozen=True)
class Course:
    """A path through an area.

    ``activities``: what the workers do when nobody dies, in order, but for the regular sweeps. ``changes``:
    what the service is sent, whoever dies. ``outcome``: where the one zone, or account, ends. ``absent``:
    rules that the path has no case of. ``meanwhile``: what else goes on; ``holds``: what is so at the end.
    """

    zones: tuple[dict[str, Any], ...]
    terms: dict[str, Any]
    activities: tuple[str, ...]
    changes: Changes
    outcome: str
    absent: frozenset[int] = frozenset({4, 7})
    meanwhile: Callable[[Stage], Awaitable[None]] = _nothing
    holds: Callable[[Stage], Awaitable[None]] = field(default=_nothing)

    def boundaries(self, moment: Moment) -> list[Kill]:
        """A kill for each activity, but for the first one, which belongs to no zone."""
        found = []
        for place, activity in enumerate(self.activities):
            nth = self.activities[: place + 1].count(activity)
            if activity != "resolve_targets":
                found.append(Kill(activity, nth, moment))
        return found


def order_of(
    stage: Stage, address: str, folder: Path, kills: Sequence[Kill] = (), processes: int = 1
) -> Order:
    """What the workers of a stage need. ``kills``: one for each process in turn."""
    variables = [str(item.token).removeprefix("env:") for item in stage.play.spec.service.credentials]
    if (job := stage.play.spec.log_fields.job) is not None:
        variables.append(job.destination.removeprefix("env:"))
    worker = stage.play.settings.worker.model_copy(update={"workflow_task_timeout_seconds": 4})
    return Order(
        address=address,
        queue=f"faults-{stage.tag}",
        settings=stage.play.settings.model_copy(update={"worker": worker}),
        environment={name: os.environ[name] for name in variables},
        folder=folder,
        kills=tuple(kills),
        processes=processes,
    )


async def play(
    kill: Kill | None, path: Course, client: Client, address: str, folder: Path
) -> tuple[Changes, list[str]]:
    """One scene on a path with a worker that dies once: what was sent, and which activities were begun."""
    await asyncio.to_thread(folder.mkdir, parents=True)
    async with staged(client, folder, *path.zones, serve=False, **path.terms) as stage:
        order = order_of(stage, address, folder, [kill] if kill else [])
        async with supervised(order) as workers:
            await stage.play.begin()
            await path.meanwhile(stage)
            result = await stage.finish(LONGEST)
            reasons = [(await stage.play.zone(one.zone.name).result()).reason for one in stage.play.targets]
            assert result.outcomes == {path.outcome: 1}, f"{result.outcomes}: {reasons}"
            await path.holds(stage)
            changes = await stage.changes()
            await stage.check(path.absent)
        if kill is None:
            assert not workers.codes
        else:
            assert order.mark(0).exists(), "was never reached"
            assert len(workers.codes) == 1, f"processes ended: {workers.codes}"
        begun = [line.split()[0] for line in order.trace.read_text().splitlines()]
        return changes, [name for name in begun if name not in ASIDE]


async def broken_by(
    kills: Sequence[Kill], path: Course, client: Client, address: str, folder: Path
) -> list[str]:
    """Play a scene for each kill, a few at a time: what went otherwise than without it."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(place: int, kill: Kill) -> str:
        async with gate:
            try:
                changes, _ = await play(kill, path, client, address, folder / str(place))
            except AssertionError as broken:
                return f"{kill}: {broken}"
            return "" if changes == path.changes else f"{kill}: {changes}"

    found = await asyncio.gather(*(one(place, kill) for place, kill in enumerate(kills)))
    return [text for text in found if text]
