"""The WAF migration of one zone: check, configuration, validation window, sign-off, commit, verification.

Its history is kept small on purpose (docs/decisions.md): what reads the service is one remote activity, each
mutating step is a fenced one, and one signal brings the decision on a fingerprint together with the permit.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.change.door import MutationActivities
    from activities.waf.zone import WafActivities
    from edgeshift.areas.area import OLD
    from edgeshift.areas.waf import Mode, Verdict
    from edgeshift.messages import (
        ChangeResult,
        ChangeStatus,
        Gathered,
        PermitGrant,
        Prepared,
        Step,
        ZonePhase,
        ZoneResult,
        ZoneStart,
    )
    from edgeshift.messages.areas.waf import Verification, Verify
    from edgeshift.model.fleet import DONE, Plan, ZoneOutcome
    from edgeshift.model.reasons import Reason, ReasonCode
    from workflows import options
    from workflows.waf_validation import ValidationWindow
    from workflows.zone.ending import Reached
    from workflows.zone.failures import LOCAL_FAILURES, failed
    from workflows.zone.parts import parts_of
    from workflows.zone.state import Ended, SeenThrough


def _is_old(prepared: Prepared) -> bool:
    # A history from before readings had a time goes on as it did.
    return prepared.read_at is not None and workflow.now() - prepared.read_at > OLD


def _migrated(record: str) -> Reached:
    return Reached(ZoneOutcome.MIGRATED, (Reason(code=ReasonCode.MIGRATED_AS_SIGNED),), record)


@workflow.defn(name="WafZone")
class WafZone:
    """One zone's migration. Its id is the zone's lock for the area."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._parts = parts_of(start)
        self._zone = self._parts.zone
        self._zone.comes_first(self._sent_before)
        self._validation = ValidationWindow(self._parts, self._verify)

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the zone to an outcome, tell the campaign, and say how it ended."""
        return await self._parts.ending.to_an_end(self._course)

    async def _course(self) -> Reached:
        noticing = asyncio.create_task(self._zone.notices_resets())
        try:
            return await self._reached()
        except SeenThrough as seen:
            return _migrated(seen.record)
        finally:
            noticing.cancel()

    async def _reached(self) -> Reached:
        """Raises SeenThrough as well."""
        try:
            return _migrated(await self._migrate())
        except Ended as ended:
            return await self._seen_through(ended)
        except LOCAL_FAILURES as failure:
            if self._zone.sent is not None:
                raise
            return await self._seen_through(Ended(ZoneOutcome.FAILED, failed(failure)))

    async def _seen_through(self, ended: Ended) -> Reached:
        """Before it ends in any other way: a commit that was sent to the zone, by an earlier attempt or a run
        that was reset, and that is in force by now or may come to be. Raises Ended.
        """
        if ended.outcome is ZoneOutcome.UNKNOWN or ended.outcome in DONE or self._zone.read_back:
            raise ended
        self._zone.looks_back = False
        part = await self._parts.ending.part_left(MutationActivities.look_back, ended)
        if part.prepared is None:
            raise ended
        limit = await self._parts.ending.looked_for(part)
        before = self._takes_up(part.prepared)
        found = await self._verify(part.prepared, Mode.PENDING, limit=limit)
        if found.reached and found.record:
            shown = Reason(code=ReasonCode.MIGRATED_AS_SIGNED, because=ended.why)
            return Reached(ZoneOutcome.MIGRATED, (shown,), found.record)
        if found.reached:
            raise Ended(ZoneOutcome.FAILED, *found.explained)
        if found.unchanged or (found.read and not part.may_show):
            self._zone.sent = None
            self._puts_back(*before)
            raise ended
        unseen = Reason(code=ReasonCode.NOT_SEEN, because=ended.why, then=found.explained)
        raise Ended(ZoneOutcome.UNKNOWN, unseen)

    async def _migrate(self) -> str:
        """From the first reading to the verified migration; the archived result. Raises Ended."""
        while True:
            await self._zone.see_first()
            prepared = await self._prepare()
            if prepared.verdict is not Verdict.NEEDS_SUPPORT:
                self._zone.resolved = None
            match prepared.verdict:
                case Verdict.ALREADY_MIGRATED if self._zone.sent is not None or prepared.begun:
                    # What this run sent, or an earlier attempt of this campaign, has come to show.
                    sent = self._zone.sent = self._zone.sent or prepared
                    if record := await self._committed(sent, "the status shows it now"):
                        return record
                    continue
                case Verdict.ALREADY_MIGRATED:
                    raise Ended(ZoneOutcome.ALREADY_MIGRATED, *prepared.explained)
                case Verdict.NEEDS_SUPPORT:
                    await self._parts.support.wait_for(prepared.causes, prepared.explained)
                    continue
                case Verdict.BLOCKED if prepared.step is Step.DELETE_OVERRIDES:
                    await self._delete_overrides(prepared)
                    continue
                case Verdict.BLOCKED:
                    raise Ended(ZoneOutcome.BLOCKED, *prepared.explained)
            self._forget_other_rules(prepared)
            if self._enterprise and not self._zone.validated:
                passed = await self._validation.passed(prepared)
                if not passed or _is_old(prepared):
                    continue
            while True:
                grant = await self._parts.sign_offs.signed_off(prepared)
                if record := await self._commit(prepared, grant):
                    return record
                if self._zone.stands:
                    await self._parts.changes.propose_as_it_is(prepared)
                elif not self._zone.called_off:
                    break

    async def _sent_before(self) -> bool:
        """See through a commit of this campaign of which this run knows nothing, and which may still come to
        show; whether there was one. Raises SeenThrough where it shows, Ended where nobody can say.
        """
        part = await self._parts.ending.left(MutationActivities.look_back)
        if part.prepared is None or not part.may_show:
            return False
        # Whatever the zone has said meanwhile: it takes its place again.
        await self._parts.ending.looked_for(part)
        before = self._takes_up(part.prepared)
        if record := await self._committed(part.prepared, "it was sent before"):
            raise SeenThrough(record)
        # What was sent stays: a reading that finds the zone migrated by now is of that.
        self._puts_back(*before)
        return True

    def _takes_up(self, prepared: Prepared) -> tuple[Prepared | None, Gathered | None]:
        """This is what was sent, of which the zone knew nothing: from now on it is about that. What it was
        about before: its proposal, and the evidence of it.
        """
        proposed, gathered = self._zone.prepared, self._zone.gathered
        if proposed is None or proposed.digest != prepared.digest:
            # The evidence is not about the rules that were sent.
            self._zone.gathered = None
        self._zone.sent = self._zone.prepared = prepared
        return proposed, gathered

    def _puts_back(self, proposed: Prepared | None, gathered: Gathered | None) -> None:
        """It is about this again (``_takes_up``): nothing came of what was sent."""
        self._zone.prepared, self._zone.gathered = proposed, gathered

    @property
    def _enterprise(self) -> bool:
        return self._zone.start.target.zone.plan is Plan.ENTERPRISE

    def _forget_other_rules(self, prepared: Prepared) -> None:
        """What was validated says nothing of other rules, however the zone came to have them: they are
        validated anew.
        """
        validated = self._zone.validated_rules
        if not self._zone.validated or validated in ("", prepared.digest):
            return
        self._zone.drifted_from = validated
        self._zone.nothing_validated()

    async def _prepare(self) -> Prepared:
        """Read the zone, archive what was read, make the proposal; announce it where nothing else comes
        first.
        """
        prepared = await self._parts.proposals.make(WafActivities.prepare)
        if self._is_told(prepared):
            await self._parts.reporter.announce_reading(prepared)
        return prepared

    def _is_told(self, prepared: Prepared) -> bool:
        """Whether people are asked at once. What an Enterprise zone proposes is validated first, and one that
        was validated with other rules has to be so again.
        """
        if (self._enterprise and not self._zone.validated) or not prepared.digest or prepared.begun:
            return False
        return prepared.step is not Step.COMMIT or self._zone.validated_rules in ("", prepared.digest)

    async def _delete_overrides(self, prepared: Prepared) -> None:
        """With consent and a sign-off of exactly these overrides: delete them, then read the zone again."""
        if self._enterprise and not self._zone.validated:
            # Its reading tells nobody (``_prepare``). A permit to validate goes back with the word.
            if (held := self._zone.grant) is not None and held.permit.step is not prepared.step:
                self._zone.put_back()
            await self._parts.reporter.announce(prepared)
        grant = await self._parts.sign_offs.signed_off(prepared)
        self._zone.enter(ZonePhase.DELETING_OVERRIDES)
        result = await self._parts.changes.make(prepared, grant)
        if result.status is ChangeStatus.DRIFTED:
            self._zone.drift(prepared)
        if result.status is ChangeStatus.REFUSED:
            raise Ended(ZoneOutcome.FAILED, Reason(code=ReasonCode.DELETION_REFUSED, said=result.reason))
        await self._parts.changes.pause_before_again(result)

    async def _commit(self, prepared: Prepared, grant: PermitGrant) -> str:
        """Send it, once, and find out what happened. The archived result, or empty to propose anew. Raises
        Ended.
        """
        self._zone.enter(ZonePhase.COMMITTING)
        result = await self._parts.changes.make(prepared, grant)
        if result.status is ChangeStatus.DRIFTED:
            # The evidence was of the rules as they were: an Enterprise zone is validated anew.
            self._zone.drift(prepared)
            self._zone.nothing_validated()
            return ""
        if result.status is ChangeStatus.REFUSED:
            before = self._zone.sent if result.cause is None else None
            if before is not None:
                # The one that was sent before may have come to show since: then it is that which is refused.
                return await self._committed(before, result.reason)
            if result.cause is not None or not await self._is_another_by_now():
                await self._parts.support.refused(result)
                return ""
            await self._parts.changes.pause_before_again(result)
            return ""
        if result.status is ChangeStatus.NOTHING_HAPPENED:
            await self._parts.changes.pause_before_again(result)
            return ""
        self._zone.sent = prepared
        answered = result.status is ChangeStatus.ANSWERED
        return await self._committed(prepared, result.reason, answered=answered, result=result)

    async def _is_another_by_now(self) -> bool:
        """Whether a refused zone is none that is ready, as where somebody has given it an override since it
        was read, or has migrated it. Then that is what becomes of it. One that cannot be read is refused.
        """
        signed = self._zone.prepared
        try:
            found = await self._parts.proposals.make(WafActivities.prepare)
        except LOCAL_FAILURES:
            return False
        finally:
            self._zone.prepared = signed
            self._zone.enter(ZonePhase.COMMITTING)
        return found.verdict not in (Verdict.READY, Verdict.IN_VALIDATION)

    async def _committed(
        self, prepared: Prepared, answer: str, *, answered: bool = False, result: ChangeResult | None = None
    ) -> str:
        """A commit was sent, or may have been: the archived result, or empty to propose anew. ``answered``:
        just now, and the service said that it was made. ``result``: of one that was sent just now.
        """
        self._zone.enter(ZonePhase.VERIFYING)
        found = await self._verify(prepared, Mode.PENDING, answered=answered)
        if found.reached and found.record:
            self._zone.took = found.took
            return found.record
        if found.reached:
            self._zone.read_back = True
            raise Ended(ZoneOutcome.FAILED, *found.explained)
        if not found.unchanged:
            raise Ended(ZoneOutcome.UNKNOWN, Reason(code=ReasonCode.NOT_SEEN, because=found.explained))
        if result is not None and result.cause is not None:
            # The answer did not prove that nothing came of it, and the status has stayed: support must act.
            await self._parts.support.refused(result)
            return ""
        if self._zone.resends >= self._zone.start.policy.resend_unchanged:
            never = Reason(code=ReasonCode.NEVER_SHOWED, said=answer, because=found.explained)
            raise Ended(ZoneOutcome.UNKNOWN, never)
        self._zone.resends += 1
        return ""

    async def _verify(
        self,
        prepared: Prepared,
        mode: Mode,
        *,
        shadow: bool = False,
        limit: timedelta | None = None,
        answered: bool = False,
    ) -> Verification:
        verify = Verify(
            start=self._zone.bare_start,
            mode=mode,
            proposal=prepared.proposal,
            snapshot=prepared.snapshot,
            digest=prepared.digest,
            evidence=self._zone.gathered.evidence if self._zone.gathered else "",
            limit=limit or self._zone.start.policy.migration_limit,
            shadow=shadow,
            since=workflow.now(),
            answered=answered,
        )
        return await self._parts.waits.served(
            lambda: workflow.execute_activity_method(
                WafActivities.verify,
                verify,
                summary=f"until the status shows {mode.value}",
                **options.verifying(verify.limit, verify.start.policy),
            ),
            sent=True,
            whole=mode is Mode.PENDING,
        )
