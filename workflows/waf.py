"""The WAF migration of one zone: check, configuration, validation window, sign-off, commit, verification.

Its history is kept small on purpose (docs/decisions.md): readings are local activities, each mutating step is
one fenced remote activity, and one signal brings the decision on a fingerprint together with the permit.
"""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.change.door import MutationActivities
    from activities.waf.evidence import EvidenceActivities
    from activities.waf.zone import WafActivities
    from edgeshift.areas.waf import Mode, Verdict
    from edgeshift.areas.waf.evidence import EvidenceVerdict
    from edgeshift.campaign_file.spec import ValidationMode
    from edgeshift.messages import (
        ChangeStatus,
        Gathered,
        GatherEvidence,
        PermitGrant,
        Prepare,
        Prepared,
        ReportKind,
        Step,
        Verification,
        Verify,
        ZonePhase,
        ZoneResult,
        ZoneStart,
    )
    from edgeshift.model.fleet import DONE, Plan, ZoneOutcome
    from workflows import options
    from workflows.local import locally
    from workflows.zone.protocol import LOCAL_FAILURES, Ended, said
    from workflows.zone.steps import Reached, ZoneWorkflow


AS_SIGNED = "new WAF on, previous one off, stored rules as signed"

LOOKS_FOR_ANOTHER = 20
"""How often a zone is read anew while a commit that somebody else has sent to it may still come to show."""


@workflow.defn(name="WafZone")
class WafZone(ZoneWorkflow):
    """One zone's migration. Its id is the zone's lock for the area."""

    _read_back = False
    """Whether a commit has shown, and the stored rules were read."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the zone to an outcome, tell the campaign, and say how it ended."""
        return await self._to_an_end(self._course)

    async def _course(self) -> Reached:
        try:
            record = await self._migrate()
        except Ended as ended:
            return await self._seen_through(ended)
        except LOCAL_FAILURES as failure:
            if self._sent is not None:
                raise
            return await self._seen_through(Ended(ZoneOutcome.FAILED, said(failure)))
        return Reached(ZoneOutcome.MIGRATED, AS_SIGNED, record)

    async def _seen_through(self, ended: Ended) -> Reached:
        """Before it ends in any other way: a commit that was sent to the zone, by an earlier attempt or a run
        that was reset, and that is in force by now or may come to be. Raises Ended.
        """
        if ended.outcome is ZoneOutcome.UNKNOWN or ended.outcome in DONE or self._read_back:
            raise ended
        part = await self._part_left(MutationActivities.look_back, ended)
        if part.prepared is None:
            raise ended
        limit = await self._looked_for(part)
        proposed, gathered = self._prepared, self._gathered
        if proposed is None or proposed.digest != part.prepared.digest:
            # The evidence is not about the rules that were sent.
            self._gathered = None
        self._sent = self._prepared = part.prepared
        found = await self._verify(part.prepared, Mode.PENDING, limit=limit)
        if found.reached and found.record:
            return Reached(
                ZoneOutcome.MIGRATED, f"{AS_SIGNED}; it was sent before: {ended.reason}", found.record
            )
        if found.reached:
            raise Ended(ZoneOutcome.FAILED, found.reason)
        if found.unchanged or (found.read and not part.may_show):
            self._sent, self._prepared, self._gathered = None, proposed, gathered
            raise ended
        raise Ended(ZoneOutcome.UNKNOWN, f"{ended.reason}; {found.reason}; a person has to look at it")

    async def _migrate(self) -> str:
        """From the first reading to the verified migration; the archived result. Raises Ended."""
        while True:
            prepared = await self._prepare()
            if prepared.verdict is not Verdict.NEEDS_SUPPORT:
                self._resolved = None
            match prepared.verdict:
                case Verdict.ALREADY_MIGRATED if self._sent is not None or prepared.begun:
                    # What this run sent, or an earlier attempt of this campaign, has come to show.
                    sent = self._sent = self._sent or prepared
                    if record := await self._committed(sent, "the status shows it now"):
                        return record
                    continue
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
            self._forget_other_rules(prepared)
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

    def _forget_other_rules(self, prepared: Prepared) -> None:
        """What was validated says nothing of other rules, however the zone came to have them: they are
        validated anew.
        """
        validated = self._validated_rules
        if not self._validated or validated in ("", prepared.digest):
            return
        self._drifted_from = validated
        self._nothing_validated()

    def _nothing_validated(self) -> None:
        self._validated, self._validated_rules = False, ""
        self._gathered, self._asked_at = None, None

    async def _prepare(self) -> Prepared:
        """Read the zone, archive what was read, make the proposal; announce it where nothing else comes
        first.
        """
        self._check_stop()
        self._enter(ZonePhase.ASSESSING)
        return await self._served(self._read)

    async def _read(self) -> Prepared:
        announce = not self._enterprise or self._validated
        async with self._telling:
            self._count_word()
            message = Prepare(
                start=self._start,
                sequence=self._sequence,
                announce=announce,
                joins=self._joins,
                settles=self._to_settle if announce else None,
                validated=self._validated_rules,
            )
            prepared: Prepared = await locally(
                WafActivities.prepare,
                message,
                summary="read, archive, propose",
                **options.reading(self._start.policy),
            )
        if message.settles is not None and message.announces(prepared):
            self._to_settle = None
        self._prepared = prepared
        return prepared

    async def _delete_overrides(self, prepared: Prepared) -> None:
        """With consent and a sign-off of exactly these overrides: delete them, then read the zone again."""
        grant = await self._signed_off(prepared)
        if grant is None:
            return
        self._enter(ZonePhase.DELETING_OVERRIDES)
        result = await self._change(prepared, grant)
        if result.status is ChangeStatus.DRIFTED:
            self._drift(prepared)
        if result.status is ChangeStatus.REFUSED:
            raise Ended(ZoneOutcome.FAILED, f"deleting the URI overrides was refused: {result.reason}")
        await self._pause_before_again(result)

    async def _validate(self, prepared: Prepared) -> bool:
        """The validation window of an Enterprise zone: each mode in turn, then the evidence of it.

        False: the zone has to be read and proposed anew.
        """
        if prepared.digest in self._start.rejected:
            # The campaign gets to know its fingerprint, so that a reopening voids what was decided on it.
            await self._announce(prepared)
        self._refuse_rejected(prepared)
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
                if mode is not policy.modes[-1] and not self._may_enforce():
                    # What did not pass while it only logged must not begin to block: people look first.
                    await self._announce(prepared)
                    break
        self._validated, self._validated_rules = True, prepared.digest
        return True

    def _may_enforce(self) -> bool:
        """Whether the next mode may begin, by the evidence of this one. Joining a fingerprint is another
        matter.
        """
        if self._joins:
            return True
        return self._gathered is not None and self._gathered.verdict is EvidenceVerdict.PASS

    async def _start_validation(self, prepared: Prepared, mode: ValidationMode) -> bool:
        while True:
            grant = await self._permit_for(Step.VALIDATE, ZonePhase.AWAITING_VALIDATION)
            self._enter(ZonePhase.STARTING_VALIDATION)
            result = await self._change(prepared, grant, mode)
            if result.status is ChangeStatus.DRIFTED:
                self._drifted_from = prepared.digest
                return False
            if result.status is ChangeStatus.REFUSED:
                await self._refused(result)
                return False
            if result.earlier:
                # It was not sent. Once the commit shows, the zone is found migrated by it.
                pause = self._start.policy.migration_limit / LOOKS_FOR_ANOTHER
                await self._until(lambda: False, pause, summary="a commit may still show")
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

    async def _window(self, prepared: Prepared, mode: ValidationMode, why: str) -> None:
        """Let the window pass, then judge what it saw."""
        self._enter(ZonePhase.VALIDATING)
        await self._tell(ReportKind.WAITING, reason=why)
        since = workflow.now()
        follows = self._gathered is not None and mode is not self._start.policy.modes[0]
        await self._until(lambda: False, self._start.policy.validation_window, summary=why)
        self._enter(ZonePhase.GATHERING_EVIDENCE)
        until = workflow.now()
        last = mode is self._start.policy.modes[-1]
        # Else the zone runs what this workflow has sent.
        adopted = prepared.verdict is Verdict.IN_VALIDATION and not self._validates_itself

        async def gather() -> Gathered:
            async with self._telling:
                self._count_word()
                found: Gathered = await locally(
                    EvidenceActivities.gather,
                    GatherEvidence(
                        start=self._start,
                        since=since,
                        until=until,
                        mode=mode,
                        proposal=prepared.proposal,
                        digest=prepared.digest,
                        fingerprint=prepared.fingerprint,
                        sequence=self._sequence,
                        announce=last or adopted,
                        comparable=not adopted or prepared.comparable,
                        earlier=self._gathered.evidence if follows and self._gathered else "",
                    ),
                    summary="evidence of the window",
                    **options.reading(self._start.policy),
                )
            return found

        self._gathered = await self._served(gather)

    async def _commit(self, prepared: Prepared, grant: PermitGrant) -> str:
        """Send it, once, and find out what happened. The archived result, or empty to propose anew. Raises
        Ended.
        """
        self._enter(ZonePhase.COMMITTING)
        result = await self._change(prepared, grant)
        if result.status is ChangeStatus.DRIFTED:
            # The evidence was of the rules as they were: an Enterprise zone is validated anew.
            self._drift(prepared)
            self._nothing_validated()
            return ""
        if result.status is ChangeStatus.REFUSED:
            before = self._sent if result.cause is None else None
            if before is not None:
                # The one that was sent before may have come to show since: then it is that which is refused.
                return await self._committed(before, result.reason)
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
            self._read_back = True
            raise Ended(ZoneOutcome.FAILED, found.reason)
        if not found.unchanged:
            raise Ended(ZoneOutcome.UNKNOWN, f"{found.reason}; a person has to look at it")
        if self._resends >= self._start.policy.resend_unchanged:
            raise Ended(ZoneOutcome.UNKNOWN, f"{answer or 'sent'}; {found.reason}; retry it by hand")
        self._resends += 1
        return ""

    async def _verify(
        self, prepared: Prepared, mode: Mode, shadow: bool = False, limit: timedelta | None = None
    ) -> Verification:
        verify = Verify(
            start=self._bare_start,
            mode=mode,
            proposal=prepared.proposal,
            snapshot=prepared.snapshot,
            digest=prepared.digest,
            evidence=self._gathered.evidence if self._gathered else "",
            limit=limit or self._start.policy.migration_limit,
            shadow=shadow,
        )
        return await self._served(
            lambda: workflow.execute_activity_method(
                WafActivities.verify,
                verify,
                summary=f"until the status shows {mode.value}",
                **options.verifying(verify),
            ),
            sent=True,
        )
