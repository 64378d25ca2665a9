"""What a probe of the area esc says, in lines for people. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from edgeshift.areas.esc import difference_texts
from edgeshift.areas.esc.probe import Coverage, ProbeReport
from edgeshift.model.counts import counted


def coverage_lines(report: ProbeReport, most: int = 6) -> list[str]:
    """What a probe looked at, of what there is, and what like compared with like says of it. ``most``: names
    in a line.
    """
    seen = report.coverage
    sources = ", ".join(
        f"{one.sampled} of {one.known} from {one.source}" for one in seen.sources if one.known
    )
    found = [
        f"probed {counted(seen.urls, 'URL')} of {counted(len(seen.hosts_reached), 'host')},"
        f" {report.rounds} times each with the secret and without{f': {sources}' if sources else ''}"
    ]
    if silent := sorted(set(seen.hosts_tried) - set(seen.hosts_reached) - set(seen.hosts_unmarked)):
        found.append(f"no answer from {_some(silent, most)}")
    found += _unmarked(seen, most)
    if seen.zones_covered > 1:
        found.append(f"zones reached: {seen.zones_probed} of {seen.zones_covered} that it covers")
    found.append(
        f"A/A controls: {report.controls.alarms} of {counted(report.controls.pairs, 'pair')} differ"
        + (f"; varies by itself: {_some(report.noise, most)}" if report.noise else "")
    )
    if report.failures:
        found.append(f"{counted(len(report.failures), 'URL')} failed with the secret or without")
    return [*found, *seen.notes]


def _unmarked(seen: Coverage, most: int) -> list[str]:
    hosts = seen.hosts_unmarked
    return [f"answered without the mark of the edge (CF-Ray): {_some(hosts, most)}"] if hosts else []


def _some(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def probe_lines(report: ProbeReport) -> list[str]:
    """What changes once esc is off: each difference with the feature that replaces it."""
    lines = difference_texts.loss_lines(report) or ["nothing that was asked for changes"]
    return lines + coverage_lines(report)


def watched_lines(report: ProbeReport) -> list[str]:
    """What a scope showed while it was watched."""
    features = Counter(one.feature.value for one in report.differences)
    found = [f"changed as agreed: {counted(count, feature)}" for feature, count in sorted(features.items())]
    found.append(f"{counted(report.coverage.urls, 'URL')} asked, {len(report.failures)} failed")
    return found + _unmarked(report.coverage, 6)
