"""The WAF migration of one zone: check, configuration, validation window, sign-off, commit, verification.

Its history is kept small on purpose (docs/decisions.md): readings are local activities, each mutating step is
one fenced remote activity, and one signal brings the decision on a fingerprint together with the permit.
"""

from __future__ import annotations

import asyncio
import builtins
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    FailureError,
    TimeoutError,
    TimeoutType,
)

with workflow.unsafe.imports_passed_through():
    from activities.evidence import EvidenceActivities
    from activities.mutations import MutationActivities
    from activities.reports import ReportActivities
    from activities.support import SupportActivities
    from activities.waf import WafActivities
    from edgeshift.areas.waf import Cause, Mode, Verdict
    from edgeshift.areas.waf_evidence import EvidenceVerdict
    from edgeshift.campaign_spec import ValidationMode
    from edgeshift.fleet import Plan, ZoneOutcome
    from edgeshift.messages import (
        Announce,
        Answer,
        Change,
        ChangeResult,
        ChangeStatus,
        Expire,
        Gathered,
        GatherEvidence,
        OpenTicket,
        PermitGrant,
        Prepare,
        Prepared,
        ReportKind,
        Revoke,
        Ruling,
        Step,
        Stop,
        SupportResolved,
        Verification,
        Verify,
        ZoneCarried,
        ZonePhase,
        ZoneReport,
        ZoneResult,
        ZoneStart,
        ZoneState,
    )
    from edgeshift.sign_off import Choice, Decision, Tally, refusal, tally
    from edgeshift.temporal import FINGERPRINT, PHASE
    from workflows import options
    from workflows.signals import one_message

MOST_REFUSED_STARTS = 20
"""How often a step that provably did not happen is tried again before the zone fails."""

MOST_DECISIONS = 100
"""Decisions kept of one zone; a flood beyond it is not kept."""


LOCAL_FAILURES = (ActivityError, ApplicationError)
"""What a failed activity raises: a local one that is not retryable comes as the bare ApplicationError."""


class Ended(Exception):
    """The zone's attempt is over, with this outcome."""

    def __init__(self, outcome: ZoneOutcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


@workflow.defn(name="WafZone")
class WafZone:
    """One zone's migration. Its id is the zone's lock for the area."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        carried = start.carried
        self._start = start
        self._sequence = carried.sequence if carried else 0
        self._resends = carried.resends if carried else 0
        self._refused_starts = 0
        self._phase = ZonePhase.ASSESSING
        self._since = workflow.now()
        self._prepared: Prepared | None = None
        self._gathered: Gathered | None = None
        if carried and carried.evidence and carried.evidence_verdict:
            self._gathered = Gathered(evidence=carried.evidence, verdict=carried.evidence_verdict, why="")
        self._validated = self._gathered is not None
        self._decisions: dict[tuple[str, str], Decision] = {}
        for decision in carried.decisions if carried else ():
            self._decisions[decision.digest, decision.by] = decision
        self._ruling: Decision | None = None
        self._grant: PermitGrant | None = PermitGrant(permit=start.permit) if start.permit else None
        self._using: int | None = None
        self._to_settle: int | None = None
        self._used: set[int] = set()
        self._revoked: set[int] = set()
        self._stop: Stop | None = None
        self._expired = False
        self._resolved: SupportResolved | None = None
        self._tickets: list[str] = []
        self._ignored: list[str] = []
        self._drifted_from = ""
        self._sent: Prepared | None = None
        self._validates_itself = False
        self._asked_at: datetime | None = None
        self._telling = asyncio.Lock()
        self._result: ZoneResult | None = None

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the zone to an outcome, tell the campaign, and say how it ended."""
        record = ""
        try:
            record = await self._migrate()
            outcome, reason = ZoneOutcome.MIGRATED, "new WAF on, previous one off, stored rules as signed"
        except Ended as ended:
            outcome, reason = ended.outcome, ended.reason
        except LOCAL_FAILURES as failure:
            # Whoever may have committed does not know that it failed.
            outcome = ZoneOutcome.FAILED if self._sent is None else ZoneOutcome.UNKNOWN
            reason = _say(failure)
        self._enter(ZonePhase.CLOSED)
        prepared = self._prepared
        self._result = ZoneResult(
            outcome=outcome,
            reason=reason[:300],
            digest=prepared.digest if prepared else "",
            fingerprint=prepared.fingerprint if prepared else "",
            record=record,
        )
        await self._tell(ReportKind.FINISHED, outcome=outcome, reason=reason[:120])
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self._result

    # --- the way of a zone

    async def _migrate(self) -> str:
        """From the first reading to the verified migration; the archived result. Raises Ended."""
        while True:
            prepared = await self._prepare()
            if prepared.verdict is not Verdict.NEEDS_SUPPORT:
                self._resolved = None
            match prepared.verdict:
                case Verdict.ALREADY_MIGRATED if self._sent is not None:
                    return await self._committed(
                        self._sent, "the outcome was unknown; the status shows it now"
                    )
                case Verdict.ALREADY_MIGRATED:
                    raise Ended(ZoneOutcome.ALREADY_MIGRATED, "; ".join(prepared.reasons))
                case Verdict.NEEDS_SUPPORT:
                    await self._wait_for_support(prepared.causes, "; ".join(prepared.reasons))
                    continue
                case Verdict.BLOCKED if prepared.step is Step.DELETE_OVERRIDES:
                    await self._delete_overrides(prepared)
                    continue
                case Verdict.BLOCKED:
                    raise Ended(ZoneOutcome.BLOCKED, "; ".join(prepared.reasons))
            if self._enterprise and not self._validated and not await self._validate(prepared):
                continue
            grant = await self._signed_off(prepared)
            if grant is None:
                continue
            if record := await self._commit(prepared, grant):
                return record

    @property
    def _enterprise(self) -> bool:
        return self._start.target.zone.plan is Plan.ENTERPRISE

    async def _prepare(self) -> Prepared:
        """Read the zone, archive what was read, make the proposal; announce it where nothing else comes
        first.
        """
        self._check_stop()
        self._enter(ZonePhase.ASSESSING)
        self._sequence += 1
        settles, self._to_settle = self._to_settle, None
        async with self._telling:
            prepared: Prepared = await workflow.execute_local_activity_method(
                WafActivities.prepare,
                Prepare(
                    start=self._start,
                    sequence=self._sequence,
                    announce=not self._enterprise or self._validated,
                    joins=self._joins,
                    settles=settles,
                ),
                summary="read, archive, propose",
                **options.reading(self._start.policy),
            )
        self._prepared = prepared
        return prepared

    async def _wait_for_support(self, causes: tuple[Cause, ...], reason: str, said: str = "") -> None:
        """Open a ticket for each cause and wait for a person's word that it is mended. Raises Ended when none
        comes.
        """
        assert self._prepared is not None
        for cause in causes:
            ticket = await workflow.execute_local_activity_method(
                SupportActivities.open_ticket,
                OpenTicket(start=self._start, cause=cause, snapshot=self._prepared.snapshot, refusal=said),
                summary=f"ticket: {cause.value}",
                **options.reading(self._start.policy),
            )
            if ticket.location not in self._tickets:
                self._tickets.append(ticket.location)
        self._enter(ZonePhase.NEEDS_SUPPORT)
        await self._tell(ReportKind.SUPPORT, reason=reason[:120])
        if await self._until(lambda: self._resolved is not None, self._start.policy.waits_for_support):
            self._resolved = None
            return
        raise Ended(ZoneOutcome.NEEDS_SUPPORT, reason)

    async def _delete_overrides(self, prepared: Prepared) -> None:
        """With consent and a sign-off of exactly these overrides: delete them, then read the zone again."""
        grant = await self._signed_off(prepared)
        if grant is None:
            return
        self._enter(ZonePhase.DELETING_OVERRIDES)
        result = await self._change(prepared, grant)
        if result.status is ChangeStatus.REFUSED:
            raise Ended(ZoneOutcome.FAILED, f"deleting the URI overrides was refused: {result.reason}")
        await self._pause_before_again(result)

    async def _validate(self, prepared: Prepared) -> bool:
        """The validation window of an Enterprise zone: each mode in turn, then the evidence of it.

        False: the zone has to be read and proposed anew.
        """
        policy = self._start.policy
        if prepared.verdict is Verdict.IN_VALIDATION and not self._validates_itself:
            mode = ValidationMode.ENFORCE if prepared.matches_entry_point else ValidationMode.SHADOW
            # Nothing is sent: the permit that it was started with goes back with the next word.
            if self._grant is not None:
                self._to_settle, self._grant = self._grant.permit.number, None
            await self._window(prepared, mode, "in validation already, window counts from adoption")
        else:
            for mode in policy.modes:
                if not await self._start_validation(prepared, mode):
                    return False
                await self._window(prepared, mode, f"validation window ({mode.value})")
                if not self._joins and mode is not policy.modes[-1]:
                    # What did not pass while it only logged must not begin to block: people look first.
                    await self._announce(prepared)
                    break
        self._validated = True
        return True

    async def _start_validation(self, prepared: Prepared, mode: ValidationMode) -> bool:
        while True:
            grant = await self._permit_for_validation()
            self._enter(ZonePhase.STARTING_VALIDATION)
            result = await self._change(prepared, grant, mode)
            if result.status is ChangeStatus.REFUSED:
                await self._refused(result)
                return False
            if result.status in (ChangeStatus.ANSWERED, ChangeStatus.UNKNOWN):
                self._validates_itself = True
                if result.seen:
                    return True
                found = await self._verify(prepared, Mode.VALIDATION, shadow=mode is ValidationMode.SHADOW)
                if found.reached:
                    return True
                if not found.unchanged or self._resends >= self._start.policy.resend_unchanged:
                    raise Ended(
                        ZoneOutcome.UNKNOWN, f"the validation was sent but does not show: {found.reason}"
                    )
                self._resends += 1
            await self._pause_before_again(result)

    async def _permit_for_validation(self) -> PermitGrant:
        """The permit that the zone was started with, or a new one."""
        if not self._usable(self._grant):
            self._enter(ZonePhase.AWAITING_VALIDATION)
            await self._tell(ReportKind.READY, step=Step.VALIDATE)
            await self._until(lambda: self._usable(self._grant), None)
        self._check_stop()
        assert self._grant is not None
        return self._grant

    async def _window(self, prepared: Prepared, mode: ValidationMode, why: str) -> None:
        """Let the window pass, then judge what it saw."""
        self._enter(ZonePhase.VALIDATING)
        await self._tell(ReportKind.WAITING, reason=why)
        since = workflow.now()
        await self._until(lambda: False, self._start.policy.validation_window, summary=why)
        self._enter(ZonePhase.GATHERING_EVIDENCE)
        self._sequence += 1
        async with self._telling:
            self._gathered = await workflow.execute_local_activity_method(
                EvidenceActivities.gather,
                GatherEvidence(
                    start=self._start,
                    since=since,
                    until=workflow.now(),
                    mode=mode,
                    proposal=prepared.proposal,
                    digest=prepared.digest,
                    fingerprint=prepared.fingerprint,
                    sequence=self._sequence,
                    announce=mode is self._start.policy.modes[-1]
                    or prepared.verdict is Verdict.IN_VALIDATION,
                    comparable=prepared.verdict is not Verdict.IN_VALIDATION or prepared.comparable,
                ),
                summary="evidence of the window",
                **options.reading(self._start.policy),
            )

    async def _signed_off(self, prepared: Prepared) -> PermitGrant | None:
        """Wait for the sign-off of this proposal and for the permit. None: it has to be proposed anew.

        Raises Ended on a rejection, on expiry and on abort.
        """
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
            )
            verdict = self._tally(prepared)
            if verdict is Tally.REJECTED:
                by = self._rejection(prepared)
                raise Ended(ZoneOutcome.REJECTED, f"rejected by {by.by}: {by.reason or 'no reason given'}")
            if verdict is Tally.APPROVED:
                break
            if self._usable(self._grant):
                # A permit whose decisions do not count for this proposal: it goes back.
                await self._give_back(prepared)
            elif self._expired:
                raise Ended(ZoneOutcome.ON_HOLD, "nobody signed it off in time; reopen it when somebody will")
            self._ruling = None
            self._continue_if_suggested()
        if not self._usable(self._grant):
            self._enter(ZonePhase.AWAITING_PERMIT)
            await self._tell(ReportKind.READY, step=prepared.step, fingerprint=prepared.fingerprint)
            await self._until(lambda: self._usable(self._grant), None)
        self._check_stop()
        return self._grant

    async def _commit(self, prepared: Prepared, grant: PermitGrant) -> str:
        """Send it, once, and find out what happened. The archived result, or empty to propose anew. Raises
        Ended.
        """
        self._enter(ZonePhase.COMMITTING)
        result = await self._change(prepared, grant)
        if result.status is ChangeStatus.DRIFTED:
            # The evidence was of the rules as they were: an Enterprise zone is validated anew.
            self._drifted_from = prepared.digest
            self._validated, self._gathered, self._asked_at = False, None, None
            return ""
        if result.status is ChangeStatus.REFUSED:
            await self._refused(result)
            return ""
        if result.status is ChangeStatus.NOTHING_HAPPENED:
            await self._pause_before_again(result)
            return ""
        self._sent = prepared
        return await self._committed(prepared, result.reason)

    async def _committed(self, prepared: Prepared, answer: str) -> str:
        """A commit was sent, or may have been: the archived result, or empty to propose anew."""
        self._enter(ZonePhase.VERIFYING)
        found = await self._verify(prepared, Mode.PENDING)
        if found.reached and found.record:
            return found.record
        if found.reached:
            raise Ended(ZoneOutcome.FAILED, found.reason)
        if not found.unchanged:
            raise Ended(ZoneOutcome.UNKNOWN, f"{found.reason}; a person has to look at it")
        if self._resends >= self._start.policy.resend_unchanged:
            raise Ended(ZoneOutcome.UNKNOWN, f"{answer or 'sent'}; {found.reason}; retry it by hand")
        self._resends += 1
        return ""

    # --- steps of it

    async def _change(
        self, prepared: Prepared, grant: PermitGrant, mode: ValidationMode | None = None
    ) -> ChangeResult:
        """One mutating step under a permit. Whatever cannot be shown not to have happened is unknown."""
        self._grant = None
        self._using = grant.permit.number
        self._used.add(grant.permit.number)
        change = Change(
            start=self._start.model_copy(update={"permit": None, "carried": None}),
            step=grant.permit.step,
            permit=grant.permit,
            snapshot=prepared.snapshot,
            proposal=prepared.proposal,
            digest=prepared.digest,
            fingerprint=prepared.fingerprint,
            config=prepared.config,
            mode=mode,
            decisions=tuple(self._counting(prepared, grant)),
            window=self._start.policy.send_window,
        )
        try:
            return await workflow.execute_activity_method(
                MutationActivities.change,
                change,
                summary=f"{grant.permit.step.value} under permit {grant.permit.number}",
                **options.changing(change, grant.permit.expires_at - workflow.now()),
            )
        except ActivityError as failure:
            cause = failure.cause
            if isinstance(cause, TimeoutError) and cause.type is TimeoutType.SCHEDULE_TO_START:
                return ChangeResult(
                    status=ChangeStatus.NOTHING_HAPPENED, reason="the permit ran out before it began"
                )
            return ChangeResult(status=ChangeStatus.UNKNOWN, reason=f"no answer: {_say(failure)}"[:200])
        finally:
            self._using = None
            self._to_settle = grant.permit.number

    async def _verify(self, prepared: Prepared, mode: Mode, shadow: bool = False) -> Verification:
        verify = Verify(
            start=self._start.model_copy(update={"permit": None, "carried": None}),
            mode=mode,
            proposal=prepared.proposal,
            snapshot=prepared.snapshot,
            digest=prepared.digest,
            evidence=self._gathered.evidence if self._gathered else "",
            limit=self._start.policy.migration_limit,
            shadow=shadow,
        )
        return await workflow.execute_activity_method(
            WafActivities.verify,
            verify,
            summary=f"until the status shows {mode.value}",
            **options.verifying(verify),
        )

    async def _refused(self, result: ChangeResult) -> None:
        """The service refused the step: a support case, or the end of the attempt."""
        if result.cause is None:
            raise Ended(ZoneOutcome.FAILED, f"the service refused it: {result.reason}")
        await self._wait_for_support(
            (result.cause,), f"the service refused it: {result.reason}", result.reason
        )

    async def _pause_before_again(self, result: ChangeResult) -> None:
        """After a step that did not happen: not at once again, and not without end."""
        if result.status is not ChangeStatus.NOTHING_HAPPENED:
            return
        self._refused_starts += 1
        if self._refused_starts > MOST_REFUSED_STARTS:
            raise Ended(ZoneOutcome.FAILED, f"given up after {MOST_REFUSED_STARTS} tries: {result.reason}")
        if self._refused_starts > 1:
            pause = timedelta(seconds=min(60, 2 ** (self._refused_starts - 2)))
            await self._until(lambda: False, pause, summary=f"before the next try: {result.reason}"[:100])

    async def _give_back(self, prepared: Prepared) -> None:
        assert self._grant is not None
        self._to_settle, self._grant = self._grant.permit.number, None
        await self._announce(prepared)

    async def _announce(self, prepared: Prepared) -> None:
        """Tell the campaign that the zone waits for its own sign-off."""
        await self._tell(
            ReportKind.AWAITING,
            step=prepared.step,
            digest=prepared.digest,
            fingerprint=prepared.fingerprint,
            joins=False,
        )

    # --- what it knows

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

    @property
    def _joins(self) -> bool:
        return self._gathered is None or self._gathered.verdict is EvidenceVerdict.PASS

    def _tally(self, prepared: Prepared) -> Tally:
        return tally(
            self._counting(prepared, self._grant if self._usable(self._grant) else None),
            frozenset({prepared.digest, prepared.fingerprint}),
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

    # --- waiting and telling

    async def _until(self, found: object, limit: timedelta | None, summary: str | None = None) -> bool:
        """Wait for a condition, for at most ``limit``; whether it came. Raises Ended when the campaign is
        aborted.
        """
        assert callable(found)
        try:
            await workflow.wait_condition(
                lambda: self._stop is not None or bool(found()), timeout=limit, timeout_summary=summary
            )
        except builtins.TimeoutError:
            return False
        self._check_stop()
        return True

    def _check_stop(self) -> None:
        if self._stop is not None:
            raise Ended(
                ZoneOutcome.ABORTED,
                f"campaign aborted by {self._stop.by}: {self._stop.reason or 'no reason'}",
            )

    def _enter(self, phase: ZonePhase) -> None:
        self._phase, self._since = phase, workflow.now()
        workflow.set_current_details(
            f"**{phase.value.replace('_', ' ')}** since {self._since:%Y-%m-%d %H:%M:%S} UTC"
        )

    async def _tell(
        self,
        kind: ReportKind,
        *,
        settles: int | None = None,
        unused: bool = False,
        step: Step | None = None,
        digest: str = "",
        fingerprint: str = "",
        joins: bool = True,
        outcome: ZoneOutcome | None = None,
        reason: str = "",
    ) -> None:
        """Tell the campaign. One word at a time, so that none overtakes another; a campaign that is gone is
        no error.
        """
        async with self._telling:
            self._sequence += 1
            if settles is None:
                settles, self._to_settle = self._to_settle, None
            report = ZoneReport(
                campaign_run=self._start.campaign_run,
                index=self._start.index,
                attempt=self._start.attempt,
                sequence=self._sequence,
                kind=kind,
                settles=settles,
                unused=unused,
                step=step,
                digest=digest,
                fingerprint=fingerprint,
                joins=joins,
                outcome=outcome,
                reason=reason,
            )
            try:
                await workflow.execute_local_activity_method(
                    ReportActivities.tell,
                    Announce(campaign=self._start.campaign, report=report),
                    summary=f"tell the campaign: {kind.value}",
                    **options.telling(),
                )
            except LOCAL_FAILURES as failure:
                self._ignored.append(f"the campaign could not be told: {_say(failure)}"[:150])

    def _continue_if_suggested(self) -> None:
        """A storm of messages must not end a zone that waits: it goes on in a new run with what it knows."""
        if workflow.info().is_continue_as_new_suggested() and workflow.all_handlers_finished():
            workflow.continue_as_new(
                self._start.model_copy(
                    update={
                        "permit": None,
                        "carried": ZoneCarried(
                            sequence=self._sequence,
                            resends=self._resends,
                            decisions=tuple(self._decisions.values()),
                            evidence=self._gathered.evidence if self._gathered else "",
                            evidence_verdict=self._gathered.verdict if self._gathered else None,
                        ),
                    }
                )
            )

    # --- messages from people

    def _misses(self, decision: Decision) -> str | None:
        """Why this decision cannot count now, or None."""
        if self._result is not None:
            return f"the zone is closed ({self._result.outcome.value})"
        if reason := refusal(decision, self._start.policy.sign_off, self._start.started_by):
            return reason
        prepared = self._prepared
        if self._phase is not ZonePhase.AWAITING_SIGN_OFF or prepared is None:
            return f"the zone does not wait for a sign-off; it is {self._phase.value.replace('_', ' ')}"
        if decision.digest not in (prepared.digest, prepared.fingerprint):
            return f"the digest is not the one that waits, which is {prepared.digest}"
        if decision.digest == prepared.fingerprint != prepared.digest and not self._joins:
            return "the zone's own evidence did not pass; sign its own digest"
        return None

    def _ignore(self, text: str) -> None:
        self._ignored = [*self._ignored[-19:], text[:200]]

    def _keep(self, decision: Decision) -> None:
        if len(self._decisions) < MOST_DECISIONS or (decision.digest, decision.by) in self._decisions:
            self._decisions[decision.digest, decision.by] = decision.model_copy(update={"at": workflow.now()})

    @workflow.signal
    @one_message
    def sign_off(self, decision: Decision) -> None:
        """A person's decision by the plain signal. One that cannot count now is kept in view, and counts if
        its digest is proposed later; one by somebody who is not listed is ignored.
        """
        if missing := self._misses(decision):
            self._ignore(f"{workflow.now():%H:%M:%S} {decision.choice.value} by {decision.by}: {missing}")
        if not refusal(decision, self._start.policy.sign_off, self._start.started_by):
            self._keep(decision)

    @workflow.update
    def decide(self, decision: Decision) -> Answer:
        """A person's decision by update, refused at once where it cannot count."""
        self._keep(decision)
        return Answer(
            text=f"{decision.choice.value} by {decision.by} counts for {self._start.target.zone.name}"
        )

    @decide.validator
    def _decide(self, decision: Decision) -> None:
        if missing := self._misses(decision):
            raise ApplicationError(missing, type="SignOffRefused", non_retryable=True)

    @workflow.signal
    @one_message
    def support_resolved(self, message: SupportResolved) -> None:
        """A person's word that the zone's support case is mended: it is read anew.

        The ticket is there before the zone waits for it, so that a quick word may come while it is read.
        """
        if self._phase in (ZonePhase.NEEDS_SUPPORT, ZonePhase.ASSESSING):
            self._resolved = message
        else:
            self._ignore(f"support resolved by {message.by}: the zone does not wait for support")

    # --- messages from the campaign

    @workflow.signal
    @one_message
    def permit(self, grant: PermitGrant) -> None:
        """A permit, maybe with decisions on the fingerprint. One that was used is not believed again."""
        if grant.permit.number not in self._used and grant.permit.index == self._start.index:
            self._grant = grant

    @workflow.signal
    @one_message
    async def revoke(self, message: Revoke) -> None:
        """The campaign takes a permit back; it is told once the permit is settled.

        The word may overtake the permit itself, which then finds itself revoked.
        """
        self._revoked.add(message.number)
        unused = message.number not in self._used
        await workflow.wait_condition(lambda: self._using != message.number)
        validates = self._phase is ZonePhase.AWAITING_VALIDATION
        step = Step.VALIDATE if validates else self._prepared.step if self._prepared else None
        await self._tell(
            ReportKind.SETTLED, settles=message.number, unused=unused, step=step if unused else None
        )

    @workflow.signal
    @one_message
    def ruling(self, message: Ruling) -> None:
        """The zone's fingerprint was rejected."""
        self._ruling = message.decision

    @workflow.signal
    @one_message
    def expire(self, message: Expire) -> None:
        """The zone has waited for its sign-off as long as the policy says."""
        if message.attempt == self._start.attempt and self._phase is ZonePhase.AWAITING_SIGN_OFF:
            self._expired = True

    @workflow.signal
    @one_message
    def stop(self, message: Stop) -> None:
        """The campaign was aborted. What has been sent is still seen through."""
        self._stop = message

    @workflow.query
    def state(self) -> ZoneState:
        """Where the zone is and what it waits for."""
        prepared, gathered = self._prepared, self._gathered
        return ZoneState(
            zone=self._start.target.zone,
            campaign=self._start.campaign,
            wave=self._start.target.wave,
            attempt=self._start.attempt,
            phase=self._phase,
            since=self._since,
            step=prepared.step if prepared else None,
            digest=prepared.digest if prepared else "",
            fingerprint=prepared.fingerprint if prepared else "",
            proposal=prepared.proposal if prepared else "",
            snapshot=prepared.snapshot if prepared else "",
            evidence=gathered.evidence if gathered else "",
            evidence_verdict=gathered.verdict if gathered else None,
            decisions=list(self._decisions.values()),
            ignored=self._ignored,
            reasons=list(prepared.reasons) if prepared else [],
            drifted_from=self._drifted_from,
            tickets=self._tickets,
            outcome=self._result.outcome if self._result else None,
        )


def _say(failure: FailureError) -> str:
    """The innermost reason of a failed activity, short."""
    cause: BaseException = failure
    while isinstance(cause, ActivityError) and cause.cause is not None:
        cause = cause.cause
    return str(cause)[:250] or type(cause).__name__
