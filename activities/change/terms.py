"""How long a change may take, and is watched: by the campaign file that it was sent by, and by that of
whoever looks, whichever says longer.

Whoever can reach Temporal chooses the specification that a message names: one that nobody has signed, or that
of an earlier start. By its times a change would be over that may still come to show, or be watched enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from activities.connections import Connections
from activities.proof.signed_starts import Begun
from edgeshift.authority.starts import campaign_refused
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveMissing
from edgeshift.stores.documents import Intent


@dataclass(frozen=True)
class Times:
    """``effect``: for how long from its intent on a change may come to show; ``on_the_wire``: for how long
    its request may be under way before that; ``watch``: how long it is watched.
    """

    effect: timedelta
    on_the_wire: timedelta
    watch: timedelta

    @classmethod
    def of(cls, spec: CampaignSpec) -> Times:
        """Those of a campaign file, its durations scaled."""
        policy = zone_policy(spec)
        return cls(policy.migration_limit, policy.request_limit + policy.margin, policy.watch)

    def or_longer(self, other: Times) -> Times:
        """The longer of each."""
        return Times(
            max(self.effect, other.effect),
            max(self.on_the_wire, other.on_the_wire),
            max(self.watch, other.watch),
        )


NO_TIME = Times(timedelta(0), timedelta(0), timedelta(0))


@dataclass(frozen=True)
class Terms:
    """Those of whoever looks. ``begun``: their signed start; None where names count."""

    times: Times
    begun: Begun | None

    async def of(self, connections: Connections, record: Intent) -> Times | None:
        """By which this is judged, which a worker has recorded. None where its start came after that of
        whoever looks, for whom it is another campaign's; and where that start cannot be read. Raises
        ArchiveError.
        """
        begun = self.begun
        if begun is None or record.start is None:
            return self.times
        mine = begun.statement
        its = await connections.starts.one(mine.campaign, record.start)
        if its is None or its.issued > mine.issued:
            return None
        found = self.times.or_longer(Times.of(await connections.spec(its.spec)))
        # How long it is watched is people's last word.
        return replace(found, watch=self.times.watch) if begun.last else found


async def terms_of(connections: Connections, start: ZoneStart) -> Terms | None:
    """Those of a message's specification. None where it is another campaign's, and where signatures count and
    nobody has signed a start with it. Raises ArchiveError.
    """
    spec = await connections.spec(start.spec)
    if campaign_refused(start, spec):
        return None
    begun = await connections.starts.begun(start.spec)
    if begun is None and connections.starts.needs_signed_starts():
        return None
    return Terms(Times.of(spec), begun)


async def times_of(connections: Connections, record: Intent, beside: ZoneStart) -> Times:
    """Those of the file by which a worker has sent something, for a campaign of whichever name, where that is
    another one than a message names; no time where it is that one, names no start, or cannot be read. Raises
    ArchiveError.
    """
    start = record.start and await connections.starts.one(record.campaign.partition("/")[2], record.start)
    if not start or start.spec == beside.spec:
        return NO_TIME
    try:
        return Times.of(await connections.spec(start.spec))
    except (ArchiveMissing, ArchiveCorrupt):
        return NO_TIME
