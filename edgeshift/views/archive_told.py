"""What the archive holds for a change, in lines for people. Pure.

Documents of other versions may lack anything: what cannot be read is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from edgeshift.areas.esc import told as esc_told
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.log_fields.entries import Judgement
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.evidence_told import evidence_lines
from edgeshift.model.fleet import Area
from edgeshift.views.entries import listed
from edgeshift.views.words import one_line, plural, short

MOST_LINES = 40
"""Lines of one document; the rest is counted."""


def lines_of(role: str, document: Mapping[str, Any], area: Area) -> list[str]:
    """What one document says. ``role``: what it is for the entry that names it (Entry.objects)."""
    match role:
        case "proposal" if area is Area.LOG_FIELDS:
            found = [
                *listed(document, "additions"),
                *(f"to know: {one}" for one in listed(document, "warnings")),
            ]
        case "proposal" if area is Area.ESC:
            found = [f"to know: {one}" for one in listed(document, "warnings")]
            if document.get("baseline"):
                found.append(
                    f"baseline {short(str(document['baseline']))} in the archive, for the looks after it"
                )
        case "probe":
            found = probe_lines(read_probe(document))
        case "found":
            found = written_lines(document)
        case "evidence" if area is Area.LOG_FIELDS:
            found = entries_lines(read_judgement(document))
        case "evidence" if area is Area.WAF:
            found = evidence_told(read_evidence(document))
        case "evidence" if area is Area.ESC:
            found = seen_lines(read_probe(document))
        case _:
            found = []
    told = [one_line(str(line)) for line in found[:MOST_LINES]]
    return told + ([f"and {len(found) - MOST_LINES} more"] if len(found) > MOST_LINES else [])


def read_probe(document: Mapping[str, Any]) -> ProbeReport | None:
    """A probe's report, or None where it is not one of this version's."""
    try:
        return ProbeReport.model_validate(document)
    except ValidationError:
        return None


def read_judgement(document: Mapping[str, Any]) -> Judgement | None:
    """What log entries said, or None where it is not one of this version's."""
    try:
        return Judgement.model_validate(document)
    except ValidationError:
        return None


def read_evidence(document: Mapping[str, Any]) -> Evidence | None:
    """The evidence of a window, or None where it is not one of this version's."""
    try:
        return Evidence.model_validate(document)
    except ValidationError:
        return None


def evidence_told(found: Evidence | None) -> list[str]:
    """What a validation window saw."""
    return [] if found is None else evidence_lines(found)


def coverage_lines(report: ProbeReport) -> list[str]:
    """What a probe looked at, of what there is, and what like compared with like says of it."""
    seen = report.coverage
    sources = ", ".join(
        f"{one.sampled} of {one.known} from {one.source}" for one in seen.sources if one.known
    )
    found = [
        f"probed {plural(seen.urls, 'URL')} of {plural(len(seen.hosts_reached), 'host')},"
        f" {report.rounds} times each with the secret and without{f': {sources}' if sources else ''}"
    ]
    if silent := sorted(set(seen.hosts_tried) - set(seen.hosts_reached)):
        found.append(f"no answer from {', '.join(silent[:3])}{', …' if len(silent) > 3 else ''}")
    if seen.zones_covered > 1:
        found.append(f"zones reached: {seen.zones_probed} of {seen.zones_covered} that it covers")
    found.append(
        f"A/A controls: {report.controls.alarms} of {plural(report.controls.pairs, 'pair')} differ"
        + (f"; varies by itself: {', '.join(report.noise[:6])}" if report.noise else "")
    )
    if report.failures:
        found.append(f"{plural(len(report.failures), 'URL')} failed with the secret or without")
    return [*found, *seen.notes]


def probe_lines(report: ProbeReport | None) -> list[str]:
    """What changes once esc is off: each difference with the feature that replaces it."""
    if report is None:
        return []
    return (esc_told.told(report) or ["nothing that was asked for changes"]) + coverage_lines(report)


def seen_lines(report: ProbeReport | None) -> list[str]:
    """What a scope showed while it was watched."""
    if report is None:
        return []
    features = Counter(one.feature.value for one in report.differences)
    found = [f"changed as agreed: {plural(count, feature)}" for feature, count in sorted(features.items())]
    return [*found, f"{plural(report.coverage.urls, 'URL')} asked, {len(report.failures)} failed"]


def entries_lines(found: Judgement | None) -> list[str]:
    """Each custom field: seen in log entries, or why not."""
    if found is None:
        return []
    room = f", {found.full} of them full" if found.full else ""
    return [f"{plural(found.entries, 'log entry', 'log entries')} read{room}", *map(str, found.fields)]


def written_lines(document: Mapping[str, Any]) -> list[str]:
    """What a step wrote, and whose writes it found in between."""
    found = []
    if document.get("created_ruleset"):
        found.append("the ruleset was created")
    if versions := listed(document, "versions"):
        found.append(f"wrote version(s) {', '.join(map(str, versions))} of the ruleset")
    if others := listed(document, "overwritten"):
        found.append(
            f"somebody else wrote version(s) {', '.join(map(str, others))} meanwhile: merged, put again"
        )
    if jobs := listed(document, "jobs"):
        found.append(f"wrote log job(s) {', '.join(map(str, jobs))}")
    if document.get("created_job"):
        found.append(f"the log job {document['created_job']} was created")
    return [*found, *map(str, listed(document, "notes"))]
