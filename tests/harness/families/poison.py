"""Poisoned answers: zones whose readings and changes are answered with spoilt bodies, beside equal zones
whose answers are sound; and every call of the client by itself.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.client import WorkflowHandle

from edgeshift.testbed.invariants.digests import body_fingerprint
from tests.harness.campaigns.play import judge
from tests.harness.campaigns.schedules import Area, Schedule, Trouble, ZonePlan, schedule
from tests.harness.cases import Case, World, seeds_of
from tests.harness.poison_bodies import meet
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage

FAMILY = "poison"

CAMPAIGNS: dict[Area, int] = {"waf": 20, "esc": 8, "log-fields": 8}
"""How many campaigns of each area the full run plays."""

ZONES = 60
FEWEST, MOST = 3, 8
"""Spoilt readings of one zone: over all campaigns ten thousand."""

CHUNKS, BODIES = 20, 500
"""Of the bodies that the client alone is given, outside any campaign."""

OVERTAKEN = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
"""Why the server fails a task by which a workflow would end, where a message has come meanwhile."""

SHAPES: dict[Area, tuple[str, ...]] = {
    "waf": ("pro", "business", "bypass", "page", "enterprise", "overrides"),
    "esc": ("plain", "own", "worse"),
    "log-fields": ("bare", "foreign", "jobless", "unseen"),
}


@dataclass(frozen=True)
class Poison(Trouble):
    """Requests that are answered with spoilt bodies: ``times`` of one method, each with a chance."""

    seed: int = 0
    times: int = 1
    method: str = "GET"

    def spec(self, zone: str, limit: float) -> dict[str, Any]:
        """The fault as the simulator takes it; without a zone it is for the list of all zones."""
        match: dict[str, Any] = {"call": self.call} if self.call else {"zone": zone, "method": self.method}
        fault = {"kind": "poisoned", "seed": self.seed, "times": self.times, "match": match}
        return {**fault, "probability": 0.6 if self.method == "GET" else 0.3}


def cases(seed: int) -> list[Case]:
    """Those of the full run."""
    found = [_case(area, one) for area, count in CAMPAIGNS.items() for one in seeds_of(seed, count)]
    return found + [_bodies(one) for one in seeds_of(seed, CHUNKS)]


def case_of(identifier: str) -> Case | None:
    """The case of any seed, such as ``poison/waf/17`` or ``poison/bodies/3``."""
    family, _, rest = identifier.partition("/")
    named, _, seed = rest.partition("/")
    if family != FAMILY or not seed.isdecimal():
        return None
    if named == "bodies":
        return _bodies(int(seed))
    area = next((one for one in CAMPAIGNS if one == named), None)
    return _case(area, int(seed)) if area is not None else None


def _case(area: Area, seed: int) -> Case:
    return Case(f"{FAMILY}/{area}/{seed}", FAMILY, ZONES, partial(_play, area, seed))


def _bodies(seed: int) -> Case:
    return Case(f"{FAMILY}/bodies/{seed}", FAMILY, 0, partial(_meet, seed))


async def _meet(seed: int, world: World) -> Verdict:
    met = await meet(seed, BODIES, world.folder)
    faults = {f"poisoned:{name}": count for name, count in sorted(met.bodies.items())}
    return Verdict(complaints=met.complaints, faults=faults)


async def _play(area: Area, seed: int, world: World) -> Verdict:
    verdict = await judge(spoilt(area, seed), world, expected=partial(_expected, area))
    # A mutation's name has the place in the body too: the kind is enough for a table.
    faults: dict[str, int] = defaultdict(int)
    for name, count in verdict.faults.items():
        faults[name.replace(":after", "").split("@")[0].split("+")[0]] += count
    return verdict.model_copy(update={"faults": dict(sorted(faults.items()))})


def spoilt(area: Area, seed: int) -> Schedule:
    """The schedule of a seed. The first zone of each shape has sound answers alone."""
    chance = random.Random(f"{FAMILY}/{area}/{seed}")
    plain = schedule(seed, area, 0, kills=0)
    return replace(
        plain,
        zones=tuple(_zone(chance, area, number) for number in range(ZONES)),
        processes=1,
        manners=("prompt",),
        expires=False,
        beside=(),
        consents=True,
        modes=("shadow",),
    )


def _zone(chance: random.Random, area: Area, number: int) -> ZonePlan:
    shapes = SHAPES[area]
    shape = shapes[number % len(shapes)]
    if number < len(shapes):
        listed = Poison("zones.list", "", 1, chance.randrange(10**6), 3)
        return ZonePlan(f"{shape}-sound", shape, (listed,) if number == 0 else ())
    troubles = [Poison("", "", 1, chance.randrange(10**6), chance.randint(FEWEST, MOST))]
    troubles += [
        Poison("", "", 1, chance.randrange(10**6), 1, method) for method in ("PUT", "POST", "DELETE")
    ]
    return ZonePlan(f"{shape}-{number}", shape, tuple(troubles))


async def _expected(area: Area, stage: Stage) -> list[str]:
    """What is sent is what was sent for the sound zone of the shape; nobody's workflow stumbles."""
    return [*await _other_bodies(area, stage), *await _stumbles(stage)]


async def _other_bodies(area: Area, stage: Stage) -> list[str]:
    seen = await stage.play.checkers()
    shapes: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for short in stage.names:
        shape, _, which = short.rpartition("-")
        zone, name = stage.id(short), stage.name(short)
        for request in await stage.play.journal(zone=name):
            if request["method"] not in ("PUT", "POST", "DELETE") or request["call"] == "graphql":
                continue
            digest = request["body_digest"] or ""
            body = seen.proposals.get(digest)
            said = body_fingerprint(body, zone, name) if body is not None else digest
            asked = (request["esc"] or {}).get("asked")
            # Rules of log fields carry a mark of their own: what became of them is another oracle's to say.
            what = said if area == "waf" and request["call"] == "entrypoint.put" else str(asked or "")
            sent = f"{request['call']} {request['query'].split('&')[0]} {what}"
            shapes[shape]["sound" if which == "sound" else short].add(sent)
    # A change may be taken back where it did not show in time, and a ruleset or a job be written once more.
    taken_back = ("esc.delete", "rulesets.put", "logpush.jobs.update")
    return [
        f"{short} was sent what no zone of its shape with sound answers was: {sent}"
        for by_zone in shapes.values()
        for short, all_sent in by_zone.items()
        for sent in sorted(all_sent - by_zone.get("sound", set()))
        if not sent.startswith(taken_back)
    ]


async def _stumbles(stage: Stage) -> list[str]:
    """Workflow tasks that failed by an error in them, in any history of the campaign."""
    handles: list[WorkflowHandle[Any, Any]] = [stage.play.campaign]
    handles += [stage.play.zone(target.zone.name) for target in stage.play.targets]
    gate = asyncio.Semaphore(8)

    async def one(handle: WorkflowHandle[Any, Any]) -> list[str]:
        async with gate:
            return [
                f"{handle.id}: a workflow task failed (event {event.event_id})"
                async for event in handle.fetch_history_events()
                if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
                and event.workflow_task_failed_event_attributes.cause != OVERTAKEN
            ]

    return [text for found in await asyncio.gather(*map(one, handles)) for text in found]
