"""The parts of the measurement of fleets, what each shows, and the goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.fleet import figures
from bench.fleet.campaign import Course
from bench.fleet.many import Many
from bench.fleet.processes import Processes
from bench.fleet.stuck import Stuck

Part = Course | Many | Processes | Stuck
"""Whatever can be measured."""

KEYS = (
    "zones",
    "makespan_ratio",
    "quota_used",
    "own_429",
    "calls_per_zone",
    "answer_p99_seconds",
    "state_bytes",
    "history_events_per_run",
    "worker_rss_mb",
    "worker_cpu_per_zone",
    "lost",
    "rules",
)
"""The figures that are told of a campaign at the limit before all others."""

PACED = Course(name="paced", zones=300, scale=5.0, window=400, pause_every=20.0)
"""The paced part of ``make bench``: minutes. So few zones would be over before a window of ``auto`` has
grown, which is for the fleets to show.
"""

_FLEET = Course(name="paced-1", zones=10_000, fingerprints=200, pause_every=120.0)
_ENGINE = Course(
    name="cpu-100",
    zones=100,
    enterprise=0,
    limited=False,
    # Nothing waits here. Any other scale makes readings old, and permits short.
    scale=1.0,
    migration=0.0,
    window=400,
    pause_every=None,
)
_FAULTY = Course(name="faults-0", zones=1_000, fingerprints=50, pause_every=None)

PARTS: tuple[Part, ...] = (
    Processes(name="processes-1"),
    Processes(name="processes-12", processes=12, at_once=10),
    Stuck(name="stuck"),
    _ENGINE,
    _ENGINE.model_copy(update={"name": "cpu-1000", "zones": 1_000}),
    _ENGINE.model_copy(update={"name": "cpu-10000", "zones": 10_000, "fingerprints": 200}),
    _FAULTY,
    _FAULTY.model_copy(update={"name": "faults-1", "faults": 0.01}),
    _FAULTY.model_copy(update={"name": "faults-3", "faults": 0.03}),
    _FAULTY.model_copy(update={"name": "faults-5", "faults": 0.05}),
    # A limit each; the last one's calls go wrong for a while, and the others have work for longer than that.
    # A slow scale: what is measured are users beside each other, not two cores.
    Course(
        name="users",
        zones=1_200,
        enterprise=0,
        users=3,
        scale=1.5,
        migration=30.0,
        window=400,
        pause_every=None,
        outage=(60.0, 60.0),
    ),
    _FLEET,
    _FLEET.model_copy(update={"name": "paced-4", "workers": 4}),
    # All wait; then one fingerprint in five is signed, and for a quarter of an hour these zones are in flight
    # while the others wait on.
    _FLEET.model_copy(
        update={
            "name": "crowd",
            "limited": False,
            "migration": 9_000.0,
            "enterprise": 0,
            "window": 2_000,
            "pause_every": 30.0,
            "gather": 0.99,
            "hold_back": 0.8,
            "held_for": 900.0,
        }
    ),
    Many(name="many"),
)
"""The shorter ones come first. Those of 10,000 zones at the limit take more than an hour each: the plan
alone makes 110,000 calls.
"""

SHORT: dict[str, dict[str, object]] = {
    "processes": {"seconds": 60.0},
    "stuck": {"zones": 100, "pauses": 2},
    "cpu-1000": {"zones": 300},
    "cpu-10000": {"zones": 900, "fingerprints": 20},
    "faults": {"zones": 200, "fingerprints": 10, "window": 400},
    "users": {"zones": 300, "outage": (20.0, 40.0)},
    "paced": {"zones": 600, "fingerprints": 20, "window": 400, "pause_every": 20.0},
    "crowd": {"zones": 600, "window": 120, "held_for": 90.0, "pause_every": 10.0, "fingerprints": 20},
    "many": {"zones": 2_000, "fingerprints": 200, "migrated": 200, "reason": 500},
}
"""The same parts in minutes each, by the beginning of their names: enough to find what has become worse. So
few zones are over before a window of ``auto`` has grown.
"""

GOALS: dict[str, tuple[str, float]] = {
    "makespan_ratio": ("<=", 1.05),
    "quota_used": (">=", 0.98),
    "own_429": ("<=", 0),
    "calls_per_zone.pro": ("<=", 5.1),
    "calls_per_zone.enterprise": ("<=", 9.2),
    "calls_per_zone.plan": ("<=", 11),
    "answer_p99_seconds.sign_off": ("<=", 1),
    "answer_p99_seconds.pause": ("<=", 1),
    "answer_p99_seconds.status": ("<=", 1),
    "lost": ("<=", 0),
    "rules_broken": ("<=", 0),
}
"""Of a campaign at the limit. Evidence queries are not part of an Enterprise zone's 9.2 calls."""

SAFE_GOALS = {path: GOALS[path] for path in ("lost", "rules_broken")}
"""Of every campaign that comes to its end."""

CROWD_GOALS: dict[str, tuple[str, float]] = {
    **{path: goal for path, goal in GOALS.items() if path.startswith("answer")},
    **SAFE_GOALS,
    "worker_rss_mb": ("<=", 300),
}

MANY_GOALS: dict[str, tuple[str, float]] = {
    "state_bytes": ("<=", 256_000),
    "packing_seconds": ("<=", 0.05),
    "sweep.found_share": (">=", 1),
    "refused": ("<=", 0),
    "double_commits": ("<=", 0),
}

STUCK_GOALS: dict[str, tuple[str, float]] = {
    "answer_most_seconds.pause": ("<=", 1),
    "answer_most_seconds.abort": ("<=", 1),
    "answer_most_seconds.status": ("<=", 1),
    "sent_after_pause": ("<=", 0),
    "sent_after_abort": ("<=", 0),
    "double_commits": ("<=", 0),
    "rules_broken": ("<=", 0),
}

PROCESSES_GOALS: dict[str, tuple[str, float]] = {
    "quota_used": (">=", 0.98),
    "own_429": ("<=", 0),
    "over": ("<=", 1),
}

USERS_GOALS: dict[str, tuple[str, float]] = {
    **SAFE_GOALS,
    "own_429": ("<=", 0),
    "others_kept": (">=", 0.98),
}

CPU_SPREAD = 0.15
"""How far the worker's CPU a zone may be from that of the smallest fleet."""

FAULTS_COST = 0.02
"""How much longer a campaign may take for each per cent of faults."""


def chosen(
    parts: Sequence[str], *, zones: int | None = None, workers: int | None = None, short: bool = False
) -> list[Part]:
    """The parts of these names, or else those whose names begin with one; all where there are none.
    ``short``: in minutes each. ``zones`` and ``workers``: in place of their own numbers. Raises ValueError
    for a name that none begins with.
    """
    names = [one.name for one in PARTS]
    meant: set[str] = set() if parts else set(names)
    for name in parts:
        beginning = {one for one in names if one.startswith(name)}
        if not beginning:
            raise ValueError(f"there is no part {name!r}; there are {', '.join(names)}")
        meant |= {name} if name in names else beginning
    given = {"zones": zones, "workers": workers}
    return [
        one.model_copy(
            update={
                **(_shorter(one.name) if short else {}),
                **{key: value for key, value in given.items() if value and key in type(one).model_fields},
            }
        )
        for one in PARTS
        if one.name in meant
    ]


def _shorter(name: str) -> dict[str, object]:
    return next((terms for beginning, terms in SHORT.items() if name.startswith(beginning)), {})


def summed_up(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What ``out/bench-fleet.json`` says: the figures of the campaign at the limit with one worker (None for
    what is not measured), the largest state of all parts, the goals that were missed, and each part as it is.
    """
    paced = found.get("paced-1", {})
    sizes = [one["state_bytes"] for one in found.values() if one.get("state_bytes") is not None]
    return {
        **{key: paced.get(key) for key in KEYS},
        "state_bytes": max(sizes, default=None),
        "missed": missed(found),
        "parts": {name: dict(one) for name, one in found.items()},
    }


def missed(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The goals that the parts which were measured miss."""
    texts: list[str] = []
    for name, one in found.items():
        texts += [f"{name}: {text}" for text in figures.missed(with_broken(one), _goals(name))]
    return texts + _cpu(found) + _faults(found)


def _goals(name: str) -> Mapping[str, tuple[str, float]]:
    """What a part of this name is to reach by itself."""
    if name.startswith("paced"):
        return GOALS
    if name.startswith("processes"):
        return PROCESSES_GOALS
    own = {"users": USERS_GOALS, "crowd": CROWD_GOALS, "many": MANY_GOALS, "stuck": STUCK_GOALS}
    return own.get(name, SAFE_GOALS)


def with_broken(one: Mapping[str, Any]) -> dict[str, Any]:
    """The figures, with the number of rules that were broken beside the verdicts, where there are any."""
    if "rules" not in one:
        return dict(one)
    return {**one, "rules_broken": sum(bool(rule["broken"]) for rule in one["rules"])}


def _cpu(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    each = {name: one["worker_cpu_per_zone"] for name, one in found.items() if name.startswith("cpu-")}
    least = each.get("cpu-100")
    return [
        f"{name}: {value:g} s of CPU a zone, more than 15 % from the {least:g} s of cpu-100"
        for name, value in each.items()
        if value is not None and least and abs(value / least - 1) > CPU_SPREAD
    ]


def _faults(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    clean = found.get("faults-0", {}).get("makespan_seconds")
    texts = []
    for name, one in found.items():
        share = one.get("course", {}).get("faults", 0.0)
        if name.startswith("faults-") and share and clean:
            longer = one["makespan_seconds"] / clean - 1
            if longer > 100 * share * FAULTS_COST:
                texts.append(f"{name}: {longer:.1%} longer than without faults")
    return texts
