"""The arithmetic of campaigns at a limit: what they need, what they used, how soon they answered. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from statistics import median
from typing import Any

from edgeshift.testbed.invariants.requests import Request

NEEDED = {"pro": 5, "enterprise": 10}
"""The calls that a zone cannot do without after a plan. Professional: configuration, page rules, PUT, status,
stored rules. Enterprise: the PUT of its window, two readings of that, one query of its events, a second
reading of the status at the end, and those five.
"""

EVIDENCE = "graphql"
"""The call that reads a window's security events; its zone is in its body, not in the journal."""

Span = tuple[datetime, datetime]


def percentile(values: Iterable[float], share: float) -> float | None:
    """The least value that so large a share of the values does not exceed; None where there are none."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def makespan_ratio(
    makespan: float, zones: Mapping[str, int], calls_per_second: float, latency: float
) -> float:
    """The campaign's seconds in those that it needs: its calls at the limit, and one migration's latency.

    ``zones``: how many by plan. Raises KeyError for a plan whose calls are not known.
    """
    needed = sum(NEEDED[plan] * number for plan, number in zones.items())
    return makespan / (needed / calls_per_second + latency)


def overlap(spans: Iterable[Span], begin: datetime, end: datetime) -> float:
    """How many seconds between ``begin`` and ``end`` are within the spans, which do not overlap."""
    seconds = ((min(end, last) - max(begin, first)).total_seconds() for first, last in spans)
    return sum(max(0.0, one) for one in seconds)


def work_of(requests: Sequence[Request]) -> Span | None:
    """From the first call to the last commit: as long as some zone has calls to make at once. After it all
    that is left are the readings that have to wait for a migration. None without a commit.
    """
    commits = [request.time for request in requests if request.commits]
    return (min(request.time for request in requests), max(commits)) if commits else None


def quota_used(
    requests: Sequence[Request], work: Span, calls_per_second: float, pauses: Sequence[Span] = ()
) -> float | None:
    """The share of the limit that was used while there was work, pauses left out. None where that is no
    time.
    """
    begin, end = work
    seconds = (end - begin).total_seconds() - overlap(pauses, begin, end)
    if seconds <= 0:
        return None
    made = sum(
        begin <= request.time <= end and not any(first <= request.time < last for first, last in pauses)
        for request in requests
    )
    return made / (seconds * calls_per_second)


def windows(requests: Sequence[Request], work: Span, seconds: float, calls_per_second: float) -> list[float]:
    """The share of the limit that each full window of the work used, one after the other."""
    begin, end = work
    whole = int((end - begin).total_seconds() // seconds)
    counts: Counter[int] = Counter(
        int((request.time - begin).total_seconds() // seconds)
        for request in requests
        if request.time >= begin
    )
    return [round(counts[place] / (seconds * calls_per_second), 4) for place in range(whole)]


def own_429(requests: Iterable[Request]) -> int:
    """Calls that the rate limit refused, but for those that a fault refused."""
    return sum(
        request.status == 429 and not (request.fault or "").startswith("rate_limit") for request in requests
    )


def calls_per_zone(
    requests: Sequence[Request], plans: Mapping[str, str], started: datetime
) -> dict[str, float | None]:
    """Calls a zone: of the reading phase before the campaign ``started`` (``plan``), and from then on by the
    zones' plan (identifier to plan). Queries of events are a figure of their own (``evidence``, an Enterprise
    zone), as are the calls of no zone, such as lists (``shared``, all together).
    """
    before = [request for request in requests if request.time < started]
    after = [request for request in requests if request.time >= started]
    count = Counter(plans.values())
    of_plan = Counter(plans[zone] for zone in zones_of(after) if zone in plans)
    evidence = sum(request.call == EVIDENCE for request in after)
    shared = sum(request.zone not in plans and request.call != EVIDENCE for request in after)

    def each(number: int, zones: int) -> float | None:
        return round(number / zones, 3) if zones else None

    return {
        "pro": each(of_plan["pro"], count["pro"]),
        "enterprise": each(of_plan["enterprise"], count["enterprise"]),
        "evidence": each(evidence, count["enterprise"]),
        "shared": float(shared),
        "plan": each(sum(request.zone in plans for request in before), len(plans)),
    }


def zones_of(requests: Iterable[Request]) -> list[str]:
    """The zone of each request that is about one."""
    return [request.zone for request in requests if request.zone is not None]


def calls_by_name(requests: Sequence[Request], plans: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """The mean number of each call of a zone, by the zones' plan."""
    count = Counter(plans.values())
    found: dict[str, Counter[str]] = {plan: Counter() for plan in sorted(count)}
    for request in requests:
        plan = plans.get(request.zone or "")
        if plan is not None:
            found[plan][f"{request.call} validation" if request.validates else request.call] += 1
    return {
        plan: {name: round(number / count[plan], 3) for name, number in sorted(calls.items())}
        for plan, calls in found.items()
    }


def growth(series: Sequence[float]) -> float | None:
    """The last third's median in the middle third's: about 1 where a series is flat. None for a short one."""
    third = len(series) // 3
    if third < 3:
        return None
    middle = median(series[third : 2 * third])
    return round(median(series[2 * third :]) / middle, 3) if middle else None


def thinned(series: Sequence[tuple[float, float]], most: int = 120) -> list[tuple[float, float]]:
    """At most so many points of a series, evenly spread, the last one among them."""
    if len(series) <= most:
        return list(series)
    step = (len(series) - 1) / (most - 1)
    return [series[round(place * step)] for place in range(most)]


def a_second(moments: Iterable[datetime], begin: datetime, seconds: float) -> list[tuple[float, float]]:
    """How many there are a second in each stretch of so many seconds: its middle from ``begin`` on, and the
    rate.
    """
    counts: Counter[int] = Counter(int((moment - begin) / timedelta(seconds=seconds)) for moment in moments)
    if not counts:
        return []
    return [
        (round((place + 0.5) * seconds, 1), round(counts[place] / seconds, 2))
        for place in range(min(counts), max(counts) + 1)
    ]


def rounded(value: float | None) -> float | None:
    """To four places; None stays None."""
    return round(value, 4) if value is not None else None


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def missed(found: Mapping[str, Any], goals: Mapping[str, tuple[str, float]]) -> list[str]:
    """The goals that figures miss, as those that are not there do. ``goals``: path of the figure (``a.b``) to
    ``<=`` or ``>=`` and the bound.
    """
    texts = []
    for path, (relation, bound) in goals.items():
        value: Any = found
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is None:
            texts.append(f"{path}: not measured ({relation} {bound:g})")
        elif not (value <= bound if relation == "<=" else value >= bound):
            texts.append(f"{path}: {_number(value)}, not {relation} {bound:g}")
    return texts
