"""Adds to a timeline what the archive holds for it: evidence, probes, written rules, log entries."""

from __future__ import annotations

from typing import Any

from edgeshift.model.fleet import Area
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.views.archive_told import lines_of
from edgeshift.views.entries import Entry, EntryKind, Timeline
from edgeshift.views.words import short

MOST_READ = 200
"""Objects that are read for one timeline."""


async def with_archived(timeline: Timeline, archive: Archive) -> Timeline:
    """The timeline with lines of its archived documents. What the archive lacks is said in their place."""
    told = timeline.model_copy(deep=True)
    entries = [
        entry
        for attempt in told.attempts
        for entry in attempt.entries
        # Of waf, the snapshots and proposals are told where people sign.
        if entry.objects and (told.area is not Area.WAF or "evidence" in entry.objects)
    ]
    for entry in entries[:MOST_READ]:
        await _add(entry, archive, told.area)
    return told


async def _add(entry: Entry, archive: Archive, area: Area) -> None:
    for role, digest in entry.objects.items():
        if entry.kind is EntryKind.OUTCOME:
            # The last look has told it.
            continue
        document = await _read(entry, archive, digest)
        if role == "record":
            evidence = str(document.get("evidence") or "")
            role, document = "evidence", await _read(entry, archive, evidence) if evidence else {}
        entry.details += lines_of(role, document, area)


async def _read(entry: Entry, archive: Archive, digest: str) -> dict[str, Any]:
    try:
        found = await archive.get_json(digest)
    except ArchiveError:
        entry.details.append(f"the archive does not have {short(digest)}")
        return {}
    return found if isinstance(found, dict) else {}
