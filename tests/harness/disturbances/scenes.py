"""One campaign with something done beside it: played to its end, and judged."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tests.harness.campaigns.authority import roster_in
from tests.harness.campaigns.people import People
from tests.harness.campaigns.play import HISTORIES, keep_histories
from tests.harness.campaigns.schedules import Area, Schedule, ZonePlan, paced_in
from tests.harness.campaigns.stages import PATIENCE, TURNS, over
from tests.harness.cases import World
from tests.harness.disturbances import Acting
from tests.harness.disturbances.signals import stuck
from tests.harness.disturbances.ways import REQUEST_LIMIT, Way
from tests.harness.kills.scene import order_of
from tests.harness.oracles.judging import Shown, ending_of, shown, verdict_of
from tests.harness.switches import Switches
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage, staged
from tests.kit.faults_worker import supervised

LONGEST = 240.0

PATIENT = {"expires_after": "90d", "valid_for": "90d"}
"""Nothing expires while a busy machine is slow."""

WIDE = 40
"""A window that holds nobody up."""

SHAPES = {"shared": "foreign", "unseen": "foreign"}
"""What the oracles call the zones of a way."""

Act = Callable[[Acting], Awaitable[None]]


@dataclass(frozen=True)
class Beside:
    """What is done beside a campaign. ``armed``: a place at which a process stops, from before the campaign
    begins; ``first``: before anybody signs anything, rather than meanwhile; ``whole``: to its own end, also
    where the campaign ends before. ``happens``: what must have happened, of what ``act`` counts.
    ``outcomes``: where zones may end beside where their way leads. ``window``: zones that may be in flight at
    a time; 0: as the case's id says, all or about half of them.
    """

    act: Act
    happens: tuple[str, ...]
    zones: int = 2
    processes: int = 2
    armed: str = ""
    first: bool = False
    whole: bool = False
    outcomes: frozenset[str] = frozenset()
    window: int = 0
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
    terms["sign_off"] = {**PATIENT, **terms.get("sign_off", {})}
    if paced := paced_in(seed):
        terms = over(terms, commit=TURNS)
    async with staged(
        world.client,
        world.folder,
        *map(way.zone, names),
        serve=False,
        authority=roster_in(seed),
        simulator={**way.simulator, **beside.simulator},
        request_limit=REQUEST_LIMIT,
        patience=PATIENCE,
        window=beside.window or _window(seed, beside.zones),
        **terms,
    ) as stage:
        if beside.faults:
            await stage.play.control.send("POST", "faults", list(beside.faults))
        order = order_of(stage, world.address, world.folder, processes=beside.processes, paced=paced)
        async with supervised(order) as processes:
            acting = Acting(
                stage, random.Random(seed), order, processes, server, lambda kind: told.update([kind])
            )
            before = await shown(stage)
            if beside.armed:
                Switches(order.folder).arm(beside.armed)
            if beside.begins:
                await stage.play.begin()
            try:
                if beside.first:
                    await beside.act(acting)
                    await _to_the_end(stage, way, seed)
                else:
                    finishing = _to_the_end(stage, way, seed)
                    await _side_by_side(beside.act(acting), finishing, whole=beside.whole)
            except BaseException:
                await keep_histories(stage.play.client, world.folder / HISTORIES)
                raise
        switches = Switches(order.folder)
        told.update(
            {what: number for what in ("archive-slow", "archive-down") if (number := switches.count(what))}
        )
        if processes.codes:
            told["worker death"] += len(processes.codes)
        verdict = await _judged(stage, way, beside, before, told)
        if verdict.complaints:
            await keep_histories(stage.play.client, world.folder / HISTORIES)
        return verdict


def _window(seed: str, zones: int) -> int:
    """Half of the cases have zones that wait for one another. Two of three or more go on together, as those
    that a disturbance brings to a phase have to.
    """
    return random.Random(f"{seed}/window").choice((WIDE, (zones + 1) // 2))


async def _to_the_end(stage: Stage, way: Way, seed: str) -> None:
    """Sign and fix whatever waits, until the campaign and all its zones have closed."""
    support = asyncio.create_task(way.people(stage))
    try:
        await People(stage, seed, ("prompt",), ()).until_closed(LONGEST)
    finally:
        support.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await support


async def _side_by_side(acting: Awaitable[None], campaign: Awaitable[object], *, whole: bool) -> None:
    """Both to their end; what is done beside is cancelled once the campaign is over, unless it is to be
    ``whole``.
    """
    beside = asyncio.ensure_future(acting)
    try:
        finishing = asyncio.ensure_future(campaign)
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


async def _judged(stage: Stage, way: Way, beside: Beside, before: Shown, told: Counter[str]) -> Verdict:
    area = cast(Area, way.area)
    plans = tuple(ZonePlan(short, SHAPES.get(way.name, "plain"), ()) for short in stage.names)
    verdict = await verdict_of(stage, Schedule(0, area, plans, (), {}), before, told)
    complaints = list(verdict.complaints)
    for short in stage.names:
        ending = await ending_of(stage, short)
        if ending.outcome not in way.done | beside.outcomes:
            complaints.append(ending.complaint("its way leads elsewhere"))
    complaints += [f"{what} did not happen" for what in beside.happens if not told[what]]
    complaints += await stuck(stage)
    if beside.oracle is not None:
        complaints += await beside.oracle(stage)
    return verdict.model_copy(update={"complaints": complaints})
