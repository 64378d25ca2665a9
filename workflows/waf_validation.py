"""The validation window of an Enterprise zone: each mode in turn, then the evidence of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.waf.evidence import EvidenceActivities
    from edgeshift.areas.evidence import EvidenceVerdict
    from edgeshift.areas.waf import Mode, Verdict
    from edgeshift.campaign_file.spec import ValidationMode
    from edgeshift.messages import (
        ChangeStatus,
        Gathered,
        GatherEvidence,
        Prepared,
        ReportKind,
        Step,
        ZonePhase,
    )
    from edgeshift.messages.areas.waf import Verification
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.reason_texts import text_of
    from edgeshift.model.reasons import Reason, ReasonCode
    from workflows import options
    from workflows.zone.parts import ZoneParts
    from workflows.zone.reporting import ZoneWord
    from workflows.zone.state import Ended

LOOKS_FOR_ANOTHER = 20
"""How often a zone is read anew while a commit that somebody else has sent to it may still come to show."""


class ValidationWindow:
    """Validates what a zone proposes. ``verify``: waits until the status shows a mode."""

    def __init__(self, parts: ZoneParts, verify: Callable[..., Awaitable[Verification]]) -> None:
        self._parts, self._zone, self._verify = parts, parts.zone, verify

    async def passed(self, prepared: Prepared) -> bool:
        """Validate it in each mode in turn, with the evidence of each. False: the zone has to be read and
        proposed anew. Raises Ended.
        """
        if prepared.digest in self._zone.start.rejected:
            # The campaign gets to know its fingerprint, so that a reopening voids what was decided on it.
            await self._parts.reporter.announce(prepared)
        self._parts.sign_offs.refuse_rejected(prepared)
        policy = self._zone.start.policy
        if prepared.verdict is Verdict.IN_VALIDATION and not self._zone.validates_itself:
            mode = ValidationMode.ENFORCE if prepared.matches_entry_point else ValidationMode.SHADOW
            # Nothing is sent: the permit that it was started with goes back with the next word.
            self._zone.put_back()
            await self._window(prepared, mode, Reason(code=ReasonCode.VALIDATION_ADOPTED))
        else:
            for mode in policy.modes:
                if not await self._start_validation(prepared, mode):
                    return False
                window = Reason(code=ReasonCode.VALIDATION_WINDOW, state=mode.value)
                await self._window(prepared, mode, window)
                if mode is not policy.modes[-1] and not self._may_enforce():
                    # What did not pass while it only logged must not begin to block: people look first.
                    await self._parts.reporter.announce(prepared)
                    break
        self._zone.validated, self._zone.validated_rules = True, prepared.digest
        return True

    def _may_enforce(self) -> bool:
        """Whether the next mode may begin, by the evidence of this one. Joining a fingerprint is another
        matter.
        """
        if self._zone.joins:
            return True
        return self._zone.gathered is not None and self._zone.gathered.verdict is EvidenceVerdict.PASS

    async def _start_validation(self, prepared: Prepared, mode: ValidationMode) -> bool:
        while True:
            grant = await self._parts.sign_offs.permit_for(Step.VALIDATE, ZonePhase.AWAITING_VALIDATION)
            self._zone.enter(ZonePhase.STARTING_VALIDATION)
            result = await self._parts.changes.make(prepared, grant, mode)
            if result.status is ChangeStatus.DRIFTED:
                self._zone.drifted_from = prepared.digest
                return False
            if result.status is ChangeStatus.REFUSED:
                await self._parts.support.refused(result)
                return False
            if result.earlier:
                # It was not sent. Once the commit shows, the zone is found migrated by it. One of this
                # campaign is seen through at once.
                self._zone.look_back()
                pause = self._zone.start.policy.migration_limit / LOOKS_FOR_ANOTHER
                await self._parts.waits.pause(pause, "a commit may still show")
                return False
            if result.status in (ChangeStatus.ANSWERED, ChangeStatus.UNKNOWN):
                self._zone.validates_itself = True
                if result.seen:
                    return True
                found = await self._verify(
                    prepared,
                    Mode.VALIDATION,
                    shadow=mode is ValidationMode.SHADOW,
                    answered=result.status is ChangeStatus.ANSWERED,
                )
                if found.reached:
                    return True
                if found.unchanged and result.cause is not None:
                    await self._parts.support.refused(result)
                    return False
                if not found.unchanged or self._zone.resends >= self._zone.start.policy.resend_unchanged:
                    unseen = Reason(code=ReasonCode.VALIDATION_NOT_SHOWN, because=found.explained)
                    raise Ended(ZoneOutcome.UNKNOWN, unseen)
                self._zone.resends += 1
            await self._parts.changes.pause_before_again(result)
            nothing = result.status is ChangeStatus.NOTHING_HAPPENED
            if nothing and not self._zone.stands and not self._zone.called_off:
                # What stood in its way may be for good, as where the zone is migrated by now.
                return False

    async def _window(self, prepared: Prepared, mode: ValidationMode, why: Reason) -> None:
        """Let the window pass, then judge what it saw."""
        self._zone.enter(ZonePhase.VALIDATING)
        await self._parts.reporter.tell(ZoneWord(ReportKind.WAITING, why=(why,)))
        since = workflow.now()
        follows = self._zone.gathered is not None and mode is not self._zone.start.policy.modes[0]
        await self._parts.waits.pause(self._zone.start.policy.validation_window, text_of(why))
        self._zone.enter(ZonePhase.GATHERING_EVIDENCE)
        until = workflow.now()
        last = mode is self._zone.start.policy.modes[-1]
        # Else the zone runs what this workflow has sent.
        adopted = prepared.verdict is Verdict.IN_VALIDATION and not self._zone.validates_itself

        how = options.reading_the_service(self._zone.start.policy)

        async def gather() -> Gathered:
            async with self._parts.reporter.turn:
                sequence = self._parts.reporter.count_words(how["retry_policy"].maximum_attempts)
                reading = workflow.start_activity_method(
                    EvidenceActivities.gather,
                    GatherEvidence(
                        start=self._zone.start,
                        since=since,
                        until=until,
                        mode=mode,
                        proposal=prepared.proposal,
                        digest=prepared.digest,
                        fingerprint=prepared.fingerprint,
                        sequence=sequence,
                        announce=last or adopted,
                        comparable=not adopted or prepared.comparable,
                        earlier=self._zone.gathered.evidence if follows and self._zone.gathered else "",
                    ),
                    summary="evidence of the window",
                    **how,
                )
                found: Gathered = await self._parts.waits.unless_stopped(reading)
                if not found.told:
                    self._parts.reporter.was_not_heard()
                return found

        # It may tell the campaign by itself.
        await self._zone.see_first()
        self._zone.gathered = await self._parts.waits.served(gather)
