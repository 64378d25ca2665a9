"""Whether the archive is the one that the running campaigns keep their documents in."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.doctor.check import Check, State, ok
from edgeshift.messages import PUBLISHED, CampaignSummary
from edgeshift.model.counts import counted
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import Unproven, unproven_there
from edgeshift.stores.documents.unproven import MOST
from edgeshift.stores.identity import known_identity

NAME = "archive of campaigns"

RECORDS = "records of workers"

FEW = 3
"""Records that are named."""

FIX = "see archive-unsigned in docs/runbook.md"

_RUNNING = "WorkflowType = 'Campaign' AND ExecutionStatus = 'Running'"


async def check_campaigns(client: Client, url: str) -> list[Check]:
    """Whether every campaign that runs was started with this archive; nothing where none runs, and where the
    archive cannot be read, which another check says.
    """
    try:
        archive = Archive(url, make=False)
        here = await known_identity(archive) if archive.is_made else None
        others: list[str] = []
        count = 0
        async for execution in client.list_workflows(_RUNNING):
            told = await execution.memo_value(PUBLISHED, None, type_hint=CampaignSummary)
            if told is None or not told.archive:
                # It has not said anything yet.
                continue
            count += 1
            if told.archive != here:
                others.append(told.name)
    except RPCError as problem:
        return [Check(NAME, State.WARNING, f"the campaigns cannot be read: {problem.message[:150]}")]
    except (ArchiveError, ValueError):
        return []
    if others:
        named = ", ".join(others[:3]) + (f" and {len(others) - 3:,} more" if len(others) > 3 else "")
        said = f"{counted(len(others), 'running campaign')} of {count:,} began with another one: {named}"
        fix = "name the archive of their workers: --archive URL or EDGESHIFT_ARCHIVE_URL"
        return [Check(NAME, State.FAILED, said, fix)]
    return [ok(NAME, f"{counted(count, 'running campaign')} began with this one")] if count else []


async def check_records(url: str) -> list[Check]:
    """Whether workers have come upon records that none of them has signed, and that are still there; nothing
    where the archive cannot be read, which another check says.
    """
    try:
        found, more = await unproven_there(Archive(url, make=False))
    except (ArchiveError, ValueError):
        return []
    if more:
        said = f"there are more than {MOST:,} words of such records: somebody floods the archive. "
        return [Check(RECORDS, State.WARNING, said + _named(found), FIX)]
    if not found:
        return [ok(RECORDS, "workers have found none that does not count")]
    return [Check(RECORDS, State.WARNING, _named(found), FIX)]


def _named(found: Sequence[Unproven]) -> str:
    names = [f"{one.key} ({one.why})" for one in found[:FEW]]
    if len(found) > FEW:
        names.append(f"and {len(found) - FEW:,} more")
    said = f"{counted(len(found), 'record')} {'does' if len(found) == 1 else 'do'} not count"
    return f"{said}: {'; '.join(names)}" if names else said
