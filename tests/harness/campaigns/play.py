"""Plays the campaign of a schedule against the real thing, and lets the oracles judge each zone."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio.client import Client

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from tests.harness.campaigns.authority import roster_in
from tests.harness.campaigns.fleet_zones import MENDED, fleet_zone, terms_of
from tests.harness.campaigns.own_server import own_server
from tests.harness.campaigns.people import People
from tests.harness.campaigns.schedules import Limit, Schedule, ZonePlan
from tests.harness.campaigns.service_faults import FAULTS, as_met
from tests.harness.campaigns.stages import over
from tests.harness.cases import World
from tests.harness.disturbances import DISTURBANCES, Acting, Disturbance
from tests.harness.kills.scene import order_of
from tests.harness.oracles.judging import STRANGERS, WANTED_FIELDS, scene_verdict, shown, verdict_of
from tests.harness.oracles.reversible import OPEN
from tests.harness.verdict import Verdict
from tests.kit import SCALE, STRANGER
from tests.kit.faults import Stage, staged
from tests.kit.faults_worker import Order, supervised

MOST_LEFT = 0.25
"""The share of zones that may fail or stay unknown where nothing is done that people have to fix."""

HISTORIES = "histories"
"""The folder of a case in which it leaves the histories of its workflows, where there is a complaint."""

REQUEST_LIMIT_SECONDS = 4.0
MINUTE = "240h"
"""A minute as it passes, so that no reading is given up because a busy machine was slow."""

MINUTES = "1200h"
"""Five of them, where each call waits for its turn behind those of many zones."""


Expected = Callable[[Stage], Awaitable[list[str]]]
"""What more a campaign is to come to: complaints where it did not."""

Tuned = Callable[[Order], Order]
"""The same order for the worker processes, with other settings."""


async def judge(
    schedule: Schedule,
    world: World,
    within: float = 780,
    expected: Expected | None = None,
    *,
    also: Sequence[Disturbance] = (),
    tuned: Tuned = lambda order: order,
) -> Verdict:
    """Play the schedule's campaign to its end, and judge every zone of it. ``also``: what else is done beside
    it, from its start on.
    """
    beside = [(DISTURBANCES[one.name], one.after) for one in schedule.beside] + [(one, 0.0) for one in also]
    chosen = [one for one, _ in beside]
    told: Counter[str] = Counter()
    async with AsyncExitStack() as running:
        client, address, folder = world.client, world.address, world.folder
        server = None
        if any(one.own_server for one in chosen):
            server = await running.enter_async_context(own_server(folder / "temporal"))
            client, address = await connect(TemporalSettings(address=server.address)), server.address
        stage = await running.enter_async_context(_set(schedule, client, folder, chosen))
        if schedule.limit is not None:
            _limited(stage, schedule.limit)
        before = await shown(stage)
        await _book(stage, schedule)
        order = tuned(
            order_of(stage, address, folder, schedule.kills, schedule.processes, paced=schedule.paced)
        )
        async with supervised(order) as processes, _visited(stage, schedule):
            await stage.play.begin()
            chance = random.Random(f"{schedule.area}/{schedule.seed}/beside")
            acting = Acting(stage, chance, order, processes, server, lambda kind: told.update([kind]))
            try:
                async with _beside(beside, acting):
                    await _people(stage, schedule).until_closed(within)
            except BaseException:
                await keep_histories(stage.play.client, folder / HISTORIES)
                raise
        told["worker death"] += len(processes.codes)
        judging = (
            scene_verdict(stage, told) if schedule.account else verdict_of(stage, schedule, before, told)
        )
        verdict = await judging
        more = await expected(stage) if expected else []
        if not any(one.leaves_people_work for one in chosen):
            more += _too_many(verdict)
        if verdict.complaints or more:
            await keep_histories(stage.play.client, folder / HISTORIES)
        return verdict.model_copy(update={"complaints": [*verdict.complaints, *more]})


def _too_many(verdict: Verdict) -> list[str]:
    """A campaign that leaves most of its zones with people is safe, and of no use."""
    left = sum(verdict.outcomes.get(outcome, 0) for outcome in OPEN)
    if left <= MOST_LEFT * verdict.zone_schedules:
        return []
    return [f"{left} of {verdict.zone_schedules} zones ended as failed or unknown: {verdict.not_final[:3]}"]


def _set(
    schedule: Schedule, client: Client, folder: Path, chosen: list[Disturbance]
) -> contextlib.AbstractAsyncContextManager[Stage]:
    """The stage of the campaign, before it begins."""
    terms = terms_of(schedule)
    if schedule.account:
        terms = over(terms, esc={"scope": "account"})
    for one in chosen:
        terms |= {key: {**terms.get(key, {}), **value} for key, value in one.terms.items()}
    options: dict[str, Any] = {key: seconds * SCALE for key, seconds in schedule.delays.items()}
    if schedule.limit is not None:
        options["rate_limit"] = {
            "requests": schedule.limit.requests,
            "window_seconds": schedule.limit.seconds * SCALE,
            "block_seconds": schedule.limit.seconds * SCALE,
        }
    if schedule.area == "waf":
        options["support"] = {"at": schedule.support_at}
    if schedule.area == "esc":
        options["esc"] = {"both_configured": schedule.shows}
    zones = [_late(fleet_zone(plan), plan) for plan in schedule.zones]
    return staged(
        client,
        folder,
        *zones,
        serve=False,
        authority=roster_in(f"{schedule.area}/{schedule.seed}"),
        simulator=options,
        request_limit=f"{REQUEST_LIMIT_SECONDS:g}s",
        patience=MINUTES if schedule.limit else MINUTE,
        window=schedule.window,
        **terms,
    )


def _limited(stage: Stage, limit: Limit) -> None:
    """The campaign knows the limit that the service enforces."""
    spec = stage.play.spec.model_dump()
    spec["service"]["rate"] |= {"requests": limit.requests, "per": limit.seconds * SCALE}
    stage.play.spec = type(stage.play.spec).model_validate(spec)


def _late(zone: dict[str, Any], plan: ZonePlan) -> dict[str, Any]:
    if plan.late_seconds is None:
        return zone
    late = {"visibility_seconds": plan.late_seconds * SCALE}
    return {**zone, "migration": {**zone.get("migration", {}), **late}}


def _people(stage: Stage, schedule: Schedule) -> People:
    fixed = [plan.name for plan in schedule.zones if plan.shape in MENDED]
    return People(stage, f"{schedule.area}/{schedule.seed}", schedule.manners, fixed)


async def _book(stage: Stage, schedule: Schedule) -> None:
    """Everything that is to go wrong at the service."""
    faults = [
        trouble.spec(stage.id(plan.name), REQUEST_LIMIT_SECONDS)
        for plan in schedule.zones
        for trouble in plan.troubles
    ]
    faults += _random_faults(schedule)
    if faults:
        await stage.play.control.send("POST", "faults", faults)
    for plan in schedule.zones:
        if plan.stranger:
            await stage.play.stranger(stage.name(plan.name), [STRANGER], when=plan.stranger, how="append")


def _random_faults(schedule: Schedule) -> list[dict[str, Any]]:
    """A share of all readings goes wrong, each kind of fault as often as another."""
    if not schedule.random_faults:
        return []
    each = schedule.random_faults / len(FAULTS)
    return [
        {
            **as_met(fault, REQUEST_LIMIT_SECONDS),
            "match": {"method": "GET"},
            "probability": each,
            "seed": schedule.seed * 100 + place,
        }
        for place, fault in enumerate(FAULTS)
    ]


@asynccontextmanager
async def _beside(beside: Sequence[tuple[Disturbance, float]], acting: Acting) -> AsyncIterator[None]:
    """What is done beside the campaign, until it ends; raises what went wrong with it."""

    async def act(one: Disturbance, after: float) -> None:
        await asyncio.sleep(after)
        acting.told(one.name)
        await one.act(acting)

    tasks = [asyncio.create_task(act(one, after)) for one, after in beside]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for one in ended:
        if isinstance(one, Exception):
            raise one


def _visited(stage: Stage, schedule: Schedule) -> contextlib.AbstractAsyncContextManager[None]:
    """Visitors come to the zones whose entries are to be seen."""
    seen = [stage.name(plan.name) for plan in schedule.zones if plan.shape != "unseen"]
    if schedule.area != "log-fields" or not seen:
        return contextlib.nullcontext()
    return stage.play.visited(*seen, count=4, every=1)


async def keep_histories(client: Client, folder: Path) -> None:
    """Write the history of every workflow of the scene into a folder; ``client``: the scene's own."""
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    async for found in client.list_workflows(""):
        history = await client.get_workflow_handle(found.id, run_id=found.run_id).fetch_history()
        kept = folder / f"{found.id.replace('/', '-')}-{found.run_id}.json"
        await asyncio.to_thread(kept.write_text, history.to_json())


__all__ = ["HISTORIES", "STRANGER", "STRANGERS", "WANTED_FIELDS", "judge", "keep_histories", "shown"]
