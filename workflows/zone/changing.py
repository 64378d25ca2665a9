"""One fenced step of a zone, and what to do where it did not come about."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, TimeoutError, TimeoutType

with workflow.unsafe.imports_passed_through():
    from activities.change.door import MutationActivities
    from edgeshift.campaign_file.spec import ValidationMode
    from edgeshift.messages import (
        UNSIGNED,
        Change,
        ChangeResult,
        ChangeStatus,
        PermitGrant,
        Prepared,
        ReportKind,
        Step,
        Stop,
        ZonePhase,
    )
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.reasons import Reason, ReasonCode
    from workflows import options
    from workflows.local import locally
    from workflows.zone.failures import LOCAL_FAILURES, said
    from workflows.zone.reporting import Reporter, ZoneWord
    from workflows.zone.signing import SignOffs
    from workflows.zone.state import Ended, ZoneMemory
    from workflows.zone.waiting import Waits

MOST_REFUSED_STARTS = 20
"""How often a step that did not come about is tried again before the zone fails."""

MOST_WITHOUT_A_TURN = 400
"""How often a step that had no turn within the rate limit is tried again, beside its other tries."""

WITHOUT_A_TURN = timedelta(minutes=1)
"""How long after."""


LONGEST_FULL = timedelta(minutes=15)
"""The longest pause before a step is tried again for which the roots had no room: they have it in the next
hour, or once people let more through.
"""


class Changes:
    """Makes changes, by the one activity that may."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter, waits: Waits, sign_offs: SignOffs) -> None:
        self._zone = zone
        self._reporter = reporter
        self._waits = waits
        self._sign_offs = sign_offs

    async def make(
        self, prepared: Prepared, grant: PermitGrant, mode: ValidationMode | None = None
    ) -> ChangeResult:
        """One mutating step under a permit. Whatever cannot be shown not to have happened is unknown."""
        zone = self._zone
        zone.grant = None
        zone.using = grant.permit.number
        zone.used.add(grant.permit.number)
        signed = prepared.step not in UNSIGNED
        change = Change(
            start=zone.bare_start,
            step=prepared.step if mode is None else Step.VALIDATE,
            permit=grant.permit,
            snapshot=prepared.snapshot,
            proposal=prepared.proposal,
            digest=prepared.digest,
            fingerprint=prepared.fingerprint,
            config=prepared.config,
            mode=mode,
            decisions=tuple(self._sign_offs.counting(prepared, grant)) if signed else (),
            window=zone.start.policy.send_window,
            # A secret is set on a reading of before, and a rollback goes first: none waits for its turn more.
            waits=timedelta(0)
            if prepared.step in (Step.SET_SECRET, Step.ROLL_BACK)
            else zone.start.policy.turn_window,
            evidence=zone.gathered.evidence if zone.gathered is not None else "",
            anew=zone.is_later_run,
            used=tuple(sorted(zone.used)) if zone.is_later_run else (),
            read_at=prepared.read_at,
        )
        zone.called_off = zone.stands = False
        made = workflow.start_activity_method(
            MutationActivities.change,
            change,
            summary=f"{change.step.value} under permit {grant.permit.number}",
            **options.changing(change, grant.permit.expires_at - workflow.now()),
        )
        calling_off = asyncio.create_task(self._call_off(made))
        try:
            result: ChangeResult = await made
        except ActivityError as failure:
            result = await self._unanswered(change, failure)
        finally:
            if workflow.cancellation_reason() is not None:
                # What was sent is seen through, and no more is begun.
                zone.cancelled()
            calling_off.cancel()
            forward = zone.moves_forward
            zone.using = None
            zone.to_release = grant.permit.number
        refused = result.unsigned and result.status is ChangeStatus.NOTHING_HAPPENED
        # What gets worse is turned back again and again, also while the door cannot be asked.
        if refused and change.step is not Step.ROLL_BACK:
            if result.aborted_by:
                # Whoever aborted the campaign has signed it, and nobody has told the zone so.
                zone.stop = zone.stop or Stop(
                    by=result.aborted_by, reason=result.reason, cause=ReasonCode.CAMPAIGN_ABORTED
                )
                zone.check_stop()
            # Whatever messages said, people have not signed it with their keys: a person has to look.
            code = ReasonCode.SIGN_OFF_NOT_COUNTED if result.uncounted else ReasonCode.NOT_SIGNED
            raise Ended(ZoneOutcome.ON_HOLD, Reason(code=code, said=result.reason))
        if forward:
            result = await self._called_off(change, result)
        nothing = result.status is ChangeStatus.NOTHING_HAPPENED and not result.found
        zone.stands = nothing and result.stands and not zone.called_off
        return result

    async def _call_off(self, made: workflow.ActivityHandle[ChangeResult]) -> None:
        """Cancel the activity once its step is called off. Not where the message comes together with its
        result, which the engine would throw away: conditions are looked at when all that came has been heard.
        """
        await workflow.wait_condition(lambda: self._zone.called_off)
        if not made.done():
            made.cancel()

    async def _called_off(self, change: Change, result: ChangeResult) -> ChangeResult:
        """The result of a step, with whether its permit was taken back before anything was sent: then the
        campaign is told that the zone can do with another one.
        """
        zone = self._zone
        nothing = result.status is ChangeStatus.NOTHING_HAPPENED and result.hold is None and not result.found
        zone.called_off = nothing and (zone.called_off or result.called_off or zone.stop is not None)
        if not zone.called_off:
            return result
        if zone.stop is None:
            await self._reporter.tell(ZoneWord(ReportKind.RELEASED, unused=True, step=change.step))
        return result.model_copy(update={"called_off": True})

    async def _unanswered(self, change: Change, failure: ActivityError) -> ChangeResult:
        """What is known of a change whose activity ended without a word: nothing happened where it can still
        be kept from being sent, for then it was not. Else the outcome is unknown, also where the activity
        never began: a run that was reset may have sent it.
        """
        cause = failure.cause
        # It has waited behind other changes, which wait for the rate limit.
        late = isinstance(cause, TimeoutError) and cause.type is TimeoutType.SCHEDULE_TO_START
        reason = "the permit ran out before it began" if late else said(failure)
        unknown = ChangeResult(status=ChangeStatus.UNKNOWN, reason=f"no answer: {reason}"[:200])
        try:
            found = await locally(
                MutationActivities.give_up,
                change,
                summary=f"give up permit {change.permit.number}",
                **options.giving_up(),
            )
        except LOCAL_FAILURES:
            return unknown
        if not found.given_up:
            return unknown
        return ChangeResult(
            status=ChangeStatus.NOTHING_HAPPENED,
            reason=f"nothing of it was sent: {reason}"[:200],
            turn=not late,
            stands=late and found.stands,
        )

    async def propose_as_it_is(self, prepared: Prepared) -> None:
        """After a step that did not happen though what was signed stands: the campaign is told that the zone
        waits with it, as after a reading that has found nothing new. Raises Ended where the zone is to stop.
        """
        self._zone.check_stop()
        await self._reporter.announce(prepared)

    async def pause_before_again(self, result: ChangeResult) -> None:
        """After a step that did not happen, or of which it is not known: not at once again, not without
        end. Where the service is not to be called for now, once it is again.
        """
        zone, waits = self._zone, self._waits
        if result.status is ChangeStatus.ANSWERED:
            return
        if result.called_off:
            # Nobody is to wait, or has failed: it goes on under the next permit.
            zone.check_stop()
            return
        if result.hold is not None and waits.may_wait():
            await waits.for_service(result.hold)
            return
        if result.full:
            await self._wait_for_room(result)
            return
        if not result.turn and zone.without_turn < MOST_WITHOUT_A_TURN:
            zone.without_turn += 1
            await waits.pause(WITHOUT_A_TURN, "before the next turn is asked for")
            return
        zone.refused_starts += 1
        if zone.refused_starts > MOST_REFUSED_STARTS:
            # What is damaged stays so until a person sees to it, whatever was tried before.
            code = ReasonCode.ARCHIVE_DAMAGED if result.damaged else ReasonCode.GIVEN_UP
            tried = Reason(code=code, count=MOST_REFUSED_STARTS, said=result.reason)
            raise Ended(ZoneOutcome.FAILED, tried)
        unknown = result.status is ChangeStatus.UNKNOWN
        if unknown or zone.refused_starts > 1:
            policy = zone.start.policy
            settling = policy.request_limit + policy.margin if unknown else timedelta(0)
            pause = max(settling, timedelta(seconds=min(60, 2 ** max(0, zone.refused_starts - 2))))
            await waits.pause(pause, f"before the next try: {result.reason}"[:100])

    async def _wait_for_room(self, result: ChangeResult) -> None:
        """The roots let no more commits through for now: that is no failure, however long it takes. Its
        permit goes back, so that zones of other waves go on meanwhile.
        """
        zone = self._zone
        zone.enter(ZonePhase.AWAITING_PERMIT)
        why = Reason(code=ReasonCode.NO_ROOM_BY_ROOTS, said=result.reason)
        await self._reporter.tell(ZoneWord(ReportKind.WAITING, why=(why,)))
        pause = min(LONGEST_FULL, WITHOUT_A_TURN * 2 ** min(zone.times_full, 4))
        zone.times_full += 1
        await self._waits.pause(pause, "before the roots are asked for room again")
