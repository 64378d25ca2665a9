"""Many more zones at work than the rate limit serves: the service enforces a limit, the window holds nobody
up, and the one worker process, by whose quota every call waits for its turn, is killed and started again.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import replace
from functools import partial

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.testbed.invariants.pace import busiest
from edgeshift.testbed.invariants.service import load_journal, load_rate_limit
from tests.harness.campaigns.people import NOBODY_ANSWERS
from tests.harness.campaigns.play import judge
from tests.harness.campaigns.schedules import Limit, Schedule, ZonePlan, schedule
from tests.harness.cases import Case, World, seeds_of
from tests.harness.disturbances import Acting, Disturbance
from tests.harness.disturbances.stops import pause_while
from tests.harness.verdict import Verdict
from tests.kit import Looks
from tests.kit.faults import Stage
from tests.kit.faults_worker import MOMENTS, Kill

FAMILY = "crowded"

ZONES = (60, 70, 80)
"""Of the cases that the full run plays, in turn."""

WINDOW = 400

LIMIT = Limit(240, 10.0)
"""Twenty-four calls a second, of which people keep a tenth. All zones together ask for far more at once."""

BUSY = 0.75
"""The part of the limit that the busiest ten seconds use at the least; else nobody has had to wait."""

MIGRATION_SECONDS = (1.0, 2.5, 4.0)
"""Real seconds until a migration takes effect; they are read back by calls that wait for their turn too."""

SHAPES = {"pro": 5, "business": 2, "bypass": 2, "enterprise": 1}
"""What zones are like, each as often as it is drawn. All of them can be migrated."""

MANNERS = ("prompt", "prompt", "late", "twice")

PAUSED_SECONDS = (4.0, 10.0)
CROWD = (3, 6)
"""Zones that have their permits, and wait for turns, when somebody pauses the campaign. There are no more at
a time: a change that has begun has its turns before all others.
"""


def cases(seed: int) -> list[Case]:
    """Those of the full run."""
    return list(map(_case, seeds_of(seed, len(ZONES)), ZONES))


def case_of(identifier: str) -> Case | None:
    """The case of any seed, such as ``crowded/1001/60``."""
    family, _, rest = identifier.partition("/")
    seed, _, zones = rest.partition("/")
    if family != FAMILY or not (seed.isdecimal() and zones.isdecimal()):
        return None
    return _case(int(seed), int(zones))


def _case(seed: int, zones: int) -> Case:
    return Case(f"{FAMILY}/{seed}/{zones}", FAMILY, zones, partial(_play, seed, zones))


def crowd(seed: int, zones: int) -> Schedule:
    """The schedule of a seed: nothing goes wrong but that the worker dies, while it reads, while changes are
    sent, and while they are looked at.
    """
    chance = random.Random(f"{FAMILY}/{seed}")
    shapes = chance.choices(tuple(SHAPES), weights=tuple(SHAPES.values()), k=zones)
    return replace(
        schedule(seed, "waf", 0, kills=0),
        zones=tuple(ZonePlan(f"{shape}-{number}", shape, ()) for number, shape in enumerate(shapes)),
        kills=(
            Kill("prepare_waf_zone", chance.randint(2, zones // 2), chance.choice(MOMENTS)),
            Kill("change_zone", chance.randint(2, zones // 4), chance.choice(MOMENTS)),
            Kill("verify_waf_zone", chance.randint(2, zones // 6), chance.choice(MOMENTS)),
        ),
        delays={
            "migration_seconds": chance.choice(MIGRATION_SECONDS),
            "validation_seconds": 0.5,
            "visibility_seconds": 0.02,
        },
        processes=1,
        manners=MANNERS,
        expires=False,
        consents=True,
        modes=("shadow",),
        paced=True,
        window=WINDOW,
        limit=LIMIT,
    )


async def _play(seed: int, zones: int, world: World) -> Verdict:
    chosen = crowd(seed, zones)
    # A change is looked for as long as its reading may have to wait for a turn.
    terms: dict[str, dict[str, object]] = {"commit": {"migration_limit": "60s"}}
    pause = Disturbance("pause in the crowd", _pause, terms=terms)
    return await judge(chosen, world, expected=partial(_crowded, chosen), also=[pause])


async def _pause(acting: Acting) -> None:
    """Once some have their permits and not their turns; people go on signing, and nothing is sent."""
    least = acting.chance.randint(*CROWD)
    seconds = acting.chance.uniform(*PAUSED_SECONDS)
    looks = Looks(0.3)
    while True:
        with suppress(*NOBODY_ANSWERS):
            places = (await acting.stage.play.summary()).places
            if places.get("permitted", 0) >= least:
                break
        await looks.pause()
    if await pause_while(acting, partial(asyncio.sleep, seconds)):
        acting.told("paused in the crowd")


async def _crowded(chosen: Schedule, stage: Stage) -> list[str]:
    """Every zone is migrated, and there was the crowd that the case is about: the limit was used up, the
    campaign was paused, and every worker died that was to.
    """
    folder = stage.play.folder
    there = await asyncio.to_thread(
        lambda: [(folder / f"killed-{place}").exists() for place in range(len(chosen.kills))]
    )
    found = [f"no worker died {kill}" for kill, died in zip(chosen.kills, there, strict=True) if not died]
    if not any(stop.resumed_at for stop in stage.play.stops):
        found.append("the campaign was not paused and resumed while some had their permits")
    result = await stage.play.result()
    if result.outcomes != {ZoneOutcome.MIGRATED.value: len(chosen.zones)}:
        found.append(f"every zone is to be migrated, and they ended as {result.outcomes}")
    journal = await load_journal(stage.play.control, stage.play.strangers)
    ours = [request for request in journal if request.user is not None]
    most, _ = busiest(ours, LIMIT.seconds)
    enforced = await load_rate_limit(stage.play.control)
    if (enforced.requests, enforced.window.total_seconds()) != (LIMIT.requests, LIMIT.seconds):
        found.append(f"the service is to enforce {LIMIT}, and enforces {enforced}")
    if most < BUSY * LIMIT.requests:
        found.append(f"at most {most} calls in {LIMIT.seconds:g} s, of {LIMIT.requests}: nobody had to wait")
    return found
