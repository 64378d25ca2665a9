"""A campaign's own pause while the service refuses its credential or does not answer, and how it goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.circuit import HeldCallActivities
    from edgeshift.messages import AwaitService, LetCallsGo
    from edgeshift.model.counts import agreed, counted
    from workflows import options
    from workflows.campaign.batches import Batches
    from workflows.campaign.state import CampaignState
    from workflows.campaign.steering import Back, Steering


class ServicePause:
    """The campaign stands still by itself, and goes on by itself."""

    def __init__(self, state: CampaignState, batches: Batches, steering: Steering) -> None:
        self._state = state
        self._batches = batches
        self._steering = steering
        self._taking_back: asyncio.Task[Back] | None = None

    async def wait_it_out(self) -> None:
        """From the first hold until the service answers everybody again."""
        state, since = self._state, workflow.now()
        # What was granted may still be used, and would only fail.
        self._taking_back = asyncio.create_task(self._steering.take_back_permits())
        while state.holds:
            await self._until_answered()
        after = timedelta(seconds=round((workflow.now() - since).total_seconds()))
        held = len(state.ledger.held)
        zones = f"{counted(held, 'waiting zone')} {agreed(held, 'goes', 'go')} on"
        state.note(f"the service may be called again, after {after}: {zones}")
        state.go_on_due = True
        state.changed()

    async def _until_answered(self) -> None:
        """Wait for the holds that are known now: until a probe was answered, or until a person resumes."""
        state = self._state
        asked = state.holds
        waiting = asyncio.create_task(
            self._batches.work(
                HeldCallActivities.wait,
                AwaitService(spec=state.start.spec, holds=asked),
                "wait until the service answers",
                options.waiting(state.start.policy),
            )
        )
        try:
            await workflow.wait_condition(lambda: waiting.done() or state.resumed_by_hand)
        finally:
            waiting.cancel()
        if state.resumed_by_hand:
            state.resumed_by_hand = False
            await asyncio.gather(waiting, return_exceptions=True)
            await self._batches.work(
                HeldCallActivities.let_go, LetCallsGo(spec=state.start.spec), "let calls go on, by hand"
            )
            # Whoever resumed once more meanwhile has had the same: nothing of it is for the next outage.
            state.resumed_by_hand = False
            asked = state.holds
        state.holds = tuple(hold for hold in state.holds if hold not in asked)
