"""One campaign with something done beside it: played to its end, and judged."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from edgeshift.witness import RuleCheck, check_rules
from tests.faults_kit import Stage, staged
from tests.faults_worker import supervised
from tests.harness.campaigns import keep_open_histories
from tests.harness.cases import World
from tests.harness.disturbances import Acting
from tests.harness.disturbances.ways import REQUEST_LIMIT, Way
from tests.harness.kills import order_of
from tests.harness.oracles import OPEN
from tests.harness.switches import Switches
from tests.harness.verdict import Verdict

LONGEST = 240.0

Act = Callable[[Acting], Awaitable[None]]


@dataclass(frozen=True)
class Beside:
    """What is done beside a campaign. ``first``: before anybody signs anything, rather than meanwhile;
    ``whole``: to its own end, also where the campaign ends before. ``happens``: what must have happened, of
    what ``act`` counts. ``outcomes``: where zones may end beside where their way leads.
    """

    act: Act
    happens: tuple[str, ...]
    zones: int = 2
    processes: int = 2
    first: bool = False
    whole: bool = False
    outcomes: frozenset[str] = frozenset()
    absent: frozenset[int] = frozenset()
    terms: dict[str, Any] = field(default_factory=dict)
    simulator: dict[str, Any] = field(default_factory=dict)
    faults: tuple[dict[str, Any], ...] = ()
    begins: bool = True
    oracle: Callable[[Stage], Awaitable[Sequence[str]]] | None = None


async def play_beside(seed: str, way: Way, beside: Beside, world: World, server: Any = None) -> Verdict:
    """Play it; ``seed`` is the case's id."""
    told: Counter[str] = Counter()
    names = [f"z{number}" for number in range(beside.zones)]
    terms = {**way.terms, **beside.terms}
    async with staged(
        world.client,
        world.folder,
        *map(way.zone, names),
        serve=False,
        simulator={**way.simulator, **beside.simulator},
        request_limit=REQUEST_LIMIT,
        window=40,
        **terms,
    ) as stage:
        if beside.faults:
            await stage.play.control.send("POST", "faults", list(beside.faults))
        order = order_of(stage, world.address, world.folder, processes=beside.processes)
        async with supervised(order) as processes:
            acting = Acting(
                stage, random.Random(seed), order, processes, server, lambda kind: told.update([kind])
            )
            if beside.begins:
                await stage.play.begin()
            people = asyncio.create_task(way.people(stage))
            try:
                if beside.first:
                    await beside.act(acting)
                    await stage.finish(LONGEST)
                else:
                    await _side_by_side(beside.act(acting), stage, whole=beside.whole)
            except BaseException:
                await keep_open_histories(stage.play.client, world.folder)
                raise
            finally:
                people.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await people
        switches = Switches(order.folder)
        told.update(
            {what: number for what in ("archive-slow", "archive-down") if (number := switches.count(what))}
        )
        if processes.codes:
            told["worker death"] += len(processes.codes)
        return await _judged(stage, way, beside, told)


async def _side_by_side(acting: Awaitable[None], stage: Stage, *, whole: bool) -> None:
    """Both to their end; what is done beside is cancelled once the campaign is over, unless it is to be
    ``whole``.
    """
    beside = asyncio.ensure_future(acting)
    try:
        finishing = asyncio.ensure_future(stage.finish(LONGEST))
        await asyncio.wait({beside, finishing}, return_when=asyncio.FIRST_COMPLETED)
        if beside.done() and beside.exception() is not None:
            finishing.cancel()
        await finishing
        if whole:
            await beside
    finally:
        beside.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beside


async def _judged(stage: Stage, way: Way, beside: Beside, told: Counter[str]) -> Verdict:
    endings = {}
    for short in stage.names:
        try:
            result = await asyncio.wait_for(stage.play.zone(stage.name(short)).result(), 10)
            endings[short] = (result.outcome.value, result.reason)
        except Exception as gone:
            endings[short] = ("none", f"{type(gone).__name__}: {gone}")
    checks = check_rules(await stage.play.witnesses(), absent=way.absent | beside.absent)
    broken = [text for check in checks for text in _said(check)]
    for short, (outcome, reason) in endings.items():
        if outcome not in way.done | beside.outcomes:
            broken.append(f"{short} ended as {outcome} ({reason[:160]})")
        elif outcome in OPEN and not reason:
            broken.append(f"{short} ended as {outcome}, and nobody is told why")
    broken += [f"{what} did not happen" for what in beside.happens if not told[what]]
    if beside.oracle is not None:
        broken += await beside.oracle(stage)
    violations = {check.rule: len(check.violations) for check in checks}
    return Verdict(
        zone_schedules=len(stage.names),
        unsigned_commits=violations[1],
        double_commits=violations[2],
        lost_zones=violations[11],
        outcomes=dict(Counter(outcome for outcome, _ in endings.values())),
        not_final=[
            f"{short}: {outcome}, {reason}" for short, (outcome, reason) in endings.items() if outcome in OPEN
        ],
        complaints=broken,
        faults=dict(told),
    )


def _said(check: RuleCheck) -> list[str]:
    return [f"rule {check.rule} ({check.title}): {text}" for text in check.violations]
