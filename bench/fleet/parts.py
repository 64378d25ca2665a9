"""The parts of the measurement of fleets, and what each shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.fleet import goals
from bench.fleet.campaign import Course
from bench.fleet.labels import base_of, label_of
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

LARGEST_SCALE = 10.0
"""How much faster than life a campaign at the limit may be measured."""


def chosen(
    parts: Sequence[str],
    *,
    zones: int | None = None,
    workers: int | None = None,
    scale: float | None = None,
    short: bool = False,
) -> list[Part]:
    """The parts of these names, or else those whose names begin with one; all where there are none.
    ``short``: in minutes each. ``zones`` and ``workers``: in place of their own numbers; ``scale``: of the
    campaigns at the limit (``paced``) alone. Raises ValueError for a name that none begins with, and a scale
    that is none.
    """
    if scale is not None and not 1 <= scale <= LARGEST_SCALE:
        raise ValueError(f"the time scale is {scale:g}; it must be from 1 to {LARGEST_SCALE:g}")
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
                **({"scale": scale} if scale and one.name.startswith("paced") else {}),
            }
        )
        for one in PARTS
        if one.name in meant
    ]


def _shorter(name: str) -> dict[str, object]:
    return next((terms for beginning, terms in SHORT.items() if name.startswith(beginning)), {})


def own_course(name: str) -> Part:
    """A part as it is by itself. Raises KeyError."""
    return {one.name: one for one in PARTS}[name]


def labelled(part: Part) -> str:
    """A part's name, with what is other than in its own course."""
    return label_of(part, own_course(part.name))


def in_order(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Figures by their labels, in the order of the parts, each part's own course first."""
    places = {one.name: place for place, one in enumerate(PARTS)}
    known = [label for label in found if base_of(label) in places]
    return {label: found[label] for label in sorted(known, key=lambda label: (places[base_of(label)], label))}


def summed_up(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What ``out/bench-fleet.json`` says: the figures of the campaign at the limit with one worker (None for
    what is not measured) and of which measurement they are (``figures_of``: its own course, or else another
    one), the largest state of all parts, the goals, met and missed, and each part as it is.
    """
    of = next((label for label in found if base_of(label) == "paced-1"), None)
    paced = found[of] if of is not None else {}
    sizes = [one["state_bytes"] for one in found.values() if one.get("state_bytes") is not None]
    verdicts = goals.verdicts(found)
    return {
        "figures_of": of,
        **{key: paced.get(key) for key in (*KEYS, goals.QUOTA)},
        "state_bytes": max(sizes, default=None),
        "missed": goals.missed(verdicts),
        "goals": [one.plain() for one in verdicts],
        "parts": {name: dict(one) for name, one in found.items()},
    }
