"""Writes a campaign's report: gathers from Temporal and the archive, renders, and saves the file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel
from temporalio.client import Client

from edgeshift.model.counts import counted
from edgeshift.model.fleet import Area
from edgeshift.operations.proof import note_of
from edgeshift.runtime.files import write_whole
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import DOCUMENTS, get_document
from edgeshift.views.csv_rows import as_csv
from edgeshift.views.entries import Timeline
from edgeshift.views.finding import Named, zone_runs
from edgeshift.views.gathering import Known, each, known_campaign, summary_of, zone_rows
from edgeshift.views.parts import VIEWS
from edgeshift.views.report_data import report_data, tickets_of
from edgeshift.views.report_page import render_report
from edgeshift.views.report_source import MOST_LISTED, Source
from edgeshift.views.rows import ZoneRow, notable
from edgeshift.views.timeline import build_timeline

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots

Model = TypeVar("Model", bound=BaseModel)

MOST_HISTORIES = 500
"""Zones whose history is read for a report; where there are more, those that stand out come first."""

MOST_COUNTED = 5_000
"""Changed zones of which is counted what they lost; of the others the CSV has empty cells."""


async def write_report(
    client: Client,
    archive: Archive,
    campaign: str,
    path: Path,
    csv: Path | None = None,
    *,
    roots: Roots | None = None,
) -> Source:
    """Gather everything about a campaign and write its report to ``path``; what it was made of.

    ``csv``: where every zone goes as CSV as well; ``roots``: those that are known here. Both files are
    written whole or not at all. Raises NotFound, TemporalTrouble, Failed, ArchiveError, OSError.
    """
    source = await gather_report(client, archive, campaign, roots)
    if csv:
        await asyncio.to_thread(write_whole, csv, as_csv(source.rows, source.summary.name))
    page = render_report(report_data(source), source.rows, csv.name if csv else "")
    await asyncio.to_thread(write_whole, path, page)
    return source


async def gather_report(
    client: Client, archive: Archive, campaign: str, roots: Roots | None = None
) -> Source:
    """Everything that a report is made of. What the archive lacks is said, and does not end the report.
    ``roots``: those that are known here.
    """
    known = await known_campaign(client, campaign)
    summary = summary_of(known)
    note = await note_of(archive, campaign, known.start.spec, roots)
    rows = await zone_rows(client, archive, known)
    started = sorted((row for row in rows if row.run_id), key=lambda row: not notable(row))
    told = await each(started[:MOST_HISTORIES], lambda row: _timeline(client, row, known))
    timelines = {row.index: timeline for row, timeline in zip(started, told, strict=False)}
    missing: list[str] = []
    recorded = [row for row in rows if row.record]
    own = DOCUMENTS.of(summary.area)
    records = await each(recorded[:MOST_LISTED], lambda row: _read(archive, own.record, row.record, missing))
    digests: dict[int, str] = {
        index: timeline.attempts[-1].evidence
        for index, timeline in timelines.items()
        if timeline.attempts and timeline.attempts[-1].evidence
    }
    by_record = {row.index: record for row, record in zip(recorded, records, strict=False) if record}
    part = VIEWS.of(summary.area)
    for index, record in by_record.items():
        if record.evidence and not (part.signs_evidence and index in digests):
            digests[index] = record.evidence
    seen = own.evidence or BaseModel
    indexes = sorted(digests) if own.evidence else []
    documents = await each(indexes, lambda index: _read(archive, seen, digests[index], missing))
    found = {index: item for index, item in zip(indexes, documents, strict=True) if item}
    source = Source(summary=summary, made_at=datetime.now(UTC), rows=rows, timelines=timelines, note=note)
    source.closed_tickets = await asyncio.to_thread(closed_tickets, tickets_of(source))
    source.records = by_record
    source.documents = found
    if part.counts_losses:
        source.losses = {index: part.losses(record) for index, record in by_record.items()}
        more = recorded[MOST_LISTED:MOST_COUNTED]
        lost = await each(more, lambda row: _losses(archive, summary.area, row.record, missing))
        source.losses |= {row.index: some for row, some in zip(more, lost, strict=True) if some is not None}
        for row in recorded:
            if row.index in source.losses:
                row.lost = part.lost(source.losses[row.index])
    source.trouble = (
        f"{counted(len(missing), 'document')} could not be read from the archive. First: {missing[0]}."
        if missing
        else ""
    )
    return source


def closed_tickets(tickets: Iterable[str]) -> frozenset[str]:
    """The tickets of a folder of this machine that are not there any more. Of a folder elsewhere, and of a
    ticket system, nothing is known from here.
    """
    paths = [Path(ticket) for ticket in tickets if ticket.startswith("/")]
    return frozenset(str(path) for path in paths if path.parent.is_dir() and not path.exists())


async def _losses(
    archive: Archive, area: Area, digest: str, missing: list[str]
) -> tuple[BaseModel, ...] | None:
    """What a change lost, without the rest of its record: of many zones that would not fit in memory."""
    record = await _read(archive, DOCUMENTS.of(area).record, digest, missing)
    return VIEWS.of(area).losses(record) if record else None


async def _timeline(client: Client, row: ZoneRow, known: Known) -> Timeline:
    named = Named(row.id, row.area, row.kind)
    return build_timeline(row.id, await zone_runs(client, named, known.start.name, known.origin))


async def _read(archive: Archive, model: type[Model], digest: str, missing: list[str]) -> Model | None:
    """The document with this digest, or None: a report tells what there is."""
    try:
        return await get_document(archive, model, digest)
    except ArchiveError as problem:
        missing.append(str(problem))
        return None
