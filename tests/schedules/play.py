"""A schedule played: its campaign to its end while its steps are done, then every history replayed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from tests.harness.campaigns.play import HISTORIES, judge, keep_histories
from tests.harness.cases import Case, World
from tests.harness.disturbances import Acting, Disturbance
from tests.harness.disturbances.signals import APPROVERS
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage
from tests.kit.faults_worker import Order
from tests.schedules.doing import do, look_for_stuck
from tests.schedules.plans import Plan, plan
from tests.schedules.replaying import Replayed, replayed, replayed_from

FAMILY = "schedule"
PLAIN = "plain"
WITHIN = 300.0
"""Seconds that a campaign may take on a busy machine; alone it takes ten to thirty."""


class Record(BaseModel):
    """What came of a schedule. ``stuck``: workflows that an alarm would have named meanwhile."""

    seed: int
    plain: bool
    told: str
    steps: list[str]
    done: dict[str, int] = {}
    replayed: Replayed = Replayed()
    stuck: list[str] = []
    outcomes: dict[str, int] = {}
    complaints: list[str] = []
    seconds: float = 0.0


def record_of(folder: Path) -> Path:
    """Where the record of a schedule is that was played in this folder."""
    return folder.with_name(f"{folder.name}.record.json")


def case(seed: int, *, plain: bool = False) -> Case:
    """The schedule of a seed. ``plain``: with workers as the SDK has them."""
    identifier = f"{FAMILY}/{seed}" + f"/{PLAIN}" * plain
    zones = len(plan(seed).campaign.zones)
    return Case(identifier, FAMILY, zones, partial(_play, seed, plain), within=2 * WITHIN)


def case_of(identifier: str) -> Case | None:
    """The case of any seed, such as ``schedule/17`` or ``schedule/17/plain``."""
    family, seed, how = (*identifier.split("/"), "", "")[:3]
    if family != FAMILY or not seed.isdecimal() or how not in ("", PLAIN):
        return None
    return case(int(seed), plain=how == PLAIN)


async def _play(seed: int, plain: bool, world: World) -> Verdict:
    chosen = plan(seed)
    record = Record(seed=seed, plain=plain, told=chosen.told, steps=[str(step) for step in chosen.steps])
    stuck: set[str] = set()

    async def act(acting: Acting) -> None:
        looking = asyncio.create_task(look_for_stuck(acting, stuck))
        try:
            await do(chosen, acting)
            await looking
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def replay(stage: Stage) -> list[str]:
        record.replayed = await replayed(stage.play.client, stuck)
        if record.replayed.divergences:
            # Beside the folder, which goes where there is no complaint.
            await keep_histories(
                stage.play.client, world.folder.with_name(f"{world.folder.name}.{HISTORIES}")
            )
        return []

    beside = Disturbance(FAMILY, act, leaves_people_work=True, terms={"sign_off": APPROVERS})
    began = asyncio.get_running_loop().time()
    try:
        verdict = await judge(
            chosen.campaign, world, WITHIN, replay, also=[beside], tuned=partial(_tuned, chosen, plain)
        )
        record.done, record.outcomes = verdict.faults, verdict.outcomes
        record.complaints = [*verdict.complaints, *unaccepted(record.replayed, verdict)]
        return verdict.model_copy(update={"complaints": record.complaints})
    except Exception as error:
        record.complaints.append(f"{type(error).__name__}: {error}"[:2000])
        record.replayed = await replayed_from(world.folder / HISTORIES, stuck)
        raise
    finally:
        record.stuck = sorted(stuck)
        record.seconds = round(asyncio.get_running_loop().time() - began, 1)
        record_of(world.folder).write_text(record.model_dump_json(indent=1) + "\n")


def unaccepted(found: Replayed, verdict: Verdict) -> list[str]:
    """Divergences that nobody was told of: a workflow that was not seen to be stuck, and has not ended as all
    the checkers would have it.
    """
    return [
        f"{one.workflow} {one.run} does not replay, and nobody was told: {one.why}"
        for one in found.divergences
        if not one.alarmed and not (one.closed and not verdict.complaints)
    ]


def _tuned(chosen: Plan, plain: bool, order: Order) -> Order:
    sizes = {
        f"{queue}_{what}": size
        for queue in ("control", "zones")
        for what, size in (("cached", chosen.cached), ("workflow_tasks", chosen.tasks))
    }
    worker = order.settings.worker.model_copy(update=sizes)
    return replace(order, settings=order.settings.model_copy(update={"worker": worker}), plain=plain)
