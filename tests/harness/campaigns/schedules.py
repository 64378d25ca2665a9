"""Seeded schedules: what goes wrong for which zone at which call, where workers die, and who signs when. Pure
data, so that a failure is told by its seed and played again.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.harness.campaigns.service_faults import FAULTS, as_met
from tests.kit.faults_worker import Kill

Area = Literal["waf", "esc", "log-fields"]

CALLS: dict[Area, dict[str, int]] = {
    "waf": {
        "waf.check": 2,
        "zones.get": 1,
        "waf.config": 3,
        "waf.status": 4,
        "firewall.rules.list": 2,
        "pagerules.list": 3,
        "waf.packages.list": 1,
        "waf.groups.list": 2,
        "waf.overrides.list": 2,
        "waf.overrides.delete": 1,
        "settings.waf.get": 1,
        "entrypoint.get": 3,
        "entrypoint.put": 2,
    },
    "esc": {"esc.get": 9, "esc.set": 2, "esc.delete": 1},
    "log-fields": {
        "rulesets.list": 5,
        "rulesets.get": 5,
        "rulesets.create": 1,
        "rulesets.put": 3,
        "logpush.jobs.list": 5,
        "logpush.jobs.get": 3,
        "logpush.jobs.update": 3,
        "logpush.jobs.create": 1,
        "logpush.ownership": 1,
        "logpush.ownership.validate": 1,
    },
}
"""The calls that can go wrong, each with how often one zone may make it."""

CHANGES: dict[Area, tuple[str, ...]] = {
    "waf": ("entrypoint.put", "entrypoint.put", "waf.overrides.delete"),
    "esc": ("esc.set", "esc.set", "esc.delete"),
    "log-fields": ("rulesets.put", "rulesets.create", "logpush.jobs.update", "logpush.jobs.create"),
}
"""The calls that change something, each as often as it is likely to go wrong first."""

SHAPES: dict[Area, dict[str, int]] = {
    "waf": {
        "pro": 30,
        "business": 10,
        "bypass": 12,
        "page": 6,
        "enterprise": 12,
        "adopted": 4,
        "overrides": 8,
        "already": 4,
        "default": 3,
        "many": 4,
        "long": 5,
        "full": 2,
    },
    "esc": {"plain": 3, "own": 1, "worse": 1, "off": 1},
    "log-fields": {"bare": 1, "foreign": 2, "jobless": 1, "unseen": 2},
}
"""What zones are like when the campaign begins, each as often as it is drawn."""

ACTIVITIES: dict[Area, tuple[str, ...]] = {
    "waf": ("start_zones", "prepare_waf_zone", "tell_zones", "change_zone", "change_zone", "verify_waf_zone"),
    "esc": ("prepare_esc_scope", "change_zone", "probe_esc_scope", "settle_esc_scope", "watch_esc_scope"),
    "log-fields": (
        "prepare_log_fields_zone",
        "change_zone",
        "settle_log_fields_zone",
        "watch_log_fields_zone",
    ),
}
"""Where workers die; whatever else they do at that moment dies with them."""

Shows = Literal["always", "with_secret", "both"]
SHOWS: tuple[Shows, ...] = ("always", "always", "with_secret", "both")
"""What the service shows of a scope of esc that is off and has a secret (docs/service.md §4.1), each as often
as it is drawn.
"""

MANNERS = {"prompt": 70, "late": 12, "twice": 12, "reject": 6}
"""How people sign what comes to wait, each as often as it is drawn."""

MOST_FAULTS = 4
UNTROUBLED = 0.2
"""The share of zones for which nothing goes wrong."""

LATEST_SECONDS = 2.0
"""Real seconds after which an effect of waf is seen at the latest. A second stands for fifteen, of which the
service lets up to thirty pass, so that a campaign's limit of a migration is always longer.
"""

EFFECT_SECONDS = (0.0, 0.1, 0.6)
"""Real seconds until a migration takes effect."""


@dataclass(frozen=True)
class Trouble:
    """One fault: at the ``nth`` request of a call that is made for a zone."""

    call: str
    fault: str
    nth: int

    def spec(self, zone: str, limit: float) -> dict[str, Any]:
        """The fault as the simulator takes it. ``zone``: the zone's identifier; ``limit``: the campaign's
        ``request_limit``, in seconds.
        """
        return {
            **as_met(self.fault, limit),
            "match": {"call": self.call, "zone": zone, "nth": self.nth},
            "times": 1,
        }


@dataclass(frozen=True)
class ZonePlan:
    """One zone: what it is like, what goes wrong for it, and when somebody else writes its rules.
    ``late_seconds``: real seconds from an effect to the reads that show it; None: as the simulator has it.
    """

    name: str
    shape: str
    troubles: tuple[Trouble, ...]
    stranger: Literal["", "before_put", "after_put"] = ""
    late_seconds: float | None = None


@dataclass(frozen=True)
class Beside:
    """A disturbance, by its name, and the seconds after the campaign's start at which it begins."""

    name: str
    after: float


WINDOW = 24
"""Zones that work at a time: more would only keep each other from being answered within the limit."""


@dataclass(frozen=True)
class Limit:
    """What the service takes of one user, and enforces: so many ``requests`` in any ``seconds`` (real ones),
    of which a campaign leaves people their share, as its file has it.
    """

    requests: int
    seconds: float


@dataclass(frozen=True)
class Schedule:
    """One campaign. ``kills``: one for each worker process in turn. ``delays``: options of the simulator, in
    real seconds. ``random_faults``: the share of all calls but those that change something that goes wrong.
    ``manners``: how people sign. ``expires``: whether sign-offs expire, and some people come only after that.
    ``shows``: of esc, what the service shows of a scope that is off. ``paced``: whether the workers share the
    user's limit, as in production. ``account``: of esc, whether the target is the zones' account.
    ``window``: zones that may work at a time. ``limit``: of the calls; None: one that no campaign comes near.
    """

    seed: int
    area: Area
    zones: tuple[ZonePlan, ...]
    kills: tuple[Kill, ...]
    delays: Mapping[str, float]
    processes: int = 1
    beside: tuple[Beside, ...] = ()
    random_faults: float = 0.0
    manners: tuple[str, ...] = ("prompt",)
    expires: bool = False
    consents: bool = True
    modes: tuple[str, ...] = ("shadow",)
    resend_unchanged: int = 1
    support_at: Literal["check", "config", "put"] = "check"
    shows: Shows = "always"
    paced: bool = False
    account: bool = False
    window: int = WINDOW
    limit: Limit | None = None


def schedule(
    seed: int,
    area: Area,
    zones: int,
    kills: int = 3,
    faults: Sequence[str] = tuple(FAULTS),
    disturbances: Sequence[str] = (),
) -> Schedule:
    """The schedule of a seed: the same one each time. ``disturbances``: names to draw from."""
    chance = random.Random(f"{area}/{seed}")
    expires = area == "waf" and chance.random() < 0.25
    return Schedule(
        seed=seed,
        area=area,
        zones=tuple(_zone(chance, area, number, faults) for number in range(zones)),
        kills=tuple(
            Kill(chance.choice(ACTIVITIES[area]), chance.randint(1, max(1, zones // 3)), moment)
            for moment in chance.choices(("before", "after"), k=kills)
        ),
        delays=_delays(chance, area),
        processes=chance.choice((1, 1, 2)),
        beside=_beside(chance, disturbances),
        manners=tuple(_drawn(chance, MANNERS) for _ in range(24)) + (("expired",) * 2 if expires else ()),
        expires=expires,
        consents=chance.random() < 0.8,
        modes=chance.choice((("shadow",), ("shadow",), ("enforce",), ("shadow", "enforce"))),
        support_at=chance.choice(("check", "config", "put")),
        shows=shown_in(f"{area}/{seed}"),
        paced=paced_in(f"{area}/{seed}"),
    )


def shown_in(seed: str) -> Shows:
    """What the service shows in a campaign of esc."""
    return random.Random(f"{seed}/shows").choice(SHOWS)


def paced_in(seed: str) -> bool:
    """Whether a case is one of the eighth whose workers share the user's limit by its quota."""
    return random.Random(f"{seed}/paced").random() < 1 / 8


def _delays(chance: random.Random, area: Area) -> dict[str, float]:
    match area:
        case "waf":
            effect = chance.choice(EFFECT_SECONDS)
            return {"migration_seconds": effect, "validation_seconds": effect / 4, "visibility_seconds": 0.02}
        case "esc":
            return {
                "esc_effect_seconds": chance.choice([0.0, 0.2, 1.0]),
                "esc_visibility_seconds": chance.choice([0.0, 0.3, 1.5]),
            }
    return {}


def _beside(chance: random.Random, names: Sequence[str]) -> tuple[Beside, ...]:
    count = chance.choice((0, 1, 1, 2)) if names else 0
    chosen = chance.sample(sorted(names), min(count, len(names)))
    return tuple(Beside(name, round(chance.uniform(0.5, 8.0), 2)) for name in chosen)


def _drawn(chance: random.Random, often: Mapping[str, int]) -> str:
    return chance.choices(tuple(often), weights=tuple(often.values()))[0]


def _zone(chance: random.Random, area: Area, number: int, faults: Sequence[str]) -> ZonePlan:
    shape = _drawn(chance, SHAPES[area])
    count = 0 if chance.random() < UNTROUBLED else chance.randint(1, MOST_FAULTS)
    troubles: list[Trouble] = []
    for place in range(count):
        first = place == 0 and chance.random() < 0.5
        call = chance.choice(CHANGES[area]) if first else chance.choice(list(CALLS[area]))
        troubles.append(Trouble(call, chance.choice(faults), chance.randint(1, CALLS[area][call])))
    stranger: Literal["", "before_put", "after_put"] = ""
    if area == "log-fields" and chance.random() < 0.2:
        stranger = chance.choice(("before_put", "after_put"))
    late = round(chance.uniform(0, LATEST_SECONDS), 2) if area == "waf" and chance.random() < 0.5 else None
    return ZonePlan(f"{shape}-{number}", shape, tuple(troubles), stranger, late)
