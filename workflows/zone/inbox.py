"""What a zone's workflow hears: messages from people and from its campaign; and its one query."""

# Without postponed annotations: the SDK reads those of each handler again for each zone.
from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import (
        Answer,
        Expire,
        GoOn,
        PermitGrant,
        ReportKind,
        Revoke,
        Ruling,
        SayAgain,
        Stop,
        SupportResolved,
        ZonePhase,
        ZoneState,
    )
    from edgeshift.model.sign_off import Choice, Decision, refusal, said_to_be_needed, still_needed
    from workflows.messages import one_message, refuse_nonsense
    from workflows.zone.reporting import FIRST, Reporter, ZoneWord
    from workflows.zone.state import ZoneMemory


MOST_REVOKED = 2_000
"""Numbers of permits of which a zone keeps that they were taken back. The archive knows of each."""


class Inbox:
    """Takes messages in; the zone's course finds them in its memory."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter) -> None:
        self._zone = zone
        self._reporter = reporter

    def open(self) -> None:
        """Hear messages from now on. Called before the run begins, so that none comes too early."""
        for handler in (
            self.sign_off,
            self.support_resolved,
            self.permit,
            self.revoke,
            self.ruling,
            self.expire,
            self.stop,
            self.go_on,
            self.say_again,
        ):
            workflow.set_signal_handler(handler.__name__, handler)
        workflow.set_update_handler("decide", self.decide, validator=self.refuse_decision)
        workflow.set_query_handler("state", self.state)

    # --- from people

    def _misses(self, decision: Decision) -> str | None:
        """Why this decision cannot count now, or None."""
        zone = self._zone
        if zone.result is not None:
            return f"the zone is closed ({zone.result.outcome.value})"
        if reason := refusal(decision, zone.start.policy.sign_off, zone.start.started_by):
            return reason
        prepared = zone.prepared
        if zone.phase is not ZonePhase.AWAITING_SIGN_OFF or prepared is None:
            return f"the zone does not wait for a sign-off; it is {zone.phase.value.replace('_', ' ')}"
        if decision.digest not in (prepared.digest, prepared.fingerprint):
            return f"the digest is not the one that waits, which is {prepared.digest}"
        if decision.digest == prepared.fingerprint != prepared.digest and not zone.joins:
            return "a decision on the fingerprint does not count for this zone; sign its own digest"
        return None

    @one_message
    def sign_off(self, decision: Decision) -> None:
        """A person's decision by the plain signal. One that cannot count now is kept in view, and counts if
        its digest is proposed later; one by somebody who is not listed is ignored.
        """
        zone = self._zone
        if missing := self._misses(decision):
            zone.ignore(f"{workflow.now():%H:%M:%S} {decision.choice.value} by {decision.by}: {missing}")
        if not refusal(decision, zone.start.policy.sign_off, zone.start.started_by):
            zone.keep(decision)

    def decide(self, decision: Decision) -> Answer:
        """A person's decision by update, refused at once where it cannot count."""
        self._zone.keep(decision)
        name = self._zone.start.target.zone.name
        needed = "" if decision.choice is Choice.REJECT else self._still_needed(decision)
        return Answer(text=f"{decision.choice.past.capitalize()} {name} ({decision.by}){needed}")

    def _still_needed(self, decision: Decision) -> str:
        zone = self._zone
        policy, by = zone.start.policy.sign_off, zone.start.started_by
        about = policy.subjects(decision.digest, zone.prepared.fingerprint if zone.prepared else "")
        known = [one for one in zone.decisions.values() if one.digest in about]
        said = said_to_be_needed(*still_needed(known, policy, by, workflow.now()))
        return f"; {said}" if said else ""

    def refuse_decision(self, decision: Decision) -> None:
        """The validator of ``decide``."""
        refuse_nonsense(decision)
        if missing := self._misses(decision):
            raise ApplicationError(missing, type="SignOffRefused", non_retryable=True)

    @one_message
    def support_resolved(self, message: SupportResolved) -> None:
        """A person's word that the zone's support case is fixed: it is read anew.

        The ticket is there before the zone waits for it, so that a quick word may come while it is read.
        """
        zone = self._zone
        if zone.waits_in in (ZonePhase.NEEDS_SUPPORT, ZonePhase.ASSESSING):
            zone.resolved = message
        else:
            zone.ignore(f"support resolved by {message.by}: the zone does not wait for support")

    # --- from the campaign

    def _is_mine(self, campaign_run: str) -> bool:
        """Whether this zone's campaign says it: another one may have had the zone before, or has it no
        more.
        """
        if campaign_run != self._zone.start.campaign_run:
            self._zone.ignore("a message of another campaign")
            return False
        return True

    def _is_for_this(self, campaign_run: str, attempt: int) -> bool:
        """Whether this zone's campaign says it of this attempt, or of any (0)."""
        return self._is_mine(campaign_run) and attempt in (0, self._zone.start.attempt)

    @one_message
    def permit(self, grant: PermitGrant) -> None:
        """A permit, maybe with decisions on the fingerprint. One that was used is not believed again, nor one
        that was put back: whoever tells zones may say it twice. One that was given to an earlier attempt, and
        comes late, counts no more for the campaign.
        """
        zone, number = self._zone, grant.permit.number
        if not self._is_for_this(grant.campaign_run, grant.attempt):
            return
        if number in zone.used or grant.permit.index != zone.start.index:
            return
        if number in zone.gone_back and workflow.patched("what-was-put-back-counts-no-more"):
            return
        zone.grant = grant

    @one_message
    async def revoke(self, message: Revoke) -> None:
        """The campaign takes a permit back; it is told once the permit is settled, and nothing can be sent
        under any other: one that was reset may take back what it knows of while an earlier one is in use.

        The word may overtake the permit itself, which then finds itself revoked.
        """
        zone = self._zone
        if not self._is_mine(message.campaign_run):
            return
        if len(zone.revoked) >= MOST_REVOKED:
            zone.revoked.discard(min(zone.revoked))
        zone.revoked.add(message.number)
        in_use = message.number == zone.using
        if in_use:
            zone.call_off()
        await workflow.wait_condition(lambda: not zone.moves_forward)
        if in_use and zone.called_off:
            # Whoever made the step says so (``Changes``).
            return
        # By markers of its own: not where an earlier run has heard it, and this one only hears it again.
        if zone.is_later_run and workflow.patched(f"revoked-{message.number}"):
            # An earlier run may have sent it, and have more to send: whoever pauses the campaign, and finds
            # nothing in the archive that says otherwise, waits as long as that may take.
            over = zone.start.policy.turn_window + zone.start.policy.over_after
            await workflow.sleep(over, summary="until what an earlier run made is over")
        first = zone.waits_in in FIRST
        # One that sees through what an earlier run has sent says afterwards what it waits for.
        sees_through = zone.looks or zone.phase in (ZonePhase.COMMITTING, ZonePhase.VERIFYING)
        unused = message.number not in zone.used and not sees_through
        step = zone.first_step if first else zone.prepared.step if zone.prepared else None
        await self._reporter.tell(
            ZoneWord(
                ReportKind.RELEASED, releases=message.number, unused=unused, step=step if unused else None
            )
        )

    @one_message
    def ruling(self, message: Ruling) -> None:
        """The zone's fingerprint was rejected."""
        if self._is_for_this(message.campaign_run, message.attempt):
            self._zone.ruling = message.decision

    @one_message
    def expire(self, message: Expire) -> None:
        """The zone has waited for its sign-off as long as the policy says."""
        zone = self._zone
        mine = self._is_mine(message.campaign_run) and message.attempt == zone.start.attempt
        if mine and zone.waits_in is ZonePhase.AWAITING_SIGN_OFF:
            zone.expired = True

    @one_message
    def stop(self, message: Stop) -> None:
        """The campaign was aborted, or the attempt is over for it. What was sent is still seen through."""
        if self._is_for_this(message.campaign_run, message.attempt):
            self._zone.stop = message
            self._zone.call_off()

    @one_message
    def go_on(self, message: GoOn) -> None:
        """The service answers again."""
        if self._is_mine(message.campaign_run):
            self._zone.told_to_go_on = True

    @one_message
    async def say_again(self, message: SayAgain) -> None:
        """The campaign may not know what the zone waits for."""
        if self._is_for_this(message.campaign_run, message.attempt):
            await self._reporter.say_again()

    # --- asked

    def state(self) -> ZoneState:
        """Where the zone is and what it waits for."""
        zone = self._zone
        start, prepared, gathered = zone.start, zone.prepared, zone.gathered
        return ZoneState(
            zone=start.target.zone,
            campaign=start.campaign,
            wave=start.target.wave,
            attempt=start.attempt,
            sequence=zone.sequence,
            phase=zone.phase,
            since=zone.since,
            step=prepared.step if prepared else None,
            digest=prepared.digest if prepared else "",
            fingerprint=prepared.fingerprint if prepared else "",
            proposal=prepared.proposal if prepared else "",
            snapshot=prepared.snapshot if prepared else "",
            evidence=gathered.evidence if gathered else "",
            evidence_verdict=gathered.verdict if gathered else None,
            decisions=list(zone.decisions.values()),
            ignored=zone.ignored,
            reasons=list(prepared.reasons) if prepared else [],
            why=zone.result.why if zone.result else prepared.explained if prepared else (),
            drifted_from=zone.drifted_from,
            drifted_proposal=zone.drifted_proposal,
            tickets=zone.tickets,
            outcome=zone.result.outcome if zone.result else None,
            hold=zone.service_hold,
        )
