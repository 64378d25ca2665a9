"""What the archive holds for a change, in lines for people. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from pydantic import BaseModel

from edgeshift.areas.esc import difference_texts as esc_told
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.log_fields.entries import Judgement
from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.evidence_texts import evidence_lines
from edgeshift.areas.waf.loss_texts import text_of_loss
from edgeshift.areas.waf.losses import Fate
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Area
from edgeshift.stores.documents import (
    DOCUMENTS,
    ProbedProposal,
    Proposal,
    StepWritten,
    WafRecord,
    ZoneRecord,
)
from edgeshift.views.parts import VIEWS
from edgeshift.views.words import one_line, short

MOST_LINES = 40
"""Lines of one document; the rest is counted."""

OF_EARLIER_VERSIONS = "re-create by hand: "
"""What earlier versions said of lost settings, beside what else there was to review."""


def _listed(noun: str, numbers: Collection[int]) -> str:
    return f"{agreed(len(numbers), noun)} {', '.join(map(str, numbers))}"


def documents_of(role: str, area: Area) -> tuple[type[BaseModel], ...]:
    """What an object of an entry may be, the one with most in it first; nothing where no line is told of it.
    ``role``: what it is for the entry that names it (Entry.objects).
    """
    match role:
        case "proposal":
            return VIEWS.of(area).proposals
        case "probe":
            return (ProbeReport,)
        case "found":
            return (StepWritten,)
        case "record":
            record = DOCUMENTS.of(area).record
            return (record, ZoneRecord) if record is WafRecord else (ZoneRecord,)
        case "evidence":
            return tuple(filter(None, [DOCUMENTS.of(area).evidence]))
    return ()


def lines_of(role: str, document: BaseModel, area: Area) -> list[str]:
    """What one document says. ``role``: as of ``documents_of``."""
    found: list[str] = []
    match document:
        case Proposal():
            found = list(document.additions) if VIEWS.of(area).tells_additions else []
            found += [f"to know: {one}" for one in document.warnings]
            if isinstance(document, ProbedProposal):
                found.append(f"baseline {short(document.baseline)} in the archive, for the looks after it")
        case ProbeReport():
            found = probe_lines(document) if role == "probe" else seen_lines(document)
        case StepWritten():
            found = written_lines(document)
        case Judgement():
            found = entries_lines(document)
        case Evidence():
            found = evidence_lines(document)
    told = [one_line(line) for line in found[:MOST_LINES]]
    return told + ([f"and {len(found) - MOST_LINES} more"] if len(found) > MOST_LINES else [])


def loss_lines(aftercare: Aftercare, zone: str) -> list[str]:
    """The settings that a migration did not carry over, one by one; of earlier versions, as they were
    counted then.
    """
    if not aftercare.losses:
        return [one_line(text) for text in aftercare.review if text.startswith(OF_EARLIER_VERSIONS)]
    labels = {Fate.LOST: "lost", Fate.COMPARE: "to compare"}
    told = [one_line(f"{labels[loss.fate]}: {text_of_loss(loss)}") for loss in aftercare.losses[:MOST_LINES]]
    left = len(aftercare.losses) - MOST_LINES
    return told + (
        [f"and {left} more: edgeshift history {one_line(zone)} --json has all"] if left > 0 else []
    )


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
    if silent := sorted(set(seen.hosts_tried) - set(seen.hosts_reached)):
        found.append(f"no answer from {_some(silent, most)}")
    if seen.zones_covered > 1:
        found.append(f"zones reached: {seen.zones_probed} of {seen.zones_covered} that it covers")
    found.append(
        f"A/A controls: {report.controls.alarms} of {counted(report.controls.pairs, 'pair')} differ"
        + (f"; varies by itself: {_some(report.noise, most)}" if report.noise else "")
    )
    if report.failures:
        found.append(f"{counted(len(report.failures), 'URL')} failed with the secret or without")
    return [*found, *seen.notes]


def _some(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def probe_lines(report: ProbeReport) -> list[str]:
    """What changes once esc is off: each difference with the feature that replaces it."""
    return (esc_told.told(report) or ["nothing that was asked for changes"]) + coverage_lines(report)


def seen_lines(report: ProbeReport) -> list[str]:
    """What a scope showed while it was watched."""
    features = Counter(one.feature.value for one in report.differences)
    found = [f"changed as agreed: {counted(count, feature)}" for feature, count in sorted(features.items())]
    return [*found, f"{counted(report.coverage.urls, 'URL')} asked, {len(report.failures)} failed"]


def entries_lines(found: Judgement) -> list[str]:
    """Each custom field: seen in log entries, or why not."""
    room = f", {found.full} of them full" if found.full else ""
    return [f"{counted(found.entries, 'log entry', 'log entries')} read{room}", *map(str, found.fields)]


def written_lines(written: StepWritten) -> list[str]:
    """What a step wrote, and whose writes it found in between."""
    found = []
    if written.created_ruleset:
        found.append("the ruleset was created")
    if written.versions:
        found.append(f"wrote {_listed('version', written.versions)} of the ruleset")
    if written.overwritten:
        others = _listed("version", written.overwritten)
        found.append(f"somebody else wrote {others} meanwhile: merged, put again")
    if written.jobs:
        found.append(f"wrote {_listed('log job', written.jobs)}")
    if written.created_job:
        found.append(f"the log job {written.created_job} was created")
    return [*found, *written.notes]
