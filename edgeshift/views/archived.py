"""Adds to a timeline what the archive holds for it: evidence, records, whatever else the area tells."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from edgeshift.model.fleet import Area
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import DOCUMENTS, DocumentUnreadable, ZoneRecord, get_document
from edgeshift.views.chosen import command
from edgeshift.views.entries import Entry, EntryKind, Timeline
from edgeshift.views.parts import VIEWS
from edgeshift.views.words import one_line, short

MOST_READ = 200
"""Objects that are read for one timeline."""

MOST_LINES = 40
"""Lines of one document; the rest is counted."""


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


def documents_of(role: str, area: Area) -> tuple[type[BaseModel], ...]:
    """What an object of an entry may be, the one with most in it first; nothing where no line is told of it.
    ``role``: what it is for the entry that names it (Entry.objects).
    """
    match role:
        case "proposal":
            return VIEWS.of(area).proposals
        case "record":
            return (DOCUMENTS.of(area).record, ZoneRecord)
        case "evidence":
            return tuple(filter(None, [DOCUMENTS.of(area).evidence]))
    return VIEWS.of(area).documents.get(role, ())


async def _add(entry: Entry, archive: Archive, area: Area) -> None:
    part = VIEWS.of(area)
    for role, digest in entry.objects.items():
        if entry.kind is EntryKind.OUTCOME:
            # The last look has told it.
            continue
        document = await _read(entry, archive, digest, *documents_of(role, area))
        if document is None:
            continue
        entry.details += cut(part.lines(role, document))
        if not isinstance(document, ZoneRecord):
            continue
        entry.losses = list(part.losses(document))
        entry.details += loss_lines([part.loss_text(loss) for loss in entry.losses], document.zone.name)
        if evidence := part.evidence_of(document):
            seen = await _read(entry, archive, evidence, *documents_of("evidence", area))
            entry.details += cut(part.lines("evidence", seen)) if seen is not None else []


def cut(lines: Sequence[str]) -> list[str]:
    """The first lines of a document, and how many more there are."""
    left = len(lines) - MOST_LINES
    return [*map(one_line, lines[:MOST_LINES]), *([f"and {left} more"] if left > 0 else [])]


def loss_lines(losses: Sequence[str], zone: str) -> list[str]:
    """What a change did not carry over, one by one; the rest is counted, and it is said who has it."""
    left = len(losses) - MOST_LINES
    more = f"and {left} more: {command('history', one_line(zone), '--json')} has all"
    return [*map(one_line, losses[:MOST_LINES]), *([more] if left > 0 else [])]


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
