"""Edge Side Code turned off for one scope, a zone or an account: test secret, differential probe, sign-off,
``always``, probes over a window, settled or turned on again (docs/service.md §2.1, §3.1).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.account_lock import HoldActivities
    from activities.change.door import MutationActivities
    from activities.esc.scope import EscActivities
    from edgeshift.areas.assessment import Verdict
    from edgeshift.messages import (
        ChangeResult,
        ChangeStatus,
        HoldZones,
        Part,
        Prepare,
        Prepared,
        Probe,
        Probed,
        Shown,
        Step,
        Watched,
        ZonePhase,
        ZoneResult,
        ZoneStart,
    )
    from edgeshift.model.fleet import ScopeKind, ZoneOutcome
    from workflows import options
    from workflows.local import locally
    from workflows.reversible import ReversibleZone
    from workflows.zone.protocol import Ended, said
    from workflows.zone.steps import Reached

LONGEST_PROBE = timedelta(hours=2)
"""How long the probe of one scope may take, paced per host."""


@workflow.defn(name="EscScope")
class EscScope(ReversibleZone):
    """One scope. Its id is the scope's lock for the area; an account holds those of its zones too."""

    first_step = Step.SET_SECRET
    _asked_whether_it_shows = True
    _read_to_the_end = frozenset({ZoneOutcome.ALREADY_SETTLED})

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        super().__init__(start)
        self._held = ""
        self._probed_at = workflow.now()

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the scope to an outcome, tell the campaign, and say how it ended."""
        return await self._to_an_end(self._course)

    @property
    def _settling(self) -> Callable[..., Awaitable[Shown]]:
        return EscActivities.settle

    @property
    def _looking_back(self) -> Callable[..., Awaitable[Part]]:
        return MutationActivities.look_back

    @property
    def _watching(self) -> Callable[..., Awaitable[Watched]]:
        return EscActivities.watch

    async def _course(self) -> Reached:
        while True:
            prepared = await self._read()
            if prepared.verdict is Verdict.ALREADY_SETTLED:
                if self._sent is None and prepared.begun:
                    # An earlier attempt of this campaign turned it off, and did not see it through.
                    self._sent = prepared
                    await self._hold(prepared)
                if self._sent is None:
                    raise Ended(ZoneOutcome.ALREADY_SETTLED, "; ".join(prepared.reasons))
                # What this run sent, and gave up waiting for, has come to show after all: it is watched.
                late = ChangeResult(status=ChangeStatus.UNKNOWN, reason="it took effect late")
                self._prepared = self._sent
                if reached := await self._see_through(self._sent, late):
                    return reached
                continue
            if prepared.verdict is not Verdict.READY:
                raise Ended(ZoneOutcome.BLOCKED, "; ".join(prepared.reasons))
            await self._hold(prepared)
            if prepared.step is Step.SET_SECRET:
                await self._set_secret(prepared)
                continue
            probed = await self._probe(prepared)
            if probed.verdict is not Verdict.READY:
                if probed.verdict is Verdict.ALREADY_SETTLED:
                    # It was found off, and is read again; readings may show that a little later.
                    poll = self._start.policy.poll
                    await self._until(lambda: False, poll, summary="before it is read again")
                continue
            if self._sent is not None and probed.digest != self._sent.digest:
                # Maybe what was sent is in force by now: a probe of a scope that is off is no proposal.
                raise Ended(
                    ZoneOutcome.UNKNOWN,
                    "the URLs answer otherwise than before it was sent, and the setting does not show it;"
                    " a person has to look at it",
                )
            grant = await self._signed_off(probed)
            if grant is None:
                continue
            if workflow.now() - self._probed_at > self._start.policy.fresh:
                # The permit goes back with the next word; a sign-off counts again where nothing has changed.
                self._to_settle, self._grant = grant.permit.number, None
                continue
            if reached := await self._commit(probed, grant):
                return reached

    async def _read(self) -> Prepared:
        """Read the scope and archive what was read."""
        self._check_stop()
        self._enter(ZonePhase.ASSESSING)
        prepared: Prepared = await self._served(
            lambda: locally(
                EscActivities.prepare,
                Prepare(start=self._start, sequence=self._sequence, announce=False),
                summary="read, archive",
                **options.reading(self._start.policy),
            )
        )
        self._prepared = prepared
        return prepared

    async def _hold(self, prepared: Prepared) -> None:
        """Hold the zones that an account covers, so that none of them is worked on by itself meanwhile."""
        if self._start.target.zone.kind is not ScopeKind.ACCOUNT or self._held == prepared.covered:
            return
        self._held = prepared.covered
        held = await workflow.execute_activity_method(
            HoldActivities.hold,
            HoldZones(start=self._bare_start, holder=workflow.info().workflow_id, zones=prepared.covered),
            summary="hold the account's zones",
            **options.spreading(self._start.policy),
        )
        if held.others:
            reason = f"zones of the account are worked on by others: {'; '.join(held.others)}"
            if self._sent is not None:
                raise Ended(
                    ZoneOutcome.UNKNOWN, f"{reason}; it was turned off before; a person has to look at it"
                )
            raise Ended(ZoneOutcome.BLOCKED, reason)

    async def _let_go(self) -> None:
        if not self._held:
            return
        try:
            await workflow.execute_activity_method(
                HoldActivities.release,
                HoldZones(start=self._bare_start, holder=workflow.info().workflow_id, zones=self._held),
                summary="let go of the account's zones",
                **options.spreading(self._start.policy),
            )
        except ActivityError as failure:
            # They find out by themselves that their holder is gone.
            self._ignore(f"zones not let go: {said(failure)}")

    async def _set_secret(self, prepared: Prepared) -> None:
        """A test secret, made where it is sent. The scope is read again afterwards, whatever came of it."""
        grant = await self._permit_for(Step.SET_SECRET, ZonePhase.AWAITING_FIRST_PERMIT)
        self._enter(ZonePhase.SETTING_SECRET)
        result = await self._change(prepared, grant)
        if result.status is ChangeStatus.REFUSED:
            raise Ended(ZoneOutcome.FAILED, f"the service refused the test secret: {result.reason}")
        if result.status is ChangeStatus.ANSWERED:
            await self._until(
                lambda: False, self._start.policy.secret_takes, summary="until the secret works at the edge"
            )
        elif result.status is ChangeStatus.UNKNOWN:
            # It may still come to show; a second one before that could land on one that the customer set.
            limit = self._start.policy.migration_limit
            await self._until(lambda: False, limit, summary="until the secret may have come to show")
        await self._pause_before_again(result)

    async def _probe(self, prepared: Prepared) -> Prepared:
        """Ask the scope's URLs with and without the secret: what people sign."""
        self._enter(ZonePhase.PROBING)

        async def probe() -> Probed:
            async with self._telling:
                self._count_word()
                settles, self._to_settle = self._to_settle, None
                try:
                    found: Probed = await workflow.execute_activity_method(
                        EscActivities.probe,
                        Probe(
                            start=self._bare_start,
                            prepared=prepared,
                            sequence=self._sequence,
                            settles=settles,
                        ),
                        summary="differential probe",
                        **options.watching(self._start.policy, LONGEST_PROBE),
                    )
                except ActivityError:
                    # The word that would have said so was not sent: the next one says it.
                    self._to_settle = settles
                    raise
                if found.prepared.verdict is not Verdict.READY:
                    self._to_settle = settles
            return found

        probed = await self._served(probe)
        self._gathered, self._probed_at = probed.gathered, workflow.now()
        if not self._joins:
            # What was signed before this evidence was there is not about it.
            self._asked_at = None
        self._prepared = probed.prepared
        return probed.prepared
