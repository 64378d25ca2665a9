"""Edge Side Code turned off for one scope, a zone or an account: test secret, differential probe, sign-off,
``always``, probes over a window, settled or turned on again (docs/service.md §2.1, §3.1).
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.account_lock import HoldActivities
    from activities.change.door import MutationActivities
    from activities.esc.scope import EscActivities
    from edgeshift.areas.assessment import Verdict
    from edgeshift.areas.esc.terms import LONGEST_PROBE
    from edgeshift.messages import (
        ChangeResult,
        ChangeStatus,
        HoldZones,
        Prepared,
        Step,
        ZonePhase,
        ZoneResult,
        ZoneStart,
    )
    from edgeshift.messages.areas.esc import Probe, Probed
    from edgeshift.model.fleet import ScopeKind, ZoneOutcome
    from edgeshift.model.reasons import Reason, ReasonCode
    from edgeshift.runtime.queues import Queue
    from workflows import options
    from workflows.reversible import Reversible, ReversibleWork
    from workflows.zone.ending import Reached
    from workflows.zone.failures import said
    from workflows.zone.parts import parts_of
    from workflows.zone.state import Ended


@workflow.defn(name="EscScope")
class EscScope:
    """One scope. Its id is the scope's lock for the area; an account holds those of its zones too."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._parts = parts_of(start)
        self._zone = self._parts.zone
        self._change = Reversible(
            self._parts,
            ReversibleWork(
                confirm=EscActivities.confirm,
                look_back=MutationActivities.look_back,
                watch=EscActivities.watch,
                asks_whether_it_shows=True,
                read_to_the_end=frozenset({ZoneOutcome.ALREADY_SETTLED}),
                longest_look=LONGEST_PROBE,
            ),
        )
        self._held = ""
        """The list of the account's zones that are held; empty for none."""
        self._probed_at = workflow.now()

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the scope to an outcome, tell the campaign, and say how it ended."""
        return await self._change.to_an_end(self._course, self._let_go)

    async def _course(self) -> Reached:
        while True:
            prepared = await self._parts.proposals.make(EscActivities.prepare)
            if prepared.verdict is Verdict.ALREADY_SETTLED:
                if self._zone.sent is None and prepared.begun:
                    # An earlier attempt of this campaign turned it off, and did not see it through.
                    self._zone.sent = prepared
                    await self._hold(prepared)
                    if prepared.way_back:
                        return await self._change.see_back_through(prepared)
                if self._zone.sent is None:
                    raise Ended(ZoneOutcome.ALREADY_SETTLED, *prepared.explained)
                # What this run sent, and gave up waiting for, has come to show after all: it is watched.
                late = ChangeResult(status=ChangeStatus.UNKNOWN, reason="it took effect late")
                self._zone.prepared = self._zone.sent
                if reached := await self._change.see_through(self._zone.sent, late):
                    return reached
                continue
            if prepared.verdict is not Verdict.READY:
                raise Ended(ZoneOutcome.BLOCKED, *prepared.explained)
            await self._hold(prepared)
            if prepared.step is Step.SET_SECRET:
                await self._set_secret(prepared)
                continue
            probed = await self._probe(prepared)
            if probed.verdict is not Verdict.READY:
                if probed.verdict is Verdict.ALREADY_SETTLED:
                    # It was found off, and is read again; readings may show that a little later.
                    poll = self._zone.start.policy.poll
                    await self._parts.waits.pause(poll, "before it is read again")
                continue
            if self._zone.sent is not None and probed.digest != self._zone.sent.digest:
                # Maybe what was sent is in force by now: a probe of a scope that is off is no proposal.
                raise Ended(ZoneOutcome.UNKNOWN, Reason(code=ReasonCode.URLS_CHANGED))
            while True:
                grant = await self._parts.sign_offs.signed_off(probed)
                if workflow.now() - self._probed_at > self._zone.start.policy.fresh:
                    # The permit goes back with the next word; a sign-off counts again where nothing has
                    # changed.
                    self._zone.put_back()
                    break
                if reached := await self._change.commit(probed, grant):
                    return reached
                if self._zone.stands:
                    await self._parts.changes.propose_as_it_is(probed)
                elif not self._zone.called_off:
                    break

    async def _hold(self, prepared: Prepared) -> None:
        """Hold the zones that an account covers, so that none of them is worked on by itself meanwhile."""
        if self._zone.start.target.zone.kind is not ScopeKind.ACCOUNT or self._held == prepared.covered:
            return
        self._held = prepared.covered
        held = await workflow.execute_activity_method(
            HoldActivities.hold,
            HoldZones(
                start=self._zone.bare_start, holder=workflow.info().workflow_id, zones=prepared.covered
            ),
            summary="hold the account's zones",
            **options.spreading(self._zone.start.policy, Queue.ZONES),
        )
        if held.others:
            why = Reason(code=ReasonCode.ACCOUNT_ZONES_HELD, names=held.others)
            if self._zone.sent is not None:
                off = Reason(code=ReasonCode.HELD_AFTER_TURNED_OFF, because=(why,))
                raise Ended(ZoneOutcome.UNKNOWN, off)
            raise Ended(ZoneOutcome.BLOCKED, why)

    async def _let_go(self) -> None:
        """Release the account's zones."""
        if not self._held:
            return
        try:
            await workflow.execute_activity_method(
                HoldActivities.release,
                HoldZones(start=self._zone.bare_start, holder=workflow.info().workflow_id, zones=self._held),
                summary="let go of the account's zones",
                **options.spreading(self._zone.start.policy, Queue.ZONES),
            )
        except ActivityError as failure:
            # They find out by themselves that their holder is gone.
            self._zone.ignore(f"zones not let go: {said(failure)}")

    async def _set_secret(self, prepared: Prepared) -> None:
        """A test secret, made where it is sent. The scope is read again afterwards, whatever came of it."""
        grant = await self._parts.sign_offs.permit_for(Step.SET_SECRET, ZonePhase.AWAITING_FIRST_PERMIT)
        self._zone.enter(ZonePhase.SETTING_SECRET)
        result = await self._parts.changes.make(prepared, grant)
        if result.status is ChangeStatus.REFUSED:
            # Nothing was changed: where the service does not let this scope have one, nothing has failed.
            of_the_scope = result.cause is ReasonCode.NOT_ENTITLED
            outcome = ZoneOutcome.BLOCKED if of_the_scope else ZoneOutcome.FAILED
            raise Ended(outcome, Reason(code=ReasonCode.SECRET_REFUSED, said=result.reason))
        if result.status is ChangeStatus.ANSWERED:
            takes = self._zone.start.policy.secret_takes
            await self._parts.waits.pause(takes, "until the secret works at the edge")
        elif result.status is ChangeStatus.UNKNOWN:
            # It may still come to show; a second one before that could land on one that the customer set.
            limit = self._zone.start.policy.migration_limit
            await self._parts.waits.pause(limit, "until the secret may have come to show")
        await self._parts.changes.pause_before_again(result)

    async def _probe(self, prepared: Prepared) -> Prepared:
        """Ask the scope's URLs with and without the secret: what people sign."""
        self._zone.enter(ZonePhase.PROBING)

        async def probe() -> Probed:
            how = options.watching(self._zone.start.policy, LONGEST_PROBE)
            async with self._parts.reporter.turn:
                sequence = self._parts.reporter.count_words(how["retry_policy"].maximum_attempts)
                releases, self._zone.to_release = self._zone.to_release, None
                try:
                    found: Probed = await self._parts.waits.unless_called_off(
                        workflow.start_activity_method(
                            EscActivities.probe,
                            Probe(
                                start=self._zone.bare_start,
                                prepared=prepared,
                                sequence=sequence,
                                releases=releases,
                            ),
                            summary="differential probe",
                            **how,
                        )
                    )
                except (ActivityError, Ended):
                    # The word that would have said so was not sent: the next one says it.
                    self._zone.to_release = releases
                    raise
                told = found.gathered is None or found.gathered.told
                if found.prepared.verdict is Verdict.READY and told:
                    self._zone.heard = True
                else:
                    self._zone.to_release = releases
                if not told:
                    self._parts.reporter.was_not_heard()
            return found

        probed = await self._parts.waits.served(probe)
        self._zone.gathered, self._probed_at = probed.gathered, workflow.now()
        if not self._zone.joins:
            # What was signed before this evidence was there is not about it.
            self._zone.asked_at = None
        self._zone.prepared = probed.prepared
        return probed.prepared
