"""What a campaign's journal, its people and its processes say, put together into figures. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bench.figures import spread
from bench.fleet import figures
from bench.fleet.asking import AWAITING
from bench.fleet.figures import rounded
from bench.fleet.records import KINDS, Asked, Used
from bench.fleet.usage import Usage
from bench.fleet.users import by_user
from edgeshift.testbed.invariants.pace import busiest
from edgeshift.testbed.invariants.requests import Request

AT_WORK = ("working", "permitted")
"""Places of targets that are at work."""

PLOTTED_EVERY = 5.0
"""Seconds of one point in the plot of calls."""


def counted_up(
    *,
    journal: Sequence[Request],
    noted: Asked,
    plans: Mapping[str, str],
    planned_at: datetime,
    began: datetime,
    over: datetime,
    makespan: float,
    calls_per_second: float | None,
    limit_seconds: float,
    latency: float,
    workers: Usage,
    rest: Usage,
    users: Mapping[str, str] | None = None,
    outages: Sequence[figures.Span] = (),
) -> dict[str, Any]:
    """The figures. ``plans``: the zones' plans by identifier; ``planned_at``, ``began``, ``over``: when the
    plan and the campaign began, and when that ended; ``calls_per_second``: what the limit of one user
    allows, None where none binds; ``limit_seconds``: the limit's own window; ``users``, ``outages``: as of
    ``by_user``, where there are several. Seconds are real ones.
    """
    zones, users = len(plans), users or {}
    calls = [request for request in journal if began <= request.time <= over]
    pauses = pauses_of(noted)
    paused = figures.overlap(pauses, began, over)
    found: dict[str, Any] = {
        "zones": zones,
        "makespan_seconds": round(makespan, 1),
        "paused_seconds": round(paused, 1),
        "plan_seconds": round((began - planned_at).total_seconds(), 1),
        "zones_per_second": round(zones / makespan, 3),
        "own_429": figures.own_429(journal),
        "calls_per_zone": figures.calls_per_zone(journal, plans, began),
        "calls_by_name": figures.calls_by_name(calls, plans),
        **answers(noted),
        "peaks": peaks(noted),
        "fullest": fullest(noted),
        "worker_rss_mb": max((one.rss_mb for one in workers.seen), default=None),
        "worker_rss_growth": figures.growth([one.rss_mb for one in workers.seen if began <= one.at <= over]),
        "worker_cpu_per_zone": _each(workers.cpu_between(began, over), zones),
        "plan_cpu_per_zone": _each(workers.cpu_between(planned_at, began), zones),
        "rest_cpu_per_zone": _each(rest.cpu_between(began, over), zones),
        "plots": plots(calls, workers.seen, began, over),
    }
    if calls_per_second is None:
        return found | {"makespan_ratio": None, "quota_used": None}
    counts = Counter(plans.values())
    work = figures.work_of(calls)
    read = [request for request in journal if planned_at <= request.time < began]
    reading = (read[0].time, read[-1].time) if read else None
    own = [[one for one in journal if one.user == user] for user in users] if len(users) > 1 else [journal]
    rate = calls_per_second * len(own)
    most = max(busiest(list(made), limit_seconds)[0] for made in own)
    allowed = round(calls_per_second * limit_seconds)
    found |= {
        "makespan_ratio": rounded(figures.makespan_ratio(makespan - paused, counts, rate, latency)),
        "makespan_ratio_with_pauses": rounded(figures.makespan_ratio(makespan, counts, rate, latency)),
        "quota_used": rounded(work and figures.quota_used(calls, work, rate, pauses)),
        "quota_used_plan": rounded(reading and figures.quota_used(read, reading, rate)),
        "quota_ten_windows": rounded(work and figures.ten_windows(calls, work, limit_seconds, rate, pauses)),
        "quota_windows": figures.windows(calls, work, limit_seconds, rate) if work else [],
        "busiest_window": {"calls": most, "allowed": allowed, "over": max(0, most - allowed)},
    }
    if len(users) > 1:
        found |= by_user(calls, users, calls_per_second, pauses, outages)
    return found


def pauses_of(noted: Asked) -> list[figures.Span]:
    """The times in which nothing may be sent: from a pause's answer to that of the resume after it. Until a
    pause is answered, what was permitted before goes on.
    """
    resumed = sorted(
        (one.at + timedelta(seconds=one.seconds), one.at)
        for one in noted.answers
        if one.kind == "resume" and not one.trouble
    )
    found = []
    for one in noted.answers:
        if one.kind != "pause" or one.trouble:
            continue
        answered = one.at + timedelta(seconds=one.seconds)
        if later := [end for end, at in resumed if at >= answered]:
            found.append((answered, later[0]))
    return found


def answers(noted: Asked) -> dict[str, Any]:
    """How soon each kind of question was answered (99th percentile, and the spread), and how often not."""
    by_kind = {kind: [one for one in noted.answers if one.kind == kind] for kind in KINDS}
    return {
        "answer_p99_seconds": {
            kind: figures.percentile((one.seconds for one in found), 0.99) for kind, found in by_kind.items()
        },
        "answer_seconds": {
            kind: spread((one.seconds for one in found), 3) for kind, found in by_kind.items()
        },
        "unanswered": {kind: sum(bool(one.trouble) for one in found) for kind, found in by_kind.items()},
    }


def peaks(noted: Asked) -> dict[str, int]:
    """The most targets that were seen at each place at one time, the most that were at work (by themselves or
    under a permit), and the most permits that were out.
    """
    found: dict[str, int] = {}
    for standing in noted.standings:
        at_work = sum(standing.places.get(place, 0) for place in AT_WORK)
        seen = {**standing.places, "at_work": at_work, "permits_out": standing.permits}
        for place, number in seen.items():
            found[place] = max(found.get(place, 0), number)
    return dict(sorted(found.items()))


def fullest(noted: Asked) -> dict[str, int]:
    """The moment with the most targets at work, and of several the one at which most waited for a sign-off:
    how many were at work and how many waited at that very moment.
    """
    seen = [
        (
            sum(standing.places.get(place, 0) for place in AT_WORK),
            sum(standing.places.get(place, 0) for place in AWAITING),
        )
        for standing in noted.standings
    ]
    at_work, awaiting = max(seen, default=(0, 0))
    return {"at_work": at_work, "awaiting": awaiting}


def plots(
    calls: Sequence[Request], used: Sequence[Used], began: datetime, over: datetime
) -> dict[str, list[tuple[float, float]]]:
    """Series over the campaign's seconds: calls a second, the worker's memory in MB."""
    memory = [((one.at - began).total_seconds(), one.rss_mb) for one in used if began <= one.at <= over]
    rate = figures.a_second((request.time for request in calls), began, PLOTTED_EVERY)
    return {
        "calls_per_second": figures.thinned(rate),
        "worker_rss_mb": figures.thinned([(round(at, 1), mb) for at, mb in memory]),
    }


def _each(total: float | None, zones: int) -> float | None:
    return round(total / zones, 4) if total is not None and zones else None
