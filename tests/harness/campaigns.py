"""Plays the campaign of a schedule against the real thing, and lets the oracles judge each zone."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client

from tests.faults_kit import Stage, staged
from tests.faults_worker import supervised
from tests.harness.kills import order_of
from tests.harness.oracles import Ending, Logged, esc_complaints, log_complaints, own_secret_complaints
from tests.harness.schedules import Schedule, ZonePlan
from tests.harness.stages import ESC, LISTS, LOG_FIELDS, WANTED, esc_zone, log_zone, over
from tests.harness.verdict import Verdict
from tests.kit import SCALE

STRANGER = {
    "action": "log_custom_field",
    "expression": "true",
    "description": "written in between",
    "action_parameters": {"cookie_fields": [{"name": "Stranger"}]},
}
STRANGERS = (("cookie_fields", "Stranger"),)
WANTED_FIELDS = tuple((kind, name) for kind, names in WANTED.items() for name in names)
WINDOW = 40
AT_ONCE = 8


@dataclass(frozen=True)
class Judged:
    """How a schedule's campaign went. ``fired``: faults that were met; ``deaths``: of workers."""

    schedule: Schedule
    endings: tuple[Ending, ...]
    complaints: tuple[str, ...]
    fired: int
    deaths: int

    @property
    def outcomes(self) -> Counter[str]:
        """How many zones ended how."""
        return Counter(one.outcome for one in self.endings)

    @property
    def verdict(self) -> Verdict:
        """As the harness counts it."""
        return Verdict(
            zone_schedules=len(self.endings),
            outcomes=dict(self.outcomes),
            complaints=list(self.complaints),
            faults={"worker death": self.deaths, "service fault": self.fired},
        )

    def told(self) -> str:
        """In a few lines, with the seed."""
        schedule = self.schedule
        head = (
            f"{schedule.area}, seed {schedule.seed}: {len(self.endings)} zones, {self.fired} faults met,"
            f" {self.deaths} workers killed, {dict(self.outcomes)}"
        )
        return "\n".join([head, *self.complaints])


async def judge(
    schedule: Schedule, client: Client, address: str, folder: Path, within: float = 240
) -> Judged:
    """Play the schedule's campaign to its end, and judge every zone of it."""
    terms = _terms(schedule)
    delays = {key: seconds * SCALE for key, seconds in schedule.delays.items()}
    zones = [_fleet_zone(plan) for plan in schedule.zones]
    async with staged(
        client, folder, *zones, serve=False, simulator=delays, request_limit="2s", window=WINDOW, **terms
    ) as stage:
        before = await shown(stage)
        await _book(stage, schedule)
        order = order_of(stage, address, folder, schedule.kills)
        async with supervised(order) as processes, _visited(stage, schedule):
            await stage.play.begin()
            try:
                await stage.finish(within)
            except BaseException:
                await keep_open_histories(client, folder)
                raise
        endings = [await _ending(stage, plan.name) for plan in schedule.zones]
        after = await shown(stage)
        complaints = [
            text
            for plan, ending in zip(schedule.zones, endings, strict=True)
            for text in await _complaints(stage, plan, ending, before[plan.name], after[plan.name])
        ]
        faults = (await stage.play.control.get("faults"))["faults"]
        await stage.check({3, 4, 7} if schedule.area == "esc" else {4, 7})
        return Judged(
            schedule,
            tuple(endings),
            tuple(complaints),
            sum(one["fired"] for one in faults),
            len(processes.codes),
        )


def _terms(schedule: Schedule) -> dict[str, Any]:
    if schedule.area == "esc":
        # A late secret is waited for, so that the probe sees what it is to see.
        wait = math.ceil((schedule.delays["esc_effect_seconds"] + 1) * SCALE)
        return over(ESC, esc={"secret_takes": f"{wait}s", "observe": f"{3 * wait}s", "every": f"{wait}s"})
    return over(LOG_FIELDS, log_fields={"unverified": "roll_back", "verify": "4s"})


def _fleet_zone(plan: ZonePlan) -> dict[str, Any]:
    match plan.shape:
        case "plain" | "own" | "worse":
            return esc_zone(plan.name, own=plan.shape == "own", worse=plan.shape == "worse")
        case "off":
            made = esc_zone(plan.name)
            return {**made, "esc": {**made["esc"], "always": True}}
        case "bare" | "jobless":
            return log_zone(plan.name, job=plan.shape != "jobless")
    return log_zone(plan.name, foreign=True)


async def _book(stage: Stage, schedule: Schedule) -> None:
    """Everything that is to go wrong at the service."""
    faults = [trouble.spec(stage.id(plan.name)) for plan in schedule.zones for trouble in plan.troubles]
    if faults:
        await stage.play.control.send("POST", "faults", faults)
    for plan in schedule.zones:
        if plan.stranger:
            await stage.play.stranger(stage.name(plan.name), [STRANGER], when=plan.stranger, how="append")


@asynccontextmanager
async def _visited(stage: Stage, schedule: Schedule) -> AsyncIterator[None]:
    """Visitors come to the zones whose entries are to be seen."""
    seen = [stage.name(plan.name) for plan in schedule.zones if plan.shape != "unseen"]

    async def come() -> None:
        turn = 0
        while schedule.area == "log-fields" and seen:
            turn += 1
            await stage.play.traffic(*seen, count=4, seed=turn)
            await asyncio.sleep(1)

    visitors = asyncio.create_task(come())
    try:
        yield
    finally:
        visitors.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await visitors


async def _ending(stage: Stage, name: str) -> Ending:
    result = await stage.play.zone(stage.name(name)).result()
    return Ending(name, result.outcome.value, result.reason)


async def keep_open_histories(client: Client, folder: Path) -> None:
    """Write the history of every workflow that is still open beside the scene, for whoever looks at it."""
    kept = folder / "open"
    kept.mkdir(exist_ok=True)
    async for found in client.list_workflows("ExecutionStatus = 'Running'"):
        history = await client.get_workflow_handle(found.id, run_id=found.run_id).fetch_history()
        await asyncio.to_thread((kept / f"{found.id.replace('/', '-')}.json").write_text, history.to_json())


async def shown(stage: Stage) -> dict[str, dict[str, Any]]:
    """Every zone as the simulator's control API shows it, by its short name."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> tuple[str, dict[str, Any]]:
        async with gate:
            return name, await stage.play.control.get(f"zones/{stage.id(name)}")

    return dict(await asyncio.gather(*(one(name) for name in stage.names)))


async def _complaints(
    stage: Stage, plan: ZonePlan, ending: Ending, before: dict[str, Any], after: dict[str, Any]
) -> list[str]:
    if stage.play.spec.area == "esc":
        edge = await stage.play.oracle(stage.name(plan.name))
        setting = edge["zone"]
        own = plan.shape == "own"
        found = esc_complaints(ending, edge, setting, own_secret=own)
        return found + (own_secret_complaints(ending, setting["history"]) if own else [])
    strangers = STRANGERS if await _came(stage, plan) else ()
    return log_complaints(ending, Logged.of(before), Logged.of(after), WANTED_FIELDS, LISTS, strangers)


async def _came(stage: Stage, plan: ZonePlan) -> bool:
    """Whether the stranger of this zone has written."""
    if not plan.stranger:
        return False
    armed = (await stage.play.control.get("stranger-writes"))["armed"]
    return all(one["zone"] != stage.id(plan.name) for one in armed)
