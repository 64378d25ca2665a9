"""What the zones of every area do alike: waiting for a sign-off, a permit, support; one fenced step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, TimeoutError, TimeoutType

with workflow.unsafe.imports_passed_through():
    from activities.change.door import MutationActivities
    from activities.tickets import SupportActivities
    from edgeshift.areas.waf import Cause
    from edgeshift.campaign_file.spec import ValidationMode
    from edgeshift.messages import (
        CANCELLATION,
        UNSIGNED,
        Change,
        ChangeResult,
        ChangeStatus,
        OpenTicket,
        Part,
        PermitGrant,
        Prepared,
        ReportKind,
        Step,
        Stop,
        TicketOpened,
        ZonePhase,
        ZoneResult,
        ZoneStart,
    )
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.sign_off import Choice, Decision, Tally, refusal, tally
    from edgeshift.runtime.temporal import FINGERPRINT, PHASE
    from workflows import options
    from workflows.local import locally
    from workflows.zone.outage import ServiceWaiting
    from workflows.zone.protocol import LOCAL_FAILURES, Ended, said


@dataclass(frozen=True)
class Reached:
    """Where a target's course has led: the outcome, why, and the archived record of it."""

    outcome: ZoneOutcome
    reason: str
    record: str = ""


LOOKS_BACK = "what was sent before is waited for"
"""What a target says that is about to end, and that may have been changed by an earlier attempt."""

MOST_REFUSED_STARTS = 20
"""How often a step that did not come about is tried again before the zone fails."""

MOST_WITHOUT_A_TURN = 200
"""How often a step that had no turn within the rate limit is tried again, beside its other tries."""

WITHOUT_A_TURN = timedelta(minutes=1)
"""How long after."""

KEPT_BY_THEMSELVES = frozenset({ZoneOutcome.MIGRATED, ZoneOutcome.SETTLED, ZoneOutcome.ROLLED_BACK})
"""Ends that follow from what the history has already. To any other one, a reading or a message of the very
task may have led: where that task is lost, and the zone reads or hears otherwise when it is done again, the
zone goes on. So its campaign must not have heard of the end yet.
"""


class ZoneWorkflow(ServiceWaiting):
    """The steps that are the same in every area."""

    async def _to_an_end(self, course: Callable[[], Awaitable[Reached]]) -> ZoneResult:
        """Take the target to an outcome, tell the campaign, and say how it ended."""
        record = ""
        try:
            reached = await course()
            outcome, reason, record = reached.outcome, reached.reason, reached.record
        except Ended as ended:
            outcome, reason = ended.outcome, ended.reason
        except LOCAL_FAILURES as failure:
            # Whoever may have committed does not know that it failed.
            outcome = ZoneOutcome.FAILED if self._sent is None else ZoneOutcome.UNKNOWN
            reason = said(failure)
        await self._let_go()
        self._enter(ZonePhase.CLOSED)
        prepared = self._prepared
        self._result = ZoneResult(
            outcome=outcome,
            reason=reason[:300],
            digest=prepared.digest if prepared else "",
            fingerprint=prepared.fingerprint if prepared else "",
            record=record,
            rejected=self._rejected,
        )
        if outcome not in KEPT_BY_THEMSELVES:
            await workflow.sleep(timedelta(milliseconds=1), summary="the end is kept before it is told")
        await self._tell(ReportKind.FINISHED, outcome=outcome, reason=reason[:120])
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self._result

    async def _let_go(self) -> None:
        """Release what the target holds beside itself."""

    @property
    def _bare_start(self) -> ZoneStart:
        """What the target was started with, without what only its own workflow needs."""
        return self._start.model_copy(update={"permit": None, "carried": None})

    async def _part_left(self, look: Callable[..., Awaitable[Part]], ended: Ended) -> Part:
        """What the campaign may have left at a target that is about to end, though this run knows of nothing:
        an earlier attempt sent it, or a run that was reset, or a step whose word was lost. Raises Ended where
        nobody can say, and the end would say that the target was not touched.
        """
        self._enter(ZonePhase.VERIFYING)
        try:
            part: Part = await locally(
                look,
                self._bare_start,
                summary="what is left of earlier attempts",
                **options.reading(self._start.policy),
            )
        except LOCAL_FAILURES as failure:
            if ended.outcome is ZoneOutcome.FAILED:
                return Part()
            raise Ended(
                ZoneOutcome.UNKNOWN,
                f"{ended.reason}; whether a part of the change is left cannot be said: {said(failure)};"
                " a person has to look at it",
            ) from None
        return part

    async def _looked_for(self, part: Part) -> timedelta:
        """Tell the campaign that what is left is looked for, and for how long: as long as it may show, or for
        one look more.
        """
        await self._tell(ReportKind.WAITING, reason=LOOKS_BACK)
        policy = self._start.policy
        return policy.migration_limit if part.may_show else 2 * policy.poll

    async def _permit_for(self, step: Step, phase: ZonePhase) -> PermitGrant:
        """A permit for a step that comes before the sign-off: the one it was started with, or a new one."""
        self._put_back_what_ran_out()
        if not self._usable(self._grant):
            self._enter(phase)
            await self._tell(ReportKind.READY, step=step)
            await self._until(lambda: self._usable(self._grant), None, resumable=True)
        self._check_stop()
        assert self._grant is not None
        return self._grant

    async def _signed_off(self, prepared: Prepared) -> PermitGrant | None:
        """Wait for the sign-off of this proposal and for the permit. None: it has to be proposed anew.

        Raises Ended on a rejection, on expiry and on abort.
        """
        self._refuse_rejected(prepared)
        self._expired = False
        self._enter(ZonePhase.AWAITING_SIGN_OFF)
        self._asked_at = self._asked_at or workflow.now()
        workflow.upsert_search_attributes(
            [PHASE.value_set("proposed"), FINGERPRINT.value_set(prepared.fingerprint)]
        )
        while True:
            await self._until(
                lambda: (
                    self._usable(self._grant)
                    or self._ruling is not None
                    or self._expired
                    or self._tally(prepared) is not Tally.WAITING
                ),
                None,
                resumable=True,
            )
            verdict = self._tally(prepared)
            if verdict is Tally.REJECTED:
                by = self._rejection(prepared)
                self._rejected = prepared.digest
                raise Ended(ZoneOutcome.REJECTED, f"rejected by {by.by}: {by.reason or 'no reason given'}")
            if verdict is Tally.APPROVED:
                break
            if self._usable(self._grant):
                # A permit whose decisions do not count for this proposal: it goes back.
                await self._give_back(prepared)
            elif self._expired:
                raise Ended(ZoneOutcome.ON_HOLD, "nobody signed it off in time; reopen it when somebody will")
            self._ruling = None
        self._put_back_what_ran_out()
        if not self._usable(self._grant):
            self._enter(ZonePhase.AWAITING_PERMIT)
            await self._tell(ReportKind.READY, step=prepared.step, fingerprint=prepared.fingerprint)
            await self._until(lambda: self._usable(self._grant), None, resumable=True)
        self._check_stop()
        return self._grant

    def _refuse_rejected(self, prepared: Prepared) -> None:
        """Raises Ended where a person rejected this very proposal before the campaign was started anew."""
        if prepared.digest in self._start.rejected:
            self._rejected = prepared.digest
            reason = "rejected before the campaign was started anew, and proposed unchanged; reopen begins it"
            raise Ended(ZoneOutcome.REJECTED, reason)

    async def _announce(self, prepared: Prepared) -> None:
        """Tell the campaign that the zone waits for a sign-off; for its own, where one of its fingerprint
        would not count.
        """
        await self._tell(
            ReportKind.AWAITING,
            step=prepared.step,
            digest=prepared.digest,
            fingerprint=prepared.fingerprint,
            joins=self._joins,
        )

    async def _give_back(self, prepared: Prepared) -> None:
        assert self._grant is not None
        self._to_settle, self._grant = self._grant.permit.number, None
        await self._announce(prepared)

    def _put_back_what_ran_out(self) -> None:
        """Nothing could be sent under a permit that ran out while the zone paused: it goes back with the next
        word, which asks for another.
        """
        grant = self._grant
        if grant is None or grant.permit.expires_at > workflow.now():
            return
        self._to_settle, self._grant = grant.permit.number, None

    def _usable(self, grant: PermitGrant | None) -> bool:
        return grant is not None and grant.permit.number not in self._revoked

    def _counting(self, prepared: Prepared, grant: PermitGrant | None) -> list[Decision]:
        """The decisions that may count for this proposal: the zone's own, and those that came with a permit
        or ruling.

        A decision on the fingerprint counts only where the zone's own evidence passed, or where it has none.
        """
        found = [
            decision
            for decision in self._decisions.values()
            if decision.digest == prepared.digest and (self._joins or self._given_since_asked(decision))
        ]
        if self._joins:
            found += [
                item for item in (grant.decisions if grant else ()) if item.digest == prepared.fingerprint
            ]
            found += [item for item in self._decisions.values() if item.digest == prepared.fingerprint]
        if self._ruling is not None and self._ruling.digest == prepared.fingerprint:
            found.append(self._ruling)
        return found

    def _given_since_asked(self, decision: Decision) -> bool:
        """Whether a decision was given when the evidence could be read: an earlier one is not about it."""
        return decision.at is not None and self._asked_at is not None and decision.at >= self._asked_at

    def _tally(self, prepared: Prepared) -> Tally:
        return tally(
            self._counting(prepared, self._grant if self._usable(self._grant) else None),
            self._start.policy.sign_off.subjects(prepared.digest, prepared.fingerprint),
            self._start.policy.sign_off,
            self._start.started_by,
            workflow.now(),
        )

    def _rejection(self, prepared: Prepared) -> Decision:
        policy, by = self._start.policy.sign_off, self._start.started_by
        return next(
            decision
            for decision in self._counting(prepared, self._grant)
            if decision.choice is Choice.REJECT and not refusal(decision, policy, by)
        )

    async def _change(
        self, prepared: Prepared, grant: PermitGrant, mode: ValidationMode | None = None
    ) -> ChangeResult:
        """One mutating step under a permit. Whatever cannot be shown not to have happened is unknown."""
        self._grant = None
        self._using = grant.permit.number
        self._used.add(grant.permit.number)
        change = Change(
            start=self._bare_start,
            step=prepared.step if mode is None else Step.VALIDATE,
            permit=grant.permit,
            snapshot=prepared.snapshot,
            proposal=prepared.proposal,
            digest=prepared.digest,
            fingerprint=prepared.fingerprint,
            config=prepared.config,
            mode=mode,
            decisions=tuple(self._counting(prepared, grant)) if prepared.step not in UNSIGNED else (),
            window=self._start.policy.send_window,
        )
        try:
            return await workflow.execute_activity_method(
                MutationActivities.change,
                change,
                summary=f"{change.step.value} under permit {grant.permit.number}",
                **options.changing(change, grant.permit.expires_at - workflow.now()),
            )
        except ActivityError as failure:
            return await self._unanswered(change, failure)
        finally:
            if workflow.cancellation_reason() is not None:
                # What was sent is seen through, and no more is begun.
                self._stop = self._stop or Stop(by=CANCELLATION)
            self._using = None
            self._to_settle = grant.permit.number

    async def _unanswered(self, change: Change, failure: ActivityError) -> ChangeResult:
        """What is known of a change whose activity ended without a word: nothing happened where it can still
        be kept from being sent, for then it was not. Else the outcome is unknown, also where the activity
        never began: a run that was reset may have sent it.
        """
        cause = failure.cause
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
            status=ChangeStatus.NOTHING_HAPPENED, reason=f"nothing of it was sent: {reason}"[:200]
        )

    async def _pause_before_again(self, result: ChangeResult) -> None:
        """After a step that did not happen, or of which it is not known: not at once again, not without
        end. Where the service is not to be called for now, once it is again.
        """
        if result.status is ChangeStatus.ANSWERED:
            return
        if result.hold is not None and self._may_wait():
            await self._wait_for_service(result.hold)
            return
        if not result.turn and self._without_turn < MOST_WITHOUT_A_TURN:
            self._without_turn += 1
            await self._until(lambda: False, WITHOUT_A_TURN, summary="before the next turn is asked for")
            return
        self._refused_starts += 1
        if self._refused_starts > MOST_REFUSED_STARTS:
            raise Ended(ZoneOutcome.FAILED, f"given up after {MOST_REFUSED_STARTS} tries: {result.reason}")
        unknown = result.status is ChangeStatus.UNKNOWN
        if unknown or self._refused_starts > 1:
            policy = self._start.policy
            settling = policy.request_limit + policy.margin if unknown else timedelta(0)
            pause = max(settling, timedelta(seconds=min(60, 2 ** max(0, self._refused_starts - 2))))
            await self._until(lambda: False, pause, summary=f"before the next try: {result.reason}"[:100])

    async def _ticket(self, cause: Cause, snapshot: str, refusal: str) -> TicketOpened:
        """The zone's ticket for a cause, opened where there is none. ``refusal``: what the service said."""
        return await locally(
            SupportActivities.open_ticket,
            OpenTicket(start=self._start, cause=cause, snapshot=snapshot, refusal=refusal),
            summary=f"ticket: {cause.value}",
            **options.reading(self._start.policy),
        )

    async def _wait_for_support(self, causes: tuple[str, ...], reason: str, said: str = "") -> None:
        """Open a ticket for each cause and wait for a person's word that it is mended. Raises Ended when none
        comes.
        """
        assert self._prepared is not None
        for cause in causes:
            ticket = await self._ticket(Cause(cause), self._prepared.snapshot, said)
            if ticket.location not in self._tickets:
                self._tickets.append(ticket.location)
        self._enter(ZonePhase.NEEDS_SUPPORT)
        await self._tell(ReportKind.SUPPORT, reason=reason[:120])
        if await self._until(
            lambda: self._resolved is not None, self._start.policy.waits_for_support, resumable=True
        ):
            self._resolved = None
            return
        raise Ended(ZoneOutcome.NEEDS_SUPPORT, reason)

    async def _refused(self, result: ChangeResult) -> None:
        """The service refused the step: a support case, or the end of the attempt."""
        if result.cause is None:
            raise Ended(ZoneOutcome.FAILED, f"the service refused it: {result.reason}")
        await self._wait_for_support(
            (result.cause.value,), f"the service refused it: {result.reason}", result.reason
        )
