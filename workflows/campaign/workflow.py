"""A campaign: waves of zones, an in-flight window, permits, the book of decisions, pause, abort and retry.

The campaign starts zones and tells them things by activities; zones tell it by signals. What it remembers of
each zone is a few bytes (edgeshift/campaign/ledger.py), so that continue-as-new carries 100,000 zones.
"""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import (
        Again,
        Answer,
        CampaignResult,
        CampaignSignOff,
        CampaignStart,
        CampaignSummary,
        Person,
        PlacesAsked,
        TargetsAt,
        WaitingAsked,
        WaitingFound,
        ZoneReport,
    )
    from edgeshift.model.counts import counted
    from edgeshift.model.fleet import REOPENABLE, RETRYABLE
    from edgeshift.model.rollout import may_advance, wave_begins
    from workflows.campaign.batches import Batches
    from workflows.campaign.decisions import Decisions
    from workflows.campaign.ends import Ends
    from workflows.campaign.messenger import Messenger
    from workflows.campaign.outage import ServicePause
    from workflows.campaign.publishing import Publisher
    from workflows.campaign.rulings import Rulings
    from workflows.campaign.starter import Granter, Starter
    from workflows.campaign.state import CampaignState
    from workflows.campaign.steering import Steering, refuse_if_over
    from workflows.campaign.summary import summary, targets_at, waiting_found
    from workflows.campaign.sweeper import Sweeper
    from workflows.campaign.tasks import Tasks
    from workflows.messages import one_message, refuse_nonsense

CANCELLED = Person(by="a cancellation of the workflow")


@workflow.defn(name="Campaign")
class Campaign:
    """One campaign. Its id is ``campaign/<name>``."""

    @workflow.init
    def __init__(self, start: CampaignStart, ledger: bytes) -> None:
        self._state = CampaignState(start, ledger)
        self._batches = Batches(self._state)
        self._decisions = Decisions(self._state)
        self._steering = Steering(self._state, self._batches)
        self._messenger = Messenger(self._state, self._batches)
        self._publisher = Publisher(self._state)
        self._ends = Ends(self._state, self._batches)
        self._tasks = Tasks(self._state)
        if start.again is not None:
            self._state.ledger.permits.clear()
            self._steering.begin_again(start.again, RETRYABLE | REOPENABLE)

    @workflow.run
    async def run(self, start: CampaignStart, ledger: bytes) -> CampaignResult:
        """Take every target to an outcome. ``ledger``: packed, of the run before; empty without one."""
        waves = counted(len(start.waves), "wave")
        workflow.set_current_details(f"campaign **{start.name}**: {counted(start.count, 'zone')} in {waves}")
        while True:
            try:
                return await self._course()
            except (asyncio.CancelledError, FailureError) as failure:
                if not is_cancelled_exception(failure):
                    raise
                if not self._state.closed:
                    # Somebody cancelled the workflow: its zones must not be left without a campaign. Where
                    # each has its outcome, what is left is to compare them, which is begun anew.
                    self._steering.stand_down(CANCELLED)

    async def _course(self) -> CampaignResult:
        state = self._state
        while True:
            self._begin_tasks()
            await self._until_closed()
            await self._leave()
            if self._closes_over_an_abort():
                await self._steering.heed()
            # While it left, a zone may have been heard of, or begun again, that it is to see to an end.
            if state.closed:
                await self._ends.compare()
                if self._was_opened():
                    continue
                self._publisher.say()
                return CampaignResult(
                    outcomes=state.ledger.tallies(),
                    aborted=state.aborted is not None,
                    told_wrong=tuple(state.told_wrong),
                    wrong=state.wrong,
                    compared=state.compared,
                    carried=state.carried(),
                )

    def _closes_over_an_abort(self) -> bool:
        """Whether it has found that somebody has signed its abort, and has not heeded it: the look that finds
        this may find also that its last zone has ended, as by that very word at the door.
        """
        late = self._state.closed and self._steering.knows_of_an_abort
        return late and workflow.patched("a-signed-abort-is-heeded-at-the-close")

    def _was_opened(self) -> bool:
        """Whether it is open again after it has compared its outcomes, which takes a while: a zone that wakes
        up opens it, and a person may have been told then that zones begin again.
        """
        return not self._state.closed and workflow.patched("begun-at-the-close-goes-on")

    def _stays(self) -> bool:
        """Whether permits are being taken back, as where somebody paused it as it left: the next run would
        not tell whoever holds one.
        """
        return self._state.takes_back and workflow.patched("holders-are-told-before-it-leaves")

    async def _until_closed(self) -> None:
        state = self._state
        while not state.closed:
            seen = state.changes
            self._advance()
            await state.next_change(seen, unless=lambda: self._tasks.mistake is not None)
            if mistake := self._tasks.mistake:
                raise mistake
            if state.too_long and not state.takes_back:
                await self._leave()
                if self._stays():
                    self._begin_tasks()
                    continue
                onward = state.start.model_copy(update={"carried": state.carried(), "again": None})
                workflow.continue_as_new(args=onward.arguments(), memo=self._publisher.memo())

    def _begin_tasks(self) -> None:
        """What goes on side by side."""
        state, tasks = self._state, self._tasks
        starter, granter = Starter(state, self._batches), Granter(state, self._batches)
        sweeper = Sweeper(state, self._batches)
        outage = ServicePause(state, self._batches, self._steering)
        tasks.begin("clock", sweeper.wait_for_the_next, when=lambda: True, waits=True)
        tasks.begin("service", outage.wait_it_out, when=lambda: bool(state.calls.holds), waits=True)
        tasks.begin("signed stop", self._steering.heed, when=lambda: self._steering.heeds)
        tasks.begin("woken_after_end", self._messenger.tell_woken_after_end)
        tasks.begin("rulings", Rulings(state, self._batches).keep)
        tasks.begin("start", starter.start_some)
        tasks.begin("grant", granter.grant_some)
        tasks.begin("abort", self._messenger.tell_of_abort)
        tasks.begin("rejections", self._messenger.tell_of_rejections)
        tasks.begin("expiry", self._messenger.tell_of_expiry)
        tasks.begin("go on", self._messenger.tell_to_go_on, when=lambda: state.go_on_due)
        tasks.begin("publish", self._publisher.publish, waits=True)
        tasks.begin("sweep", sweeper.sweep, when=lambda: sweeper.is_due)
        tasks.begin("ends", self._ends.look_into_some, when=lambda: self._ends.is_due)

    async def _leave(self) -> None:
        """End what goes on beside; a wait for the service begins anew in the next run."""
        await self._tasks.end()
        if mistake := self._tasks.mistake:
            # The next run would not know of it.
            raise mistake
        await workflow.wait_condition(workflow.all_handlers_finished)

    def _advance(self) -> None:
        """Let later waves begin, as far as the waves so far have come. None does once the campaign is
        aborted: a reopening is to begin with the wave that it had come to.
        """
        state = self._state
        if state.aborted is not None:
            return
        waves = state.start.waves
        while state.wave + 1 < len(waves) and not state.halted and not state.stands_still:
            end = waves[state.wave].end
            if not may_advance(state.ledger.finished(state.wave + 1), end, state.start.advance_percent):
                return
            state.wave += 1
            state.note(wave_begins(waves[state.wave].name))
            state.changed()

    # --- what zones say

    @workflow.signal
    @one_message
    def zone_report(self, report: ZoneReport) -> None:
        """A zone's word."""
        state = self._state
        if report.campaign_run != state.first_run:
            return
        if report.again:
            self._batches.hear_again(report)
        elif self._ends.hear(report):
            state.changed()
            if report.hold is not None and report.index in state.ledger.held:
                self._batches.hear_hold(report.hold)
        if state.ledger.woken_after_end:
            state.changed()

    # --- what people want

    @workflow.update
    def sign_off(self, message: CampaignSignOff) -> Answer:
        """A decision on fingerprints: checked once, it counts for each zone that waits and for each that
        comes later.
        """
        return self._decisions.take(message)

    @sign_off.validator
    def _sign_off(self, message: CampaignSignOff) -> None:
        refuse_nonsense(message)
        self._decisions.refuse(message)

    @workflow.update
    async def pause(self, message: Person) -> Answer:
        """No new forward step begins once this has answered: permits are taken back or settled."""
        return await self._steering.pause(message)

    @pause.validator
    def _pause(self, message: Person) -> None:
        refuse_nonsense(message)
        refuse_if_over(self._state)

    @workflow.update
    def resume(self, message: Person) -> Answer:
        """Go on: ends a pause, also the campaign's own. It accepts the failures so far where no person had
        paused it.
        """
        return self._steering.resume(message)

    @resume.validator
    def _resume(self, message: Person) -> None:
        refuse_nonsense(message)
        refuse_if_over(self._state)

    @workflow.update
    async def abort(self, message: Person) -> Answer:
        """End the campaign: nothing new begins, zones that wait end as aborted, what was sent is seen
        through.
        """
        return await self._steering.abort(message)

    @abort.validator
    def _abort(self, message: Person) -> None:
        refuse_nonsense(message)
        refuse_if_over(self._state)

    @workflow.update
    def retry(self, message: Again) -> Answer:
        """Begin failed, unknown, blocked or unsupported zones again."""
        return self._steering.begin_again(message, RETRYABLE)

    @retry.validator
    def _retry(self, message: Again) -> None:
        refuse_nonsense(message)
        self._steering.refuse_again(message, RETRYABLE)

    @workflow.update
    def reopen(self, message: Again) -> Answer:
        """Begin zones again that are on hold, rejected or aborted."""
        return self._steering.begin_again(message, REOPENABLE)

    @reopen.validator
    def _reopen(self, message: Again) -> None:
        refuse_nonsense(message)
        self._steering.refuse_again(message, REOPENABLE)

    # --- what it says of itself

    @workflow.query
    def summary(self) -> CampaignSummary:
        """The campaign as it stands."""
        return summary(self._state, workflow.now())

    @workflow.query
    def waiting(self, message: WaitingAsked) -> WaitingFound:
        """The fingerprints that wait for a sign-off, as many as one answer holds."""
        return waiting_found(self._state, message)

    @workflow.query
    def targets_at(self, message: PlacesAsked) -> TargetsAt:
        """Which targets are at these places, and what they proposed last."""
        return targets_at(self._state, message)
