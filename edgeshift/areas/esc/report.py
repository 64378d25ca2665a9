"""What a probe reports, what people sign of it, and whether a scope that is watched is worse off. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.esc.features import Difference, Kind
from edgeshift.areas.esc.observation import NO_ANSWER, masked
from edgeshift.areas.esc.sides import VARIES
from edgeshift.model.reasons import Reason, ReasonCode, Reasons

DRIFT = 0.5
"""The share of a body that may change by itself while a scope is watched."""

MOST_HOSTS = 3
"""Hosts that a doubt names; the report has all."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SourceCoverage(_Part):
    """How many URLs of a source were found, and how many of them were asked for."""

    source: str
    known: int
    sampled: int


class Coverage(_Part):
    """What the probe looked at, of what there is.

    ``hosts_unmarked``: hosts of which an answer lacked the mark of the edge, so that they say nothing of Edge
    Side Code. ``hosts_reached``: the others with at least one answer, of those tried. ``zones_probed``: zones
    with at least one answer of a host that was reached, of the zones that the scope covers. ``notes``: what
    was cut off and why. Before marks were looked for, any host with an answer was reached.
    """

    sources: tuple[SourceCoverage, ...] = ()
    hosts_tried: tuple[str, ...] = ()
    hosts_reached: tuple[str, ...] = ()
    hosts_unmarked: tuple[str, ...] = ()
    zones_covered: int = 0
    zones_probed: int = 0
    urls: int = 0
    notes: tuple[str, ...] = ()


class Controls(_Part):
    """A/A pairs that were compared, and how many differences they showed where there should be none."""

    pairs: int = 0
    alarms: int = 0


class ProbeReport(_Part):
    """What the probe found. ``noise``: what varies by itself. ``failures``: URLs (host and path) without an
    answer, or with nothing but errors of the server, while Edge Side Code was on, or while being watched.
    ``rounds``: how often each URL was asked per side; more often where something looked different.

    Of a probe that people sign by: ``zone``: the scope's identifier; ``proposal``: digest of what they sign;
    ``off_above``: whether the account of a zone had Edge Side Code off already. Empty while being watched,
    and before there were such fields.
    ``untold_above``: whether the setting of the zone's account showed a secret alone, and so not whether Edge
    Side Code was off for all its zones.
    """

    differences: tuple[Difference, ...] = ()
    coverage: Coverage = Coverage()
    controls: Controls = Controls()
    noise: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    untold_above: bool = False
    made_at: datetime
    rounds: int
    zone: str = ""
    proposal: str = ""
    off_above: bool = False


def summary(report: ProbeReport) -> dict[str, Any]:
    """What people sign: the differences by feature, with the places where they are, and what was reached.

    For canonical JSON; equal from run to run for the same behaviours: no times, no counts, no excerpts of
    pages. Host names stand as they are, so that a fingerprint can take the zone's name out.
    """
    grouped: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in report.differences:
        values = ("", "") if one.kind is Kind.BODY else (one.before, one.after)
        grouped[(one.host, one.feature.value, one.kind.value, one.what, *values)].add(one.path)
    names = ("host", "feature", "kind", "what", "before", "after")
    coverage = report.coverage
    return {
        "differences": [
            {**dict(zip(names, group, strict=True)), "paths": sorted(paths)}
            for group, paths in sorted(grouped.items())
        ],
        "hosts": sorted(coverage.hosts_reached),
        "sources": sorted(one.source for one in coverage.sources if one.sampled),
        "zones": {"covered": coverage.zones_covered, "probed": coverage.zones_probed},
    }


def worse(agreed: ProbeReport, now: ProbeReport, tolerance: float) -> list[str]:
    """Why a scope that is watched is worse off than agreed, in one line each; empty if it is not.

    ``now``: differences between what was seen with Edge Side Code and what is seen since it was turned off.
    ``tolerance``: the share of the URLs that may fail which did not fail before. A page of which less than
    half came or went, other values in JSON, and a header that only counted up are a site at work.
    """
    expected = {one.key: one for one in agreed.differences}
    ended_badly = {f"{one.host}{one.path}" for one in agreed.differences if _ends_badly(one)}
    failed = sorted(set(now.failures) - set(agreed.failures) - ended_badly)
    found = []
    if len(failed) > tolerance * max(1, now.coverage.urls):
        named = ", ".join(failed[:3]) + (", …" if len(failed) > 3 else "")
        found.append(f"{len(failed)} of {now.coverage.urls} URLs fail that did not fail before: {named}")
    for one in now.differences:
        known = expected.get(one.key)
        if (
            f"{one.host}{one.path}" in now.failures
            or (known and _as_agreed(known, one))
            or _drifted(one)
            or _recovered(one)
        ):
            continue
        change = f"{one.host}{one.path}: {one.kind.value} {one.what}: {one.before} → {one.after}"
        found.append(f"{change} (agreed: {known.after})" if known else change)
    return found


def still_seen(agreed: ProbeReport, now: ProbeReport) -> list[Difference]:
    """Of the differences that were agreed to, those that are seen now: none once ESC is on again."""
    expected = {one.key: one for one in agreed.differences}
    return [one for one in now.differences if (known := expected.get(one.key)) and _as_agreed(known, one)]


def from_edge(report: ProbeReport, now: ProbeReport) -> ProbeReport:
    """The report with those differences alone that what is seen ``now`` can tell anything of: at hosts that
    do not answer without the mark of the edge.
    """
    told = (one for one in report.differences if one.host not in now.coverage.hosts_unmarked)
    return report.model_copy(update={"differences": tuple(told)})


def unmarked(hosts: Collection[str]) -> Reasons:
    """That these hosts do not answer as the edge does; nothing where there are none."""
    if not hosts:
        return ()
    named = tuple(sorted(hosts)[:MOST_HOSTS])
    return (Reason(code=ReasonCode.HOSTS_UNMARKED, count=len(hosts), names=named),)


def _as_agreed(agreed: Difference, now: Difference) -> bool:
    same = agreed.after == now.after or VARIES in (agreed.after, now.after)
    return same or (agreed.kind is Kind.BODY and now.after in ("", agreed.after))


def _ends_badly(one: Difference) -> bool:
    shows_status = one.kind in (Kind.STATUS, Kind.REDIRECT) or one.what == "error page"
    return shows_status and one.after.startswith((NO_ANSWER, "5"))


def _recovered(one: Difference) -> bool:
    """Whether it failed before and does not now."""
    return (
        one.kind is Kind.STATUS
        and one.before.startswith((NO_ANSWER, "5"))
        and one.after.startswith(("2", "3"))
    )


def _drifted(one: Difference) -> bool:
    if one.kind is Kind.BODY:
        return one.extent < DRIFT and one.what != "error page"
    return one.kind in (Kind.HEADER, Kind.COOKIE) and masked(one.before) == masked(one.after)
