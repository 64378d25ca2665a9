"""One scene with a worker that is killed once, on any path of any area; what was sent, and what was begun."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.model.fleet import CLAIMS, ZoneOutcome
from tests.harness.campaigns.stages import PATIENCE, signed_stage
from tests.harness.cases import World
from tests.harness.oracles.judging import scene_verdict
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage
from tests.kit.faults_worker import Kill, Moment, Order, supervised

LONGEST = 240.0
"""Seconds that a scene may take on a busy machine; alone it takes about ten, and a time-out or two."""

ASIDE = frozenset({"describe_zones", "holder_is_there", "give_up_change"})
"""What is begun by the clock, and so not at the same place each time; and what proves that a worker was too
late for a change, which is made anew.
"""

Changes = list[tuple[str, str]]


async def _nothing(stage: Stage) -> None:
    """Nothing beside the campaign."""


async def _as_it_is(stage: Stage) -> list[str]:
    """Nothing more is asked."""
    return []


@dataclass(frozen=True)
class Course:
    """A path through an area.

    ``activities``: what the workers do when nobody dies, in order, but for the regular sweeps. ``changes``:
    what the service is sent, whoever dies. ``outcome``: where the one zone, or account, ends. ``meanwhile``:
    what else goes on; ``holds``: complaints where something is not so at the end.
    """

    zones: tuple[dict[str, Any], ...]
    terms: dict[str, Any]
    activities: tuple[str, ...]
    changes: Changes
    outcome: str
    meanwhile: Callable[[Stage], Awaitable[None]] = _nothing
    holds: Callable[[Stage], Awaitable[list[str]]] = field(default=_as_it_is)

    @property
    def whole(self) -> tuple[str, ...]:
        """These activities, and the one that compares the outcome before the campaign closes."""
        compared = ("compare_outcomes",) if ZoneOutcome(self.outcome) in CLAIMS else ()
        return (*self.activities, *compared)

    def boundaries(self, moment: Moment) -> list[Kill]:
        """A kill for each activity, but for the first one, which belongs to no zone."""
        found = []
        for place, activity in enumerate(self.whole):
            nth = self.whole[: place + 1].count(activity)
            if activity != "resolve_targets":
                found.append(Kill(activity, nth, moment))
        return found


def _answered(changes: Changes) -> Changes:
    """What was sent, but for rollbacks that are sent again until one is answered."""
    return [
        change
        for place, change in enumerate(changes)
        if change[0] != "esc.delete" or changes[place + 1 : place + 2] != [change]
    ]


def _in_order(activities: Sequence[str]) -> list[str]:
    """What was begun, in the paths' order: a decision is recorded while zones are told of it, so that either
    may begin first.
    """
    found = list(activities)
    for place in range(len(found) - 1):
        if found[place : place + 2] == ["tell_zones", "record_rulings"]:
            found[place : place + 2] = ["record_rulings", "tell_zones"]
    return found


def _once(activities: Sequence[str]) -> list[str]:
    """What was begun, but for what was tried again at once, as a busy machine may: one activity, or those of
    a workflow task that came too late.
    """
    kept: list[str] = []
    for name in activities:
        kept.append(name)
        for size in range(1, len(kept) // 2 + 1):
            if kept[-size:] == kept[-2 * size : -size]:
                del kept[-size:]
                break
    return kept


def order_of(
    stage: Stage,
    address: str,
    folder: Path,
    kills: Sequence[Kill] = (),
    processes: int = 1,
    *,
    paced: bool = False,
) -> Order:
    """What the workers of a stage need. ``kills``: one for each process in turn. ``paced``: whether they
    share the user's limit, and what is known of a service that is held, by its quota, as in production.
    """
    variables = [str(item.token).removeprefix("env:") for item in stage.play.spec.service.credentials]
    if (job := stage.play.spec.section(LogFieldsSpec).job) is not None:
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
        paced=paced,
    )


async def play(kill: Kill | None, path: Course, world: World) -> Verdict:
    """One scene on a path with a worker that dies once: its outcome and what it sends are the path's."""
    async with signed_stage(
        world.client, world.folder, *path.zones, serve=False, **{"patience": PATIENCE, **path.terms}
    ) as stage:
        order = order_of(stage, world.address, world.folder, [kill] if kill else [])
        async with supervised(order) as workers:
            await stage.play.begin()
            await path.meanwhile(stage)
            result = await stage.finish(LONGEST)
        broken = []
        if result.outcomes != {path.outcome: 1}:
            broken.append(f"it is to end as {path.outcome}, and ended as {result.outcomes}")
        changes = await stage.changes()
        if _answered(changes) != path.changes:
            broken.append(f"it is to send {path.changes}, and sent {changes}")
        begun = [line.split()[0] for line in order.trace.read_text().splitlines()]
        done = [name for name in begun if name not in ASIDE]
        if kill is None and _once(_in_order(done)) != _once(path.whole):
            broken.append(f"it is to go through {path.whole}, and went through {done}")
        if len(workers.codes) != (kill is not None):
            broken.append(f"{kill}: processes ended with {workers.codes}")
        broken += await path.holds(stage)
        return await scene_verdict(stage, {"worker death": len(workers.codes)}, broken)
