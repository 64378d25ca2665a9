"""What of a target's records is a campaign's own: what the door let through under its signed start, whatever
first run the message named; and what names its first run. The run is a message's word. Whoever can reach
Temporal may have sent what people approved under another one, and it is the campaign's to watch and to take
back all the same (docs/decisions.md, A change is its signed start's).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from temporalio import activity

from activities.connections import Connections
from edgeshift.messages import Change, Step, ZoneStart
from edgeshift.stores.archive import ArchiveError, ArchiveUnavailable
from edgeshift.stores.documents import Intent


def run_of(start: ZoneStart) -> str:
    """The first run of a zone's campaign, which tells it from others of its name: by the message."""
    return start.origin or start.campaign_run


@dataclass(frozen=True)
class Own:
    """Whose a record is. ``run``: the campaign's first one, as a message tells it; ``starts``: the digests of
    the signed starts under which what was sent is the campaign's; ``unread``: why there may be more of them.
    """

    run: str
    starts: frozenset[str] = frozenset()
    unread: ArchiveUnavailable | None = None

    def has(self, record: Intent) -> bool:
        """Whether a record is the campaign's, or does not say whose it is."""
        return record.run is None or self.names(record)

    def names(self, record: Intent) -> bool:
        """Whether a record says that it is the campaign's."""
        return record.run == self.run or record.start in self.starts


async def own_of(connections: Connections, start: ZoneStart) -> Own:
    """What a target's records have to say to be those of its campaign. Raises ArchiveError."""
    return await own_in(connections, start.spec, run_of(start))


async def own_in(connections: Connections, spec_digest: str, run: str) -> Own:
    """As ``own_of``, of a campaign's specification and first run. Raises ArchiveError."""
    return Own(run, *await connections.starts.own(spec_digest))


async def begun_by(connections: Connections, change: Change) -> str | None:
    """The digest of the signed start that a step rests on. None where there is none, and where that cannot be
    read now for a rollback, which is held up by nothing. Raises ArchiveError.
    """
    try:
        return await connections.starts.begun_by(change.start.spec)
    except ArchiveError as failure:
        if change.step is not Step.ROLL_BACK:
            raise
        activity.logger.warning("not known by which start it is sent: %s", failure)
        return None


def record_of(
    change: Change,
    step: str,
    at: datetime,
    drawn: str | None = None,
    trail: str | None = None,
    begun_by: str | None = None,
) -> Intent:
    """What is archived of an intent. ``at``: for as long as a migration may take from then on, no other
    commit of the zone is sent. ``begun_by``: the digest of the signed start that it rests on.
    """
    return Intent(
        step=step,
        digest=change.digest,
        fingerprint=change.fingerprint,
        proposal=change.proposal,
        snapshot=change.snapshot,
        campaign=change.start.campaign,
        run=run_of(change.start),
        start=begun_by,
        attempt=change.start.attempt,
        at=at,
        drawn=drawn,
        trail=trail,
        permit=change.permit.name,
        mode=change.mode.value if change.mode is not None else None,
    )
