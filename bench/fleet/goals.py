"""What the measurements of fleets are to reach, and what they do: of each part, met or not met. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench.fleet import figures
from bench.fleet.figures import Goals, Judged
from bench.fleet.labels import base_of, varied
from bench.fleet.records import KINDS

Found = Mapping[str, Any]

SECONDS = 1
"""Within which a question is answered."""

STATE_BYTES = 256_000

RSS_GROWTH = 1.15
"""How much more memory the workers may use in the last third of a campaign than in the middle one: where it
is flat. The spread is that which a zone's CPU may have.
"""

CPU_PER_ZONE = 0.06
CPU_SPREAD = 0.15
"""How far the worker's CPU a zone may be from that of the smallest fleet."""

FAULTS_COST = 0.02
"""How much longer a campaign may take for each per cent of faults."""

SAFE_GOALS: dict[str, tuple[str, float]] = {"lost": ("<=", 0), "rules_broken": ("<=", 0)}
"""Of every campaign that comes to its end."""

ANSWERS: dict[str, tuple[str, float]] = {
    **{f"answer_p99_seconds.{kind}": ("<=", SECONDS) for kind in ("sign_off", "pause", "status")},
    **{f"unanswered.{kind}": ("<=", 0) for kind in KINDS},
}

EVENTS: dict[str, tuple[str, float]] = {
    "history_events_per_zone.pro.median": ("<=", 23),
    "history_events_per_zone.enterprise.median": ("<=", 36),
}

MEMORY: dict[str, tuple[str, float]] = {
    "state_bytes": ("<", STATE_BYTES),
    "worker_rss_growth": ("<=", RSS_GROWTH),
}

QUOTA = "quota_ten_windows"
"""Where the work fills ten windows of the limit; else what was used of the whole is judged."""

GOALS: dict[str, tuple[str, float]] = {
    "makespan_ratio": ("<=", 1.05),
    QUOTA: (">=", 0.98),
    "own_429": ("<=", 0),
    "busiest_window.over": ("<=", 1),
    "calls_per_zone.pro": ("<=", 5.1),
    "calls_per_zone.enterprise": ("<=", 9.2),
    "calls_per_zone.plan": ("<=", 11),
    **ANSWERS,
    **EVENTS,
    **MEMORY,
    "worker_cpu_per_zone": ("<=", CPU_PER_ZONE),
    **SAFE_GOALS,
}
"""Of a campaign at the limit. What the evidence calls is not part of an Enterprise zone's 9.2 calls."""

BY_DESIGN: dict[str, tuple[float, str]] = {
    "calls_per_zone.enterprise": (
        12.2,
        "12 calls by design: its plan and its status are asked for again before a validation, and its stored"
        " rules before the commit",
    ),
}
"""Goals that are not met, up to which figure, and why. They are told as not met, and fail no run by
themselves; what is beyond the figure does.
"""

CPU_GOALS: dict[str, tuple[str, float]] = {
    "worker_cpu_per_zone": ("<=", CPU_PER_ZONE),
    "history_events_per_zone.pro.median": EVENTS["history_events_per_zone.pro.median"],
    **SAFE_GOALS,
}

CROWD_GOALS: dict[str, tuple[str, float]] = {
    **ANSWERS,
    **MEMORY,
    "worker_rss_mb": ("<=", 300),
    **SAFE_GOALS,
}
"""Of a crowd, which also has to have been one (``_crowded``)."""

MANY_GOALS: dict[str, tuple[str, float]] = {
    "state_bytes": ("<", STATE_BYTES),
    "packing_seconds": ("<", 0.05),
    "signed.sign_off_most_seconds": ("<=", SECONDS),
    "refused": ("<=", 0),
    "sweep.found_share": (">=", 1),
    "waiting.status_p99_seconds": ("<=", SECONDS),
    "migrated.status_p99_seconds": ("<=", SECONDS),
    "migrated.pause_seconds": ("<=", SECONDS),
    "migrated.rss_growth": ("<=", RSS_GROWTH),
    "double_commits": ("<=", 0),
}

STUCK_GOALS: dict[str, tuple[str, float]] = {
    **{f"answer_most_seconds.{what}": ("<=", SECONDS) for what in ("pause", "abort", "status")},
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

ENGINE_GOALS: dict[str, tuple[str, float]] = {
    "ratio_to_naive": (">=", 1),
    "events_per_zone.pro.median": ("<=", 23),
    "events_per_zone.enterprise.median": ("<=", 36),
}
"""Of ``make bench``, without a limit."""

ENGINE = "engine"


class Verdict(NamedTuple):
    """A goal of a part, and what came of it."""

    part: str
    judged: Judged

    def plain(self) -> dict[str, Any]:
        """As the files of figures have it."""
        return {"part": self.part, **self.judged._asdict(), "by_design": self.by_design}

    @property
    def by_design(self) -> str:
        """Why it is not met, where that is meant; else empty."""
        most, why = BY_DESIGN.get(self.judged.figure, (0.0, ""))
        meant = not self.judged.met and self.judged.value is not None and self.judged.value <= most
        return why if meant else ""

    @property
    def missed(self) -> str:
        """How it is missed, in words."""
        return f"{self.part}: {self.judged.missed}"


def verdicts(found: Mapping[str, Found]) -> list[Verdict]:
    """Every goal of the parts that were measured, by their labels."""
    verdicts = [
        Verdict(name, one)
        for name, figures_of in found.items()
        for one in figures.judged(with_broken(figures_of), goals_of(name, figures_of))
    ]
    return verdicts + _cpu(found) + _faults(found)


def verdicts_of_bench(engine: Found) -> list[Verdict]:
    """Those of ``make bench``: of its campaign at the limit, and of what it measures without one."""
    own = [Verdict(ENGINE, one) for one in figures.judged(engine, ENGINE_GOALS)]
    return [*verdicts({"paced": engine["paced"]}), *own]


def missed(verdicts: Sequence[Verdict]) -> list[str]:
    """The goals that are not met, in words, without those that are not met by design."""
    return [one.missed for one in verdicts if not one.judged.met and not one.by_design]


def goals_of(label: str, one: Found) -> Goals:
    """What a part with this label and these figures is to reach by itself."""
    name = base_of(label)
    if name.startswith("paced"):
        return GOALS if one.get(QUOTA) is not None else _of_the_whole(GOALS)
    if name == "crowd":
        return {**CROWD_GOALS, **_crowded(one)}
    for beginning, goals in (("processes", PROCESSES_GOALS), ("cpu", CPU_GOALS)):
        if name.startswith(beginning):
            return goals
    return {"users": USERS_GOALS, "many": MANY_GOALS, "stuck": STUCK_GOALS}.get(name, SAFE_GOALS)


def _of_the_whole(goals: Goals) -> Goals:
    return {"quota_used" if path == QUOTA else path: goal for path, goal in goals.items()}


def _crowded(one: Found) -> Goals:
    """In flight together with those that wait: 2,000 and 8,000 of 10,000 zones."""
    course = one["course"]
    waiting = round(course["hold_back"] * course["zones"])
    return {
        "fullest.at_work": (">=", min(course["window"], course["zones"] - waiting)),
        "fullest.awaiting": (">=", waiting),
    }


def with_broken(one: Found) -> dict[str, Any]:
    """The figures, with the number of rules that were broken beside the verdicts, where there are any."""
    if "rules" not in one:
        return dict(one)
    return {**one, "rules_broken": sum(bool(rule["broken"]) for rule in one["rules"])}


def _cpu(found: Mapping[str, Found]) -> list[Verdict]:
    """CPU a zone in that of the smallest fleet."""
    verdicts = []
    for name, one in found.items():
        if not name.startswith("cpu-") or base_of(name) == "cpu-100":
            continue
        smallest = found.get(varied("cpu-100", name)) or found.get("cpu-100") or {}
        value, least = one["worker_cpu_per_zone"], smallest.get("worker_cpu_per_zone")
        if value is not None and least:
            ratio = round(value / least, 3)
            goal = f"within {CPU_SPREAD:.0%} of cpu-100"
            met = abs(ratio - 1) <= CPU_SPREAD
            verdicts.append(Verdict(name, Judged("worker_cpu_per_zone, ratio", ratio, goal, met)))
    return verdicts


def _faults(found: Mapping[str, Found]) -> list[Verdict]:
    """How much longer a campaign takes with faults, of the same course without them."""
    verdicts = []
    for name, one in found.items():
        share = one.get("course", {}).get("faults", 0.0)
        clean = found.get(varied("faults-0", name), {}).get("makespan_seconds")
        if name.startswith("faults-") and share and clean:
            longer = round(one["makespan_seconds"] / clean, 3)
            most = 1 + 100 * share * FAULTS_COST
            verdicts.append(
                Verdict(
                    name,
                    Judged("makespan_seconds, ratio to faults-0", longer, f"<= {most:g}", longer <= most),
                )
            )
    return verdicts
