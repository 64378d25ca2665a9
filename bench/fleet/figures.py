"""The arithmetic of campaigns at a limit: what they need, what they used, how soon they answered. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil
from operator import ge, le, lt
from statistics import median
from typing import Any, NamedTuple

from edgeshift.testbed.invariants.requests import Request

NEEDED = {"pro": 5, "enterprise": 13}
"""The calls that a zone cannot do without after a plan (docs/calls.md). Professional: configuration, page
rules, PUT, status, stored rules. Enterprise: before its window its plan, configuration, page rules, PUT and
stored rules; its evidence: status, one query of the events of a window as short as those here, stored rules;
and those five.
"""

EVENTS = "graphql"
"""The call that reads a window's security events."""

BEFORE_EVENTS, AFTER_EVENTS = "waf.status", "entrypoint.get"
"""What a zone's evidence reads just before the events and just after them: whether it is in validation, and
which rules it runs.
"""

TEN = 10
"""Whole windows of the limit over which it has to be used up."""

Span = tuple[datetime, datetime]


def percentile(values: Iterable[float], share: float) -> float | None:
    """The least value that so large a share of the values does not exceed; None where there are none."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def of_last_tasks(seconds: Sequence[float]) -> dict[str, Any]:
    """What is told of the tasks in which runs hand their state on. The slowest one waited for a worker or the
    server, where all processors are busy; packing is what each of them has, and the median judges it.
    """
    return {
        "packing_seconds": median(seconds) if seconds else None,
        "packing_most_seconds": max(seconds, default=None),
        "last_tasks_seconds": list(seconds),
    }


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


def ten_windows(
    requests: Sequence[Request],
    work: Span,
    seconds: float,
    calls_per_second: float,
    pauses: Sequence[Span] = (),
) -> float | None:
    """The share of the limit that was used over the ten whole windows in the middle of the work, pauses left
    out: neither while a window of ``auto`` grows, nor while the last zones end. None where there are fewer.
    """
    begin, end = work
    whole = int((end - begin).total_seconds() // seconds)
    if whole < TEN:
        return None
    first = begin + timedelta(seconds=seconds) * ((whole - TEN) // 2)
    return quota_used(requests, (first, first + TEN * timedelta(seconds=seconds)), calls_per_second, pauses)


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
    zones' plan (identifier to plan). Those of the evidence are a figure of their own (``evidence``, an
    Enterprise zone), as are the calls of no zone, such as lists (``shared``, all together).
    """
    before = [request for request in requests if request.time < started]
    after = [request for request in requests if request.time >= started]
    count = Counter(plans.values())
    about = evidence_among(after)
    of_plan = Counter(
        plans[request.zone]
        for request, evident in zip(after, about, strict=True)
        if request.zone is not None and request.zone in plans and not evident
    )
    evidence = sum(about)
    shared = sum(
        request.zone not in plans and not evident for request, evident in zip(after, about, strict=True)
    )

    def each(number: int, zones: int) -> float | None:
        return round(number / zones, 3) if zones else None

    return {
        "pro": each(of_plan["pro"], count["pro"]),
        "enterprise": each(of_plan["enterprise"], count["enterprise"]),
        "evidence": each(evidence, count["enterprise"]),
        "shared": float(shared),
        "plan": each(sum(request.zone in plans for request in before), len(plans)),
    }


def evidence_among(requests: Sequence[Request]) -> list[bool]:
    """Of each request, in the journal's order, whether a zone's evidence made it: a query of events, and of
    the same zone the status directly before and the stored rules directly after it. Nothing else of the zone
    calls meanwhile. Where one of the two was tried several times, only one of the tries is found so, and the
    others count as the zone's.
    """
    own: dict[str, list[int]] = {}
    for place, request in enumerate(requests):
        if request.zone is not None:
            own.setdefault(request.zone, []).append(place)
    found = [request.call == EVENTS for request in requests]
    for places in own.values():
        for before, after in pairwise(places):
            calls = requests[before].call, requests[after].call
            if calls == (BEFORE_EVENTS, EVENTS):
                found[before] = True
            if calls == (EVENTS, AFTER_EVENTS):
                found[after] = True
    return found


def calls_by_name(requests: Sequence[Request], plans: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """The mean number of each call of a zone, by the zones' plan; those that validate, and those of the
    evidence, under names of their own.
    """
    count = Counter(plans.values())
    found: dict[str, Counter[str]] = {plan: Counter() for plan in sorted(count)}
    for request, evident in zip(requests, evidence_among(requests), strict=True):
        plan = plans.get(request.zone or "")
        if plan is not None:
            kind = " validation" if request.validates else " evidence" if evident else ""
            found[plan][f"{request.call}{kind}"] += 1
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


REACHES: dict[str, Callable[[float, float], bool]] = {"<=": le, "<": lt, ">=": ge}

Goals = Mapping[str, tuple[str, float]]
"""Path of the figure (``a.b``) to the relation, one of REACHES, and the bound."""


class Judged(NamedTuple):
    """One goal: the figure (its path), what was measured (None: nothing), the goal, and whether it is met.
    What was not measured meets none.
    """

    figure: str
    value: float | None
    goal: str
    met: bool

    @property
    def missed(self) -> str:
        """How it is missed, in words."""
        if self.value is None:
            return f"{self.figure}: not measured ({self.goal})"
        return f"{self.figure}: {_number(self.value)}, not {self.goal}"


def judged(found: Mapping[str, Any], goals: Goals) -> list[Judged]:
    """What figures make of goals."""
    verdicts = []
    for path, (relation, bound) in goals.items():
        value: Any = found
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        met = value is not None and REACHES[relation](value, bound)
        verdicts.append(Judged(path, value, f"{relation} {bound:g}", met))
    return verdicts
