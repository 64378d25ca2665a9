"""Whether an archive is the one that a campaign keeps its documents in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from temporalio.client import Client

from edgeshift.messages import CampaignStart, CampaignSummary
from edgeshift.operations.campaigns import campaign_input
from edgeshift.operations.errors import NotFound, Refused, Unreadable
from edgeshift.operations.waits import pollers
from edgeshift.stores.archive import Archive
from edgeshift.stores.identity import identity_if_made

_NAME_THEIRS = "name the archive of the workers: --archive URL or EDGESHIFT_ARCHIVE_URL"

LOOK_EVERY = 0.5
"""Seconds between two looks for what a worker has recorded that has just started."""

MARGIN = 1.0
"""Seconds that recording it may take."""


async def campaign_here(client: Client, archive: Archive, name: str) -> CampaignStart:
    """What a campaign was started with. Raises NotFound, and Refused where it has another archive."""
    start = await campaign_input(client, name)
    await check_archive(archive, start)
    return start


async def check_campaigns(client: Client, archive: Archive, names: Iterable[str]) -> None:
    """Raises Refused where none of these campaigns keeps its documents in this archive, and one of them is
    known to keep them in another. Of one that nobody can read any more, nothing is known. Raises
    ArchiveError.
    """
    elsewhere: Refused | None = None
    for name in dict.fromkeys(names):
        try:
            await campaign_here(client, archive, name)
        except (NotFound, Unreadable):
            continue
        except Refused as why:
            elsewhere = elsewhere or why
        else:
            return
    if elsewhere is not None:
        raise elsewhere


async def check_archive(archive: Archive, campaign: CampaignStart | CampaignSummary) -> None:
    """Raises Refused where a campaign was started with another archive than this one: what it proposes, what
    its people signed and what it sent are not here. Raises ArchiveError.
    """
    if not campaign.archive:
        return
    found = await identity_if_made(archive)
    if found == campaign.archive:
        return
    which = f"is archive {found[:12]}" if found else "is no archive of edgeshift yet"
    if not archive.is_made:
        which = "is no folder"
    raise Refused(
        f"campaign {campaign.name} keeps its documents in another archive ({campaign.archive[:12]}):"
        f" {archive.name} {which}",
        "name the archive of its workers: --archive URL or EDGESHIFT_ARCHIVE_URL",
    )


async def check_workers(client: Client, archive: Archive) -> None:
    """Raises Refused where workers poll, and none of them has recorded in this archive which roots it has, as
    each does once it serves: what they read would be kept in another one. Where none polls, nothing is known.
    Nothing is written. Raises TemporalTrouble, ArchiveError.
    """
    # Imported late: it takes the libraries of signatures.
    from edgeshift.authority.held import TOLD_WITHIN, last_told

    loop = asyncio.get_running_loop()
    # A worker that could not record it looks again after that time, and once more.
    until = loop.time() + 2 * TOLD_WITHIN.total_seconds() + MARGIN
    while identities := await pollers(client):
        # A worker makes the folder of its archive before it polls, so one that is not there is nobody's.
        if not archive.is_made:
            raise Refused(
                f"the workers keep what they read in another archive: {archive.name} is no folder",
                _NAME_THEIRS,
            )
        for identity in identities:
            if await last_told(archive, identity) is not None:
                return
        if loop.time() >= until:
            raise Refused(
                "the workers keep what they read in another archive: none of those that poll has recorded"
                f" anything in {archive.name}",
                f"{_NAME_THEIRS}; where it is theirs, and was emptied, or what is under workers/ removed,"
                " they record it again within seconds, unless they cannot write to it",
            )
        await asyncio.sleep(LOOK_EVERY)
