"""Whether all that a campaign tells of its zones is so: each outcome against what workers have signed, and
against the service, which is read; nothing is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client

from activities.comparing import Comparing
from activities.connections import Connections
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.roots import asking
from edgeshift.messages import CampaignStart, ComparedOutcomes, CompareOutcomes
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.quota.leases import Quotas
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import Archive
from worker.wiring import area_work


@dataclass(frozen=True)
class ToldOutcome:
    """What is told of a target: in which attempt it came to which outcome."""

    index: int
    attempt: int
    outcome: ZoneOutcome


@dataclass(frozen=True)
class Compared:
    """What came of it. ``unread_for``: why targets could not be read, and how many each time."""

    found: ComparedOutcomes
    unread_for: Mapping[str, int]


async def compare_told(
    client: Client,
    archive: Archive,
    start: CampaignStart,
    origin: str,
    told: Sequence[ToldOutcome],
    roots: Path | None,
) -> Compared:
    """Read every one of these targets at the service, with the campaign's credentials, resolved here,
    within the rate limit that they share with its workers.
    ``origin``: the campaign's first run. ``roots``: the roots file by which results count; None: results are
    not asked for. Raises ArchiveError, RootsError.
    """
    files = RootsFiles(roots) if roots is not None else None
    quotas = Quotas(client, "check")
    connections = Connections(client, archive, SystemClock(), quotas.pacer, "", roots=files)
    batch = CompareOutcomes(
        origin=origin,
        targets=start.targets,
        spec=start.spec,
        area=start.area,
        indexes=tuple(one.index for one in told),
        attempts=tuple(one.attempt for one in told),
        outcomes=tuple(one.outcome for one in told),
        settles_in=start.policy.migration_limit,
        read=frozenset(one.index for one in told),
    )
    try:
        signed = asking(files.current() if files is not None else None) is not None
        comparing = Comparing(connections, area_work(connections), batch)
        found = await comparing.all(signed=signed)
        return Compared(found, comparing.why)
    finally:
        await connections.close()
        await quotas.close()
