"""The one fenced activity through which every mutating call goes.

One attempt. Before it sends it checks again what the workflow has checked: the sign-off, the digest, the
snapshot, the area's own rules, the permit's expiry; and it creates the intent of this permit in the archive,
so that the same step cannot be sent twice, not even by an operator's reset. What it cannot close is a process
that is frozen between the last check and the first byte on the wire: the service has no precondition to send
along. The read-back after a commit looks for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from temporalio import activity

from activities.boundary import asked_at, heartbeating, hold_of, named_failures
from activities.change.area_work import AreaWork, FencedStep
from activities.change.calling_off import unless_called_off
from activities.change.fence import Fence
from activities.change.in_force import seen_commit
from activities.change.intents import (
    PermitOnRecord,
    as_begun,
    commit_may_show,
    fix_permit,
    give_up,
    own_commit,
    shows_within,
)
from activities.change.judging import support_cause
from activities.change.not_sent import NotSent
from activities.change.permits import SignedTargets, is_named
from activities.connections import Connections
from edgeshift.areas import area_of
from edgeshift.messages import (
    UNSIGNED,
    Change,
    ChangeResult,
    ChangeStatus,
    GivenUp,
    GiveUpPermits,
    LookBack,
    Part,
    Permit,
    PermitsGivenUp,
    Step,
)
from edgeshift.model.digests import digest, essence, fingerprint
from edgeshift.model.failures import FAILURES, kind_of
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Tally, tally
from edgeshift.rate_limit.in_hand import InHand, in_hand
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.service_api import NoTurn, ServiceError
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveError
from edgeshift.stores.documents import Proposal, Snapshot, get_document, snapshot_key
from edgeshift.stores.documents.proposals import without_digest

SIDE_BY_SIDE = 32
"""Permits that are given up at the same time."""


class MutationActivities:
    """Mutating steps of a target."""

    def __init__(self, connections: Connections, work: Mapping[Area, AreaWork]) -> None:
        self._connections = connections
        self._work = work
        self._signed = SignedTargets(connections)

    @activity.defn(name="change_zone")
    @named_failures
    async def change(self, change: Change) -> ChangeResult:
        """Make one mutating step, at most once. The result says what is known of it; nothing known is an
        answer too.
        """
        fence = Fence(self._connections, change, self._connections.clock.monotonic())
        # A rollback begins at once: it is not for the limit to hold it up.
        step = InHand(
            lambda: fence.time.first_turn_within().total_seconds(),
            fence.time.turn_comes,
            begun=change.step is Step.ROLL_BACK,
        )
        with in_hand(step):
            result = await unless_called_off(fence, self._made(change, fence))
        return await fence.unless_sent_before(result)

    async def _made(self, change: Change, fence: Fence) -> ChangeResult:
        area = self._work[change.start.area]
        try:
            if change.step is Step.ROLL_BACK:
                fence.change = change = await area.as_sent(change)
            await area.refuse_unfounded(change)
            body = await self._checked_body(change, fence)
            area.check(change, body)
            client = await self._connections.service(change.start.spec, change.start.target.zone)
            return await area.send(FencedStep(change, fence, body, client))
        except NotSent as why:
            await fence.confirm(why.result)
            return why.result
        except (ServiceError, ArchiveError, SecretRefError) as failure:
            # Only readings and the archive fail here, before this run sent anything: what the sending itself
            # raises has become a result already, and a step of several requests sees to its own middle.
            return ChangeResult(
                status=ChangeStatus.NOTHING_HAPPENED,
                reason=f"before it was sent: {failure}"[:200],
                hold=hold_of(failure),
                turn=not isinstance(failure, NoTurn),
                damaged=isinstance(failure, ArchiveCorrupt),
                stands=isinstance(failure, ServiceError) and passes(failure, change.start.area),
            )

    @activity.defn(name="give_up_change")
    @named_failures
    async def give_up(self, change: Change) -> GivenUp:
        """Keep a change that was not answered from being sent from now on, where that is still possible. For
        a target that people have not signed, nothing is recorded.
        """
        theirs = is_named(change.permit) and await self._signed.have(change.start)
        given_up = theirs and await give_up(self._connections, change)
        return GivenUp(given_up=given_up, permit=change.permit.number, stands=given_up)

    @activity.defn(name="give_up_permits")
    @heartbeating
    @named_failures
    async def give_up_permits(self, batch: GiveUpPermits) -> PermitsGivenUp:
        """Keep anything from being sent under these permits, where nothing was yet: by the archive alone,
        whatever their zones, their workers and the rate limit are busy with. None of a list that people have
        not signed.
        """
        if not await self._signed.have_list(batch):
            return PermitsGivenUp()
        targets = await self._connections.targets(batch.targets)
        places = asyncio.Semaphore(SIDE_BY_SIDE)

        async def fixed(permit: Permit) -> PermitOnRecord:
            if not 0 <= permit.index < len(targets):
                return PermitOnRecord.MAY_BE_SENT
            async with places:
                return await fix_permit(self._connections, batch, targets[permit.index].zone, permit)

        found = await asyncio.gather(*map(fixed, batch.permits))
        runs = (*batch.unasked, activity.info().workflow_run_id or "")
        if await self._connections.reset_of(batch.campaign, runs):
            # It may have forgotten a permit: each zone has to say that it makes no step under any.
            return PermitsGivenUp()
        numbers: dict[PermitOnRecord, list[int]] = {kind: [] for kind in PermitOnRecord}
        for permit, kind in zip(batch.permits, found, strict=True):
            numbers[kind].append(permit.number)
        return PermitsGivenUp(
            given_up=tuple(numbers[PermitOnRecord.GIVEN_UP]), over=tuple(numbers[PermitOnRecord.OVER])
        )

    @activity.defn(name="look_back_at_commits")
    @named_failures
    async def look_back(self, start: LookBack) -> Part:
        """The commit that this campaign has sent to the target, in whichever attempt, and that is or may come
        to be in force without anybody having seen its end: by the archive alone. Where nothing can be undone,
        also one that somebody has seen: it is in force, and is read once more.
        """
        asked_at(start.asked)
        target, area, limit = start.target.zone, start.area, shows_within(start)
        mine = await own_commit(self._connections, target, area, start.campaign, limit)
        if mine is None and not area_of(area).reversible:
            mine = await seen_commit(self._connections, start)
        if mine is None:
            return Part()
        may_show = await commit_may_show(self._connections, target, area, limit, answered=True)
        return Part(prepared=as_begun(mine), may_show=may_show)

    async def _checked_body(self, change: Change, fence: Fence) -> dict[str, Any]:
        """The body as it was signed, from the archive, without what its digest leaves out: anybody may have
        added that. An area that has to send it asks the service for it. Raises NotSent where anything is not
        as it must be.
        """
        start, archive = change.start, self._connections.archive
        await fence.refuse_unsigned()
        zone, policy = start.target.zone, start.policy.sign_off
        body = (await get_document(archive, Proposal, change.proposal)).body
        if odd := without_digest(body):
            raise NotSent(f"the archived proposal is no body: {odd}")
        if digest(body) != change.digest or fingerprint(body, zone) != change.fingerprint:
            raise NotSent("the archived proposal is not the one that the digest names")
        if change.step not in UNSIGNED:
            decided = tally(
                change.decisions,
                policy.subjects(change.digest, change.fingerprint),
                policy,
                start.started_by,
                activity.info().started_time,
            )
            if decided is not Tally.APPROVED:
                raise NotSent("no valid sign-off of exactly this digest")
        if await archive.get_named(snapshot_key(zone, start.area, change.snapshot)) is None:
            raise NotSent(f"there is no snapshot of the {zone.kind.value} in the archive")
        await get_document(archive, Snapshot[Any], change.snapshot)
        return essence(body)


def passes(failure: ServiceError, area: Area) -> bool:
    """Whether a reading that failed says nothing of the zone, as where the service did not answer or is not
    called for now. What it says for good, such as that there is no such zone, or that support must act, is
    found out by reading anew.
    """
    if support_cause(failure, area) is not None:
        return False
    known = FAILURES[kind_of(type(failure)) or ServiceError.__name__]
    return known.tries is None or hold_of(failure) is not None
