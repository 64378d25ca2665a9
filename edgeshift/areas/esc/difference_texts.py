"""What a differential probe found, in sentences for people. Pure."""

from __future__ import annotations

from collections import defaultdict

from edgeshift.areas.esc.probe import ProbeReport, unmarked
from edgeshift.model.counts import counted
from edgeshift.model.reason_texts import text_of

MOST_PATHS = 3

OFF_ABOVE = "the account's setting has esc off for all its zones already: the probe compared off with off"


def loss_lines(report: ProbeReport) -> list[str]:
    """A sentence for each thing that changes, with the feature that replaces it and where it was seen."""
    places: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for one in report.differences:
        what = named(one.kind.value, one.what)
        places[one.feature.value, what, one.before, one.after].append(f"{one.host}{one.path}")
    found = []
    for (feature, what, before, after), paths in sorted(places.items()):
        more = f" and {len(paths) - MOST_PATHS} more" if len(paths) > MOST_PATHS else ""
        where = ", ".join(sorted(paths)[:MOST_PATHS]) + more
        found.append(f"{feature}: {what} {before or 'absent'} → {after or 'absent'} at {where}")
    return found


def named(kind: str, what: str) -> str:
    """What differs, by its kind and the name of the header, cookie or field."""
    return kind if what in ("", kind) else f"{kind} {what}"


def doubts(report: ProbeReport) -> list[str]:
    """Why the probe does not say enough to be taken for granted; empty if it does."""
    coverage, found = report.coverage, list[str]()
    if report.off_above:
        found.append(OFF_ABOVE)
    if silent := coverage.zones_covered - coverage.zones_probed:
        zones = counted(coverage.zones_covered, "zone")
        found.append(f"{silent} of {zones} gave the probe no answer from the edge")
    if coverage.hosts_unmarked:
        found.append(text_of(*unmarked(coverage.hosts_unmarked)))
    if report.controls.alarms:
        found.append(
            f"{report.controls.alarms} of {report.controls.pairs} A/A pairs differ: it changes by itself"
        )
    if report.untold_above and not report.differences:
        # Any difference proves that it is on.
        found.append(
            "the account's setting shows a secret alone, and not whether esc is off for all its zones:"
            " nothing differs, and the probe may have compared off with off"
        )
    return found
