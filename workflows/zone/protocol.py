"""What every zone's workflow says and hears: words to its campaign, messages from people and from the
campaign.

It holds the zone's state; what is done with it is in workflows/zone/steps.py and in the workflow of each
area.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, TimeoutError

with workflow.unsafe.imports_passed_through():
    from activities.reports import ReportActivities
    from edgeshift.areas.waf.evidence import EvidenceVerdict
    from edgeshift.campaign.target_states import LAST_WORDS
    from edgeshift.messages import (
        CANCELLATION,
        LEFT_ALONE,
        OUTLIVED,
        Announce,
        Answer,
        Expire,
        Gathered,
        GoOn,
        PermitGrant,
        Prepared,
        ReportKind,
        Revoke,
        Ruling,
        Step,
        Stop,
        SupportResolved,
        ZoneCarried,
        ZonePhase,
        ZoneReport,
        ZoneResult,
        ZoneStart,
        ZoneState,
    )
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.sign_off import Decision, refusal
    from edgeshift.rate_limit.circuit import ServiceHold
    from workflows import options
    from workflows.local import locally
    from workflows.messages import one_message, refuse_nonsense

MOST_DECISIONS = 100
"""Decisions kept of one zone."""

LOCAL_FAILURES = (ActivityError, ApplicationError)
"""What a failed activity raises: a local one that is not retryable comes as the bare ApplicationError."""


HELD = ("ServiceHeld", "InvalidCredential", "CredentialMissing")
"""Types of failures that are no fault of the zone's: it waits until the service may be called again."""


class Ended(Exception):
    """The zone's attempt is over, with this outcome."""

    def __init__(self, outcome: ZoneOutcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class ZoneProtocol:
    """The state of one zone, and its messages."""

    def __init__(self, start: ZoneStart) -> None:
        carried = start.carried
        self._start = start
        self._sequence = carried.sequence if carried else 0
        self._resends = carried.resends if carried else 0
        self._refused_starts = 0
        self._without_turn = 0
        self._phase = ZonePhase.ASSESSING
        self._since = workflow.now()
        self._prepared: Prepared | None = None
        self._gathered: Gathered | None = None
        if carried and carried.evidence and carried.evidence_verdict:
            self._gathered = Gathered(evidence=carried.evidence, verdict=carried.evidence_verdict, why="")
        self._validated_rules = (carried.validated or "") if carried else ""
        # In the middle of it, some of the evidence is there already.
        self._validated = self._gathered is not None and carried is not None and carried.validated != ""
        self._decisions: dict[tuple[str, str], Decision] = {}
        for decision in carried.decisions if carried else ():
            self._decisions[decision.digest, decision.by] = decision
        self._ruling: Decision | None = None
        self._grant: PermitGrant | None = carried.grant if carried else None
        if start.permit:
            self._grant = PermitGrant(campaign_run=start.campaign_run, permit=start.permit)
        self._using: int | None = None
        self._to_settle: int | None = carried.to_settle if carried else None
        self._used: set[int] = set(carried.used if carried else ())
        self._revoked: set[int] = set(carried.revoked if carried else ())
        self._stop: Stop | None = None
        self._expired = False
        self._resolved: SupportResolved | None = None
        self._tickets: list[str] = list(carried.tickets) if carried else []
        self._ignored: list[str] = []
        self._drifted_from = carried.drifted_from if carried else ""
        self._drifted_proposal = carried.drifted_proposal if carried else ""
        self._sent: Prepared | None = carried.sent if carried else None
        self._begun: Prepared | None = carried.begun if carried else None
        self._validates_itself = carried.validates_itself if carried else False
        self._asked_at: datetime | None = carried.asked_at if carried else None
        self._telling = asyncio.Lock()
        self._service_hold: ServiceHold | None = None
        self._waits = 0
        self._stood = timedelta(0)
        self._told_to_go_on = False
        self._result: ZoneResult | None = None
        self._rejected = ""

    first_step: Step = Step.VALIDATE
    """The step before the sign-off that this area's targets need a permit for, where they need one."""

    def _drift(self, prepared: Prepared) -> None:
        """The zone is no more as it was when this was signed: people see what has changed since."""
        self._drifted_from, self._drifted_proposal = prepared.digest, prepared.proposal

    @property
    def _joins(self) -> bool:
        """Whether a decision on the fingerprint may count for this zone."""
        if self._start.policy.sign_off.per == "zone":
            return False
        return self._gathered is None or self._gathered.verdict is EvidenceVerdict.PASS

    # --- waiting and telling

    async def _until(
        self,
        found: Callable[[], bool],
        limit: timedelta | None,
        summary: str | None = None,
        *,
        resumable: bool = False,
    ) -> bool:
        """Wait for a condition, for at most ``limit``; whether it came. Raises Ended when the zone is to
        stop. ``resumable``: a storm of messages, which a run cannot take without end, makes it go on in a
        new run, which reads the zone anew and waits again.
        """
        try:
            await workflow.wait_condition(
                lambda: self._stop is not None or found() or (resumable and self._is_flooded()),
                timeout=limit,
                timeout_summary=summary,
            )
        except builtins.TimeoutError:
            return False
        self._check_stop()
        if resumable and self._is_flooded() and not found():
            await workflow.wait_condition(workflow.all_handlers_finished)
            # The next run is not told of what came meanwhile: a word is said once, or not again for long.
            if self._stop is not None or found():
                self._check_stop()
                return True
            self._continue()
        return True

    def _is_flooded(self) -> bool:
        return workflow.info().is_continue_as_new_suggested()

    def _continue(self) -> None:
        carried = ZoneCarried(
            sequence=self._sequence,
            resends=self._resends,
            decisions=tuple(self._decisions.values()),
            evidence=self._gathered.evidence if self._gathered else "",
            evidence_verdict=self._gathered.verdict if self._gathered else None,
            sent=self._sent,
            begun=self._begun,
            validates_itself=self._validates_itself,
            validated=self._validated_rules,
            asked_at=self._asked_at,
            grant=self._grant,
            to_settle=self._to_settle,
            used=tuple(sorted(self._used)),
            revoked=tuple(sorted(self._revoked)),
            tickets=tuple(self._tickets),
            drifted_from=self._drifted_from,
            drifted_proposal=self._drifted_proposal,
        )
        workflow.continue_as_new(self._start.model_copy(update={"permit": None, "carried": carried}))

    def _check_stop(self) -> None:
        if self._stop is not None and self._stop.by in (CANCELLATION, OUTLIVED, LEFT_ALONE):
            stands = self._stop.ended_as if self._stop.by == OUTLIVED else None
            raise Ended(stands or ZoneOutcome.ABORTED, f"ended by {self._stop.by}")
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

    def _count_word(self) -> None:
        """The number of the next word. A word that was told by a task which was then lost, and which the next
        one does not tell, for a message came in between, must not leave its number to another word: what the
        history has grown by counts too.
        """
        self._sequence = max(self._sequence + 1, workflow.info().get_current_history_length())

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
        hold: ServiceHold | None = None,
    ) -> None:
        """Tell the campaign. One word at a time, so that none overtakes another. A campaign that is gone is
        no error; of one that has come to its end the zone waits for nothing.
        """
        async with self._telling:
            self._count_word()
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
                hold=hold,
            )
            try:
                await locally(
                    ReportActivities.tell,
                    Announce(campaign=self._start.campaign, report=report),
                    summary=f"tell the campaign: {kind.value}",
                    **options.telling(),
                )
            except LOCAL_FAILURES as failure:
                self._ignored.append(f"the campaign could not be told: {said(failure)}"[:150])
                if kind not in LAST_WORDS:
                    self._stops_if_left_alone(failure)

    def _stops_if_left_alone(self, failure: BaseException) -> bool:
        """Stop, where a word to the campaign has shown that it has come to its end: nobody would grant, rule
        or expire anything. Returns whether that is so.
        """
        if not is_left_alone(failure):
            return False
        self._stop = self._stop or Stop(by=LEFT_ALONE)
        return True

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
            return "a decision on the fingerprint does not count for this zone; sign its own digest"
        return None

    def _ignore(self, text: str) -> None:
        self._ignored = [*self._ignored[-19:], text[:200]]

    def _keep(self, decision: Decision) -> None:
        """Keep a decision with the time at which it came. Where there are too many, one that is about another
        digest than the present one gives way.
        """
        key = (decision.digest, decision.by)
        if key not in self._decisions and len(self._decisions) >= MOST_DECISIONS:
            prepared = self._prepared
            present = {prepared.digest, prepared.fingerprint} if prepared else set()
            others = (kept for kept in self._decisions if kept[0] not in present)
            if (other := next(others, None)) is None:
                return
            del self._decisions[other]
        self._decisions[key] = decision.model_copy(update={"at": workflow.now()})

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
        refuse_nonsense(decision)
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

    def _is_mine(self, campaign_run: str) -> bool:
        """Whether this zone's campaign says it: another one may have had the zone before, or has it no
        more.
        """
        if campaign_run != self._start.campaign_run:
            self._ignore("a message of another campaign")
            return False
        return True

    @workflow.signal
    @one_message
    def permit(self, grant: PermitGrant) -> None:
        """A permit, maybe with decisions on the fingerprint. One that was used is not believed again."""
        if not self._is_mine(grant.campaign_run):
            return
        if grant.permit.number not in self._used and grant.permit.index == self._start.index:
            self._grant = grant

    @property
    def _moves_forward(self) -> bool:
        """Whether a step is under way for which the campaign gave a permit. The way back, whose numbers are
        below zero, is held up by nothing, and holds nothing up.
        """
        return self._using is not None and self._using >= 0

    @workflow.signal
    @one_message
    async def revoke(self, message: Revoke) -> None:
        """The campaign takes a permit back; it is told once the permit is settled, and nothing can be sent
        under any other: one that was reset may take back what it knows of while an earlier one is in use.

        The word may overtake the permit itself, which then finds itself revoked.
        """
        if not self._is_mine(message.campaign_run):
            return
        self._revoked.add(message.number)
        unused = message.number not in self._used
        await workflow.wait_condition(lambda: not self._moves_forward)
        first = self._phase in (ZonePhase.AWAITING_VALIDATION, ZonePhase.AWAITING_FIRST_PERMIT)
        step = self.first_step if first else self._prepared.step if self._prepared else None
        await self._tell(
            ReportKind.SETTLED, settles=message.number, unused=unused, step=step if unused else None
        )

    @workflow.signal
    @one_message
    def ruling(self, message: Ruling) -> None:
        """The zone's fingerprint was rejected."""
        if self._is_mine(message.campaign_run) and message.attempt in (0, self._start.attempt):
            self._ruling = message.decision

    @workflow.signal
    @one_message
    def expire(self, message: Expire) -> None:
        """The zone has waited for its sign-off as long as the policy says."""
        mine = self._is_mine(message.campaign_run)
        if mine and message.attempt == self._start.attempt and self._phase is ZonePhase.AWAITING_SIGN_OFF:
            self._expired = True

    @workflow.signal
    @one_message
    def stop(self, message: Stop) -> None:
        """The campaign was aborted, or the attempt is over for it. What was sent is still seen through."""
        if self._is_mine(message.campaign_run) and message.attempt in (0, self._start.attempt):
            self._stop = message

    @workflow.signal
    @one_message
    def go_on(self, message: GoOn) -> None:
        """The service answers again."""
        if self._is_mine(message.campaign_run):
            self._told_to_go_on = True

    @workflow.query
    def state(self) -> ZoneState:
        """Where the zone is and what it waits for."""
        prepared, gathered = self._prepared, self._gathered
        return ZoneState(
            zone=self._start.target.zone,
            campaign=self._start.campaign,
            wave=self._start.target.wave,
            attempt=self._start.attempt,
            sequence=self._sequence,
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
            drifted_proposal=self._drifted_proposal,
            tickets=self._tickets,
            outcome=self._result.outcome if self._result else None,
            hold=self._service_hold,
        )


def said(failure: FailureError) -> str:
    """The innermost reason of a failed activity, short. Of one that was tried until its time was over, which
    one it was: the server does not say what went wrong last.
    """
    cause: BaseException = failure
    tried = ""
    while isinstance(cause, ActivityError) and cause.cause is not None:
        tried, cause = cause.activity_type, cause.cause
    if isinstance(cause, TimeoutError) and tried:
        last = f": {cause.cause}" if cause.cause is not None else ""
        return f"{tried.replace('_', ' ')} did not succeed in time, however often it was tried{last}"[:250]
    return str(cause)[:250] or type(cause).__name__


def is_left_alone(failure: BaseException) -> bool:
    """Whether an activity failed because the campaign has come to its end."""
    cause = _innermost(failure)
    return isinstance(cause, ApplicationError) and cause.type == "CampaignClosed"


def _innermost(failure: BaseException) -> BaseException | None:
    cause: BaseException | None = failure
    while isinstance(cause, ActivityError):
        cause = cause.cause
    return cause


def hold_in(failure: BaseException) -> ServiceHold | None:
    """Why the service is not to be called for now, where that is why an activity failed; or None."""
    cause = _innermost(failure)
    if not isinstance(cause, ApplicationError) or cause.type not in HELD or not cause.details:
        return None
    return ServiceHold.model_validate(cause.details[0])
