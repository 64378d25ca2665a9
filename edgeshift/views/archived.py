"""Adds to a timeline what the archive holds for it: evidence, probes, written rules, log entries."""

from __future__ import annotations

from pydantic import BaseModel

from edgeshift.model.fleet import Area
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import DocumentUnreadable, WafRecord, ZoneRecord, get_document
from edgeshift.views.archive_texts import documents_of, lines_of, loss_lines
from edgeshift.views.entries import Entry, EntryKind, Timeline
from edgeshift.views.parts import VIEWS
from edgeshift.views.words import one_line, short

MOST_READ = 200
"""Objects that are read for one timeline."""


async def with_archived(timeline: Timeline, archive: Archive) -> Timeline:
    """The timeline with lines of its archived documents. What the archive lacks is said in their place."""
    told = timeline.model_copy(deep=True)
    entries = [
        entry
        for attempt in told.attempts
        for entry in attempt.entries
        if VIEWS.of(told.area).reads(entry.objects)
    ]
    for entry in entries[:MOST_READ]:
        await _add(entry, archive, told.area)
    return told


async def _add(entry: Entry, archive: Archive, area: Area) -> None:
    for role, digest in entry.objects.items():
        if entry.kind is EntryKind.OUTCOME:
            # The last look has told it.
            continue
        document = await _read(entry, archive, digest, *documents_of(role, area))
        if isinstance(document, WafRecord):
            entry.losses = list(document.aftercare.losses)
            entry.details += loss_lines(document.aftercare, document.zone.name)
            continue
        if isinstance(document, ZoneRecord):
            evidence = document.evidence
            role, document = "evidence", None
            if evidence:
                document = await _read(entry, archive, evidence, *documents_of(role, area))
        if document is not None:
            entry.details += lines_of(role, document, area)


async def _read(entry: Entry, archive: Archive, digest: str, *models: type[BaseModel]) -> BaseModel | None:
    """The document as the first of these models that it can be read as. None, and a line of the entry says
    so, where the archive does not have it, or it is none of them.
    """
    trouble = ""
    for model in models:
        try:
            return await get_document(archive, model, digest)
        except DocumentUnreadable as why:
            trouble = one_line(str(why))
        except ArchiveError:
            trouble = f"the archive does not have {short(digest)}"
    if trouble:
        entry.details.append(trouble)
    return None
