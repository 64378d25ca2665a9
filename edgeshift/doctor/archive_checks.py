"""Whether the archive is the one that the running campaigns keep their documents in."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.doctor.check import Check, State, ok
from edgeshift.messages import PUBLISHED, CampaignSummary
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.counts import counted
from edgeshift.model.fleet import campaign_name
from edgeshift.runtime.temporal import memo_has, memo_value_of
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import Unproven, unproven_there
from edgeshift.stores.documents.unproven import MOST
from edgeshift.stores.identity import identity_if_made

CODE, NAME = CheckCode.ARCHIVE_CAMPAIGNS, "archive of campaigns"

RECORDS = CheckCode.ARCHIVE_RECORDS, "records of workers"

FEW = 3
"""Records, and executions, that are named."""

FIX = "see archive-unsigned in docs/runbook.md"

_RUNNING = "WorkflowType = 'Campaign' AND ExecutionStatus = 'Running'"


async def check_campaigns(client: Client, url: str) -> list[Check]:
    """Whether every campaign that runs was started with this archive; nothing where none runs, and where the
    archive cannot be read, which another check says.
    """
    try:
        archive = Archive(url, make=False)
        here = await identity_if_made(archive)
        others: list[str] = []
        unread: list[str] = []
        count = 0
        async for execution in client.list_workflows(_RUNNING):
            told = await memo_value_of(execution, PUBLISHED, CampaignSummary)
            if told is None and memo_has(execution, PUBLISHED):
                unread.append(execution.id)
            if told is None or not told.archive:
                # It has not said anything yet.
                continue
            count += 1
            if told.archive != here:
                others.append(campaign_name(execution.id))
    except RPCError as problem:
        return [Check(CODE, NAME, State.WARNING, f"the campaigns cannot be read: {problem.message[:150]}")]
    except (ArchiveError, ValueError):
        return []
    # What cannot be read is of another version, or somebody else's: it is named, and says nothing of others.
    left_out = (
        f"{counted(len(unread), 'execution')} with an unreadable summary: {_few(unread)}" if unread else ""
    )
    if others:
        said = (
            f"{counted(len(others), 'running campaign')} of {count:,} began with another one: {_few(others)}"
        )
        fix = "name the archive of their workers: --archive URL or EDGESHIFT_ARCHIVE_URL"
        return [Check(CODE, NAME, State.FAILED, "; ".join(filter(None, (said, left_out))), fix)]
    here_too = f"{counted(count, 'running campaign')} began with this one" if count else ""
    if unread:
        fix = f"`temporal workflow show --workflow-id {unread[0]}` shows who started it"
        return [Check(CODE, NAME, State.WARNING, "; ".join(filter(None, (here_too, left_out))), fix)]
    return [ok(CODE, NAME, here_too)] if count else []


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW:,} more" if len(names) > FEW else "")


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
        return [Check(*RECORDS, State.WARNING, said + _named(found), FIX)]
    if not found:
        return [ok(*RECORDS, "workers have found none that does not count")]
    return [Check(*RECORDS, State.WARNING, _named(found), FIX)]


def _named(found: Sequence[Unproven]) -> str:
    names = [f"{one.key} ({one.why})" for one in found[:FEW]]
    if len(found) > FEW:
        names.append(f"and {len(found) - FEW:,} more")
    said = f"{counted(len(found), 'record')} {'does' if len(found) == 1 else 'do'} not count"
    return f"{said}: {'; '.join(names)}" if names else said
