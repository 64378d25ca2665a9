"""Where the service shows a target, and what becomes of one whose end is not on record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from temporalio import activity

from activities.boundary import refuse_held
from activities.change.area_work import AreaWork
from activities.change.intents import commit_may_show, has_committed
from activities.connections import Connections
from edgeshift.campaign.start import zone_policy
from edgeshift.model.fleet import CLAIMS, UNTOUCHED, Area, Target, ZoneOutcome, campaign_id
from edgeshift.service_api import ServiceError
from edgeshift.stores.documents import DocumentUnreadable

PAUSES = (0.5, 2.0)
"""Seconds before a target is read again that could not be read."""


async def standing_of(
    connections: Connections, work: Mapping[Area, AreaWork], area: Area, spec_digest: str, target: Target
) -> tuple[ZoneOutcome | None, str]:
    """Where the service shows the target, tried a few times: one unreadable zone must not hold a campaign up.
    Raises ServiceError, SecretRefError.
    """
    part, spec = work[area], await connections.spec(spec_digest)
    client = await connections.service(spec_digest, target.zone)
    try:
        for pause in PAUSES:
            try:
                return await part.standing(client, spec, target.zone)
            except ServiceError as failure:
                refuse_held(failure)
                activity.logger.info("reading %s again: %s", target.zone.name, failure)
                await connections.clock.sleep(pause)
        return await part.standing(client, spec, target.zone)
    except DocumentUnreadable as damaged:
        # It may stand for what was sent, and for what of it stands.
        return ZoneOutcome.UNKNOWN, f"not known what was sent: {damaged}"[:200]


async def settled_by(
    connections: Connections,
    spec_digest: str,
    target: Target,
    told: ZoneOutcome,
    standing: ZoneOutcome | None,
    settles_in: timedelta,
) -> ZoneOutcome:
    """The outcome of a target that was ``told`` to have one which is not on record, by where the service
    shows it (``standing_of``): the same one, where that fits. ``settles_in``: no shorter than the campaign's
    file says. What was rolled back was sent before, as a worker has recorded. Raises ArchiveError.
    """
    spec = await connections.spec(spec_digest)
    area, limit = spec.area, max(settles_in, zone_policy(spec).migration_limit)
    if standing is not None:
        same = standing is ZoneOutcome.MIGRATED and told in CLAIMS
        return told if same and told is ZoneOutcome.ALREADY_MIGRATED else standing
    try:
        sent = await commit_may_show(connections, target.zone, area, limit, answered=True)
    except DocumentUnreadable:
        # It may stand for what was sent.
        sent = True
    if not sent and told is ZoneOutcome.ROLLED_BACK:
        campaign = campaign_id(spec.name)
        return told if await has_committed(connections, target.zone, area, campaign) else ZoneOutcome.FAILED
    if not sent and told in UNTOUCHED:
        return told
    return ZoneOutcome.UNKNOWN if sent else ZoneOutcome.FAILED


def fits(outcome: ZoneOutcome, standing: ZoneOutcome | None) -> bool:
    """Whether the service still shows an outcome that is on record."""
    if outcome is ZoneOutcome.ROLLED_BACK:
        return standing is None
    if outcome in (ZoneOutcome.MIGRATED, ZoneOutcome.ALREADY_MIGRATED):
        return standing is ZoneOutcome.MIGRATED
    # Nobody watches any more what it shows, which is all that is asked.
    return standing is not None
