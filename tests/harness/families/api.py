"""Each fault of the service at each call of each area, once: no zone is lost by it, and nothing is sent again
but where the fault allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from tests.harness.campaigns.play import judge
from tests.harness.campaigns.schedules import Area, Schedule, Trouble, ZonePlan
from tests.harness.campaigns.service_faults import FAULTS, NEEDLESS, PROVED
from tests.harness.cases import Case, World
from tests.harness.oracles.judging import ending_of
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage

FAMILY = "api"

Place = tuple[str, str, int]
"""A zone's shape, the call that goes wrong for it, and the how manieth of its kind."""

PLACES: dict[Area, tuple[Place, ...]] = {
    "waf": (
        *(("pro", call, 1) for call in ("waf.status", "firewall.rules.list", "pagerules.list")),
        *(("pro", call, 1) for call in ("waf.packages.list", "waf.overrides.list", "settings.waf.get")),
        ("pro", "waf.check", 1),
        ("bypass", "waf.rules.list", 1),
        *(("pro", call, nth) for call in ("waf.config", "entrypoint.get") for nth in (1, 2)),
        *(("pro", call, nth) for call in ("waf.groups.list", "waf.status") for nth in (1, 2)),
        *(("enterprise", call, nth) for call in ("waf.status", "waf.config") for nth in (1, 2, 3)),
        *(("enterprise", call, 1) for call in ("waf.check", "zones.get", "zones.list")),
        *(("enterprise", "pagerules.list", nth) for nth in (1, 2, 3)),
        *(("enterprise", "graphql", nth) for nth in (1, 2)),
        ("pro", "entrypoint.put", 1),
        ("enterprise", "entrypoint.put", 1),
        ("enterprise", "entrypoint.put", 2),
        ("overrides", "waf.overrides.delete", 1),
        ("overrides", "waf.overrides.list", 2),
        ("overrides", "entrypoint.put", 1),
    ),
    "esc": (
        *(("own", "esc.get", nth) for nth in range(1, 7)),
        *(("plain", "esc.get", nth) for nth in range(1, 10)),
        ("plain", "esc.set", 1),
        ("plain", "esc.set", 2),
        ("own", "esc.set", 1),
        ("worse", "esc.delete", 1),
        ("worse", "esc.get", 9),
        ("plain", "zones.list", 1),
    ),
    "log-fields": (
        *(("foreign", "rulesets.list", nth) for nth in (1, 2, 3)),
        *(("foreign", "rulesets.get", nth) for nth in (1, 2, 3)),
        *(("foreign", "logpush.jobs.list", nth) for nth in (1, 2, 3)),
        *(("foreign", "logpush.jobs.get", nth) for nth in (1, 2)),
        ("foreign", "rulesets.put", 1),
        ("foreign", "logpush.jobs.update", 1),
        ("bare", "rulesets.create", 1),
        ("bare", "rulesets.put", 1),
        ("jobless", "logpush.ownership", 1),
        ("jobless", "logpush.ownership.validate", 1),
        ("jobless", "logpush.jobs.create", 1),
        ("unseen", "rulesets.put", 2),
        ("unseen", "logpush.jobs.update", 2),
        ("unseen", "rulesets.versions.get", 1),
        ("bare", "zones.list", 1),
    ),
}
"""Where each fault strikes, each time for a zone of its own."""

OF_NO_ZONE = frozenset({"zones.list", "graphql"})
"""Calls whose address names no zone."""

READINGS = ("check", "config", "status", "get", "list", "validate")

ENDS: dict[Area, dict[str, tuple[str, ...]]] = {
    "waf": {shape: ("migrated",) for shape in ("pro", "bypass", "enterprise", "overrides")},
    "esc": {"own": ("settled",), "plain": ("settled",), "worse": ("rolled_back",)},
    "log-fields": {
        "foreign": ("settled", "rolled_back"),
        "bare": ("settled", "rolled_back"),
        "jobless": ("settled", "rolled_back"),
        "unseen": ("rolled_back",),
    },
}
"""Where a zone of each shape ends, whatever the fault. Of fields and jobs, a change may be taken back."""


def cases() -> list[Case]:
    """Each fault in each area."""
    return [
        Case(f"{FAMILY}/{area}/{fault}", FAMILY, len(places), partial(_play, area, fault))
        for area, places in PLACES.items()
        for fault in FAULTS
    ]


async def _play(area: Area, fault: str, world: World) -> Verdict:
    return await judge(everywhere(area, fault), world, expected=partial(_expected, area, fault))


def everywhere(area: Area, fault: str) -> Schedule:
    """A campaign in which the fault strikes once at each place."""
    zones = [
        ZonePlan(_name(number, place), place[0], (_trouble(place, fault),))
        for number, place in enumerate(PLACES[area])
    ]
    delays = {
        "waf": {"migration_seconds": 0.1, "validation_seconds": 0.0, "visibility_seconds": 0.02},
        "esc": {"esc_effect_seconds": 0.0},
        "log-fields": {},
    }[area]
    return Schedule(0, area, tuple(zones), (), delays)


@dataclass(frozen=True)
class OfNoZone(Trouble):
    """A fault at a call that is made for no zone in particular."""

    def spec(self, zone: str, limit: float) -> dict[str, Any]:
        """The fault as the simulator takes it, of whichever zone."""
        spec = super().spec(zone, limit)
        del spec["match"]["zone"]
        return spec


def _trouble(place: Place, fault: str) -> Trouble:
    kind = OfNoZone if place[1] in OF_NO_ZONE else Trouble
    return kind(place[1], fault, place[2])


def _name(number: int, place: Place) -> str:
    return f"{place[0]}-{place[1].replace('.', '-')}-{place[2]}-{number}"


async def _expected(area: Area, fault: str, stage: Stage) -> list[str]:
    complaints = []
    for number, place in enumerate(PLACES[area]):
        name = _name(number, place)
        ending = await ending_of(stage, name)
        wanted: Iterable[str] = ENDS[area][place[0]]
        if area == "log-fields" and place[0] == "bare" and place[1].endswith(READINGS):
            wanted = ("settled",)
        if ending.outcome not in wanted:
            complaints.append(ending.complaint(f"it is to end as {' or '.join(wanted)}"))
        if area == "waf":
            complaints += await _sent_as_often_as_right(stage, name, place, fault)
    unmet = [item["match"] for item in await stage.unfired()]
    return [*complaints, *(f"nobody met the fault at {where}" for where in unmet)]


async def _sent_as_often_as_right(stage: Stage, name: str, place: Place, fault: str) -> list[str]:
    """One effective commit; another request only where the fault of the first allows it, and when it does."""
    commits = await stage.play.commits(stage.name(name))
    met = place[1] == "entrypoint.put" and (place[0], place[2]) != ("enterprise", 1)
    again = met and fault in PROVED + NEEDLESS
    found = []
    if len(commits) != 1 + again or sum(entry["effect"] != "none" for entry in commits) != 1:
        found.append(f"{name}: {len(commits)} commits were sent")
    elif again and fault in NEEDLESS:
        first, second = (datetime.fromisoformat(entry["time"]) for entry in commits)
        if second - first < stage.play.spec.scaled().commit.migration_limit:
            found.append(f"{name}: sent again before a migration's time had passed")
    return found
