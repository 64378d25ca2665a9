"""A zone's wait for a sign-off and for permits, and which decisions count for what it proposes."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.rulings import RulingActivities
    from edgeshift.messages import PermitGrant, Prepared, RecordRejection, ReportKind, Step, ZonePhase
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.reasons import Reason, ReasonCode, Reasons
    from edgeshift.model.sign_off import Choice, Decision, Tally, refusal, tally
    from edgeshift.runtime.temporal import FINGERPRINT, PHASE
    from workflows import options
    from workflows.local import locally
    from workflows.zone.failures import LOCAL_FAILURES, failed
    from workflows.zone.reporting import Reporter, ZoneWord
    from workflows.zone.state import Ended, ZoneMemory
    from workflows.zone.waiting import Waits


class SignOffs:
    """Waits for people, and for the campaign's leave."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter, waits: Waits) -> None:
        self._zone = zone
        self._reporter = reporter
        self._waits = waits
        self._rulings_heard = 0
        """How often the run has heard that the zone's fingerprint is ruled out."""

    async def permit_for(self, step: Step, phase: ZonePhase) -> PermitGrant:
        """A permit for a step that comes before the sign-off: the one it was started with, or a new one."""
        return await self._permitted(phase, step)

    async def _permitted(self, phase: ZonePhase, step: Step, fingerprint: str = "") -> PermitGrant:
        """The permit that is there, or a new one. Raises Ended on an abort."""
        zone = self._zone
        zone.put_back_what_ran_out()
        if zone.usable_grant is None:
            zone.enter(phase)
            await self._reporter.tell(ZoneWord(ReportKind.READY, step=step, fingerprint=fingerprint))
            await self._waits.until(lambda: zone.usable_grant is not None, None, resumable=True)
        zone.check_stop()
        assert zone.grant is not None
        return zone.grant

    async def signed_off(self, prepared: Prepared) -> PermitGrant:
        """Wait for the sign-off of this proposal and for the permit.

        Raises Ended on a rejection, on expiry and on abort.
        """
        zone = self._zone
        self.refuse_rejected(prepared)
        zone.expired = False
        zone.enter(ZonePhase.AWAITING_SIGN_OFF)
        zone.asked_at = zone.asked_at or workflow.now()
        if zone.listed_as != prepared.fingerprint:
            zone.listed_as = prepared.fingerprint
            workflow.upsert_search_attributes(
                [
                    PHASE.value_set(ZonePhase.AWAITING_SIGN_OFF.value),
                    FINGERPRINT.value_set(prepared.fingerprint),
                ]
            )
        while True:
            await self._waits.until(
                lambda: (
                    zone.usable_grant is not None
                    or zone.ruling is not None
                    or zone.expired
                    or self._tally(prepared) is not Tally.WAITING
                ),
                None,
                resumable=True,
            )
            verdict = self._tally(prepared)
            if verdict is not Tally.REJECTED and self._ends_ruled_out(prepared):
                # The door keeps to it, and the campaign would say it again and again.
                verdict = Tally.REJECTED
            if verdict is Tally.REJECTED:
                by = self._rejection(prepared)
                zone.rejected = prepared.digest
                why = Reason(code=ReasonCode.REJECTED, by=by.by, said=by.reason)
                raise Ended(ZoneOutcome.REJECTED, why, *await self._recorded(prepared, by))
            if verdict is Tally.APPROVED:
                break
            if zone.usable_grant is not None:
                # A permit whose decisions do not count for this proposal: it goes back.
                zone.put_back()
                await self._reporter.announce(prepared)
            elif zone.expired:
                raise Ended(ZoneOutcome.ON_HOLD, Reason(code=ReasonCode.NOT_SIGNED_IN_TIME))
            zone.ruling = None
        return await self._permitted(ZonePhase.AWAITING_PERMIT, prepared.step, prepared.fingerprint)

    async def _recorded(self, prepared: Prepared, decision: Decision) -> Reasons:
        """Record the rejection, which binds when the campaign is started anew; why that failed, if it did."""
        start, at = self._zone.bare_start, workflow.now()
        try:
            await locally(
                RulingActivities.record_own,
                RecordRejection(start=start, digest=prepared.digest, decision=decision, at=at),
                summary="record the rejection",
                **options.reading(start.policy),
            )
        except LOCAL_FAILURES as failure:
            return (Reason(code=ReasonCode.REJECTION_NOT_RECORDED, because=(failed(failure),)),)
        return ()

    def refuse_rejected(self, prepared: Prepared) -> None:
        """Raises Ended where a person rejected this very proposal before the campaign was started anew."""
        if prepared.digest in self._zone.start.rejected:
            self._zone.rejected = prepared.digest
            raise Ended(ZoneOutcome.REJECTED, Reason(code=ReasonCode.REJECTED_BEFORE))

    def counting(self, prepared: Prepared, grant: PermitGrant | None) -> list[Decision]:
        """The decisions that may count for this proposal: the zone's own, and those that came with a permit
        or ruling.

        A decision on the fingerprint counts only where the zone's own evidence passed, or where it has none.
        """
        zone = self._zone
        found = [
            decision
            for decision in zone.decisions.values()
            if decision.digest == prepared.digest and (zone.joins or self._given_since_asked(decision))
        ]
        if zone.joins:
            found += [
                item for item in (grant.decisions if grant else ()) if item.digest == prepared.fingerprint
            ]
            found += [item for item in zone.decisions.values() if item.digest == prepared.fingerprint]
        if zone.ruling is not None and zone.ruling.digest == prepared.fingerprint:
            found.append(zone.ruling)
        return found

    def _given_since_asked(self, decision: Decision) -> bool:
        """Whether a decision was given when the evidence could be read: an earlier one is not about it."""
        asked_at = self._zone.asked_at
        return decision.at is not None and asked_at is not None and decision.at >= asked_at

    def _tally(self, prepared: Prepared) -> Tally:
        start = self._zone.start
        return tally(
            self.counting(prepared, self._zone.usable_grant),
            start.policy.sign_off.subjects(prepared.digest, prepared.fingerprint),
            start.policy.sign_off,
            start.started_by,
            workflow.now(),
        )

    def _ends_ruled_out(self, prepared: Prepared) -> bool:
        """Whether the zone is ruled out, and ends by that."""
        if not self._is_ruled_out(prepared):
            return False
        # By markers of their own: one that the version before was told in vain is to be heard next time.
        self._rulings_heard += 1
        return workflow.patched(f"a-rejected-fingerprint-ends-signed-by-zone-{self._rulings_heard}")

    def _is_ruled_out(self, prepared: Prepared) -> bool:
        """Whether the campaign has said that the fingerprint was rejected. Where each zone is signed by
        itself, that was in an earlier start of the campaign, and holds until the zone is reopened.
        """
        ruling, start = self._zone.ruling, self._zone.start
        return (
            ruling is not None
            and ruling.choice is Choice.REJECT
            and ruling.digest == prepared.fingerprint
            and not refusal(ruling, start.policy.sign_off, start.started_by)
        )

    def _rejection(self, prepared: Prepared) -> Decision:
        policy, by = self._zone.start.policy.sign_off, self._zone.start.started_by
        return next(
            decision
            for decision in self.counting(prepared, self._zone.grant)
            if decision.choice is Choice.REJECT and not refusal(decision, policy, by)
        )
