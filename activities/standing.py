"""Where the service shows a target, and what becomes of one whose end is not on record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from temporalio import activity

from activities.boundary import refuse_held
from activities.change.area_work import AreaWork
from activities.change.earlier import committed_at, has_changed
from activities.change.intent_records import HIDDEN
from activities.change.intents import commit_may_show
from activities.change.own import own_in
from activities.connections import Connections
from edgeshift.authority.statements import ResultStatement
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import CLAIMS, ENDS, UNTOUCHED, Area, Target, Zone, ZoneOutcome
from edgeshift.service_api import ServiceError
from edgeshift.stores.archive import ArchiveError

PAUSES = (0.5, 2.0)
"""Seconds before a target is read again that could not be read."""


async def standing_of(
    connections: Connections,
    work: Mapping[Area, AreaWork],
    area: Area,
    spec_digest: str,
    target: Target,
    *,
    urgent: bool = False,
) -> tuple[ZoneOutcome | None, str]:
    """Where the service shows the target, tried a few times: one unreadable zone must not hold a campaign up.
    ``urgent``: other targets wait until it was read. Raises ServiceError, SecretRefError.
    """
    part, spec = work[area], await connections.spec(spec_digest)
    client = await connections.service(spec_digest, target.zone)
    try:
        for pause in PAUSES:
            try:
                return await part.standing(client, spec, target.zone, urgent=urgent)
            except ServiceError as failure:
                refuse_held(failure)
                activity.logger.info("reading %s again: %s", target.zone.name, failure)
                await connections.clock.sleep(pause)
        return await part.standing(client, spec, target.zone, urgent=urgent)
    except HIDDEN as damaged:
        # It may stand for what was sent, and for what of it stands.
        return ZoneOutcome.UNKNOWN, _not_known(damaged)


async def on_record(
    connections: Connections, spec_digest: str, run: str, target: Target, attempt: int, told: ZoneOutcome
) -> bool:
    """Whether a worker has signed this outcome of an attempt, by this very specification. That it was rolled
    back says nothing of what the campaign has sent since, or may have, where a record of the target cannot be
    read. ``run``: the campaign's first one. Raises ArchiveError.
    """
    spec = await connections.spec(spec_digest)
    found = await connections.results.proven(
        spec, run, target.zone.id, attempt, counts=lambda result: result.spec == spec_digest
    )
    result = found.get(told)
    if result is None or told is not ZoneOutcome.ROLLED_BACK:
        return result is not None
    return await _is_last(connections, spec_digest, run, target.zone, spec.area, result)


async def signed_end(
    connections: Connections,
    spec_digest: str,
    run: str,
    target: Target,
    attempt: int,
    *,
    or_undone: bool = False,
) -> ZoneOutcome | None:
    """The last end of a change of an attempt that a worker has signed by this very specification, unless the
    campaign has sent another change since, or may have; None where there is none. ``run``: the campaign's
    first one. ``or_undone``: or a rollback of it. Raises ArchiveError.
    """
    spec = await connections.spec(spec_digest)
    found = await connections.results.proven(
        spec, run, target.zone.id, attempt, counts=lambda result: result.spec == spec_digest
    )
    ends = [result for outcome, result in found.items() if outcome in ENDS]
    if not ends:
        return None
    last = max(ends, key=lambda result: result.issued)
    is_last = await _is_last(connections, spec_digest, run, target.zone, spec.area, last, or_undone=or_undone)
    return last.outcome if is_last else None


async def _is_last(
    connections: Connections,
    spec_digest: str,
    run: str,
    zone: Zone,
    area: Area,
    result: ResultStatement,
    *,
    or_undone: bool = False,
) -> bool:
    """Whether the campaign has committed nothing after a result was signed."""
    try:
        own = await own_in(connections, spec_digest, run)
        last = await committed_at(connections, zone, area, own, or_undone=or_undone)
    except HIDDEN:
        return False
    # Results are told to the second.
    return last is None or result.issued >= last.replace(microsecond=0)


async def where_undone(
    connections: Connections,
    spec_digest: str,
    run: str,
    target: Target,
    attempt: int,
    told: ZoneOutcome,
    settles_in: timedelta,
) -> ZoneOutcome:
    """What a target that is ``told`` to be rolled back is, if the service shows nothing of a change: rolled
    back where this attempt has sent a change, or taken one back, as a worker has recorded. To be asked before
    the target is read: a change that is recorded, and not made, while the target is read shows in no reading,
    and is not undone. ``run``: the campaign's first one. Raises ArchiveError.
    """
    if told is not ZoneOutcome.ROLLED_BACK:
        return ZoneOutcome.FAILED
    spec = await connections.spec(spec_digest)
    sent, _ = await may_show(connections, target.zone, spec.area, _limit(spec, settles_in))
    if sent:
        return ZoneOutcome.UNKNOWN
    try:
        own = await own_in(connections, spec_digest, run)
        changed = await has_changed(connections, target.zone, spec.area, own, attempt)
    except HIDDEN:
        return ZoneOutcome.UNKNOWN
    return told if changed else ZoneOutcome.FAILED


async def settled_by(
    connections: Connections,
    spec_digest: str,
    target: Target,
    told: ZoneOutcome,
    shown: tuple[ZoneOutcome | None, str],
    settles_in: timedelta,
    undone: ZoneOutcome,
) -> tuple[ZoneOutcome, str]:
    """The outcome of a target that was ``told`` to have one which is not on record, by where the service
    shows it (``shown``, by ``standing_of``): the same one, where that fits; and what is told of that.
    ``settles_in``: no shorter than the campaign's file says. ``undone``: what ``where_undone`` said before.
    Raises ArchiveError.
    """
    spec, (standing, said) = await connections.spec(spec_digest), shown
    if standing is not None:
        same = standing is ZoneOutcome.MIGRATED and told in CLAIMS
        return told if same and told is ZoneOutcome.ALREADY_MIGRATED else standing, said
    sent, damaged = await may_show(connections, target.zone, spec.area, _limit(spec, settles_in))
    if sent:
        return ZoneOutcome.UNKNOWN, damaged or said
    if told is ZoneOutcome.ROLLED_BACK:
        return undone, said
    return told if told in UNTOUCHED else ZoneOutcome.FAILED, said


async def may_show(connections: Connections, zone: Zone, area: Area, limit: timedelta) -> tuple[bool, str]:
    """Whether a change of the zone was sent that may still come to show, or may be in force unseen; and
    why nobody can tell, where a record cannot be read, or too many are there. ``limit``: how long a
    change may take to show. Raises ArchiveError.
    """
    try:
        return await commit_may_show(connections, zone, area, limit, answered=True), ""
    except HIDDEN as damaged:
        return True, _not_known(damaged)


def _limit(spec: CampaignSpec, settles_in: timedelta) -> timedelta:
    return max(settles_in, zone_policy(spec).migration_limit)


def _not_known(damaged: ArchiveError) -> str:
    return f"not known what was sent: {damaged}"[:200]


def fits(outcome: ZoneOutcome, standing: ZoneOutcome | None) -> bool:
    """Whether the service still shows an outcome that is on record."""
    if outcome is ZoneOutcome.ROLLED_BACK:
        return standing is None
    if outcome in (ZoneOutcome.MIGRATED, ZoneOutcome.ALREADY_MIGRATED):
        return standing is ZoneOutcome.MIGRATED
    # Nobody watches any more what it shows, which is all that is asked.
    return standing is not None
