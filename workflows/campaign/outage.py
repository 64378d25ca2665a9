"""A campaign's own pause while the service refuses its credential or does not answer, and how it goes on; of
several credentials, those of its targets pause whose calls are held.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.circuit import HeldCallActivities
    from edgeshift.messages import AwaitService, LetCallsGo
    from edgeshift.model.counts import agreed, counted
    from edgeshift.rate_limit.circuit import OpenCircuit
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
        self._waits: dict[OpenCircuit, asyncio.Task[None]] = {}
        """For each hold that is waited for apart, what waits for its end."""
        self._taken_back: set[asyncio.Task[Back]] = set()

    async def wait_it_out(self) -> None:
        """From the first hold until the service answers everybody again."""
        if self._state.callers.several:
            await self._wait_apart()
        else:
            await self._wait_together()

    async def _wait_together(self) -> None:
        state, since = self._state, workflow.now()
        # What was granted may still be used, and would only fail.
        self._taking_back = asyncio.create_task(self._steering.take_back_permits())
        while state.calls.holds:
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
        asked = state.calls.holds
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
            await asyncio.gather(waiting, return_exceptions=True)
            asked = await self._let_go()
        self._batches.end_holds(asked)

    async def _let_go(self) -> tuple[OpenCircuit, ...]:
        """A person has had all calls go on: what was held. A run that ends before that leaves it to the next
        one.
        """
        state = self._state
        await self._batches.work(
            HeldCallActivities.let_go, LetCallsGo(spec=state.start.spec), "let calls go on, by hand"
        )
        # Whoever resumed once more meanwhile has had the same: nothing of it is for the next outage.
        state.resumed_by_hand = False
        return state.calls.holds

    # --- with several credentials

    async def _wait_apart(self) -> None:
        """Each hold has a wait of its own, and the targets that it stops go on as soon as it ends."""
        state, waits = self._state, self._waits
        try:
            while state.calls.holds:
                for hold in state.calls.holds:
                    if hold not in waits:
                        waits[hold] = asyncio.create_task(self._until_it_ends(hold))
                await workflow.wait_condition(self._something_is_new)
                if state.resumed_by_hand:
                    ended = await self._let_go()
                else:
                    ended = tuple(hold for hold in state.calls.holds if hold in waits and waits[hold].done())
                for hold in ended:
                    self._go_on(hold)
        finally:
            for wait in waits.values():
                wait.cancel()
            waits.clear()

    def _something_is_new(self) -> bool:
        state, waits = self._state, self._waits
        return state.resumed_by_hand or any(
            hold not in waits or waits[hold].done() for hold in state.calls.holds
        )

    def _go_on(self, hold: OpenCircuit) -> None:
        """A hold has ended. Raises what its wait has failed with."""
        state = self._state
        if (wait := self._waits.pop(hold, None)) is not None:
            if wait.done():
                wait.result()
            wait.cancel()
        self._batches.end_holds((hold,))
        going = sum(not state.calls.is_stopped(index) for index in state.ledger.held)
        zones = f"{counted(going, 'waiting zone')} {agreed(going, 'goes', 'go')} on"
        state.note(f"the service may be called again; before, {hold}: {zones}")
        state.go_on_due = True
        state.changed()

    async def _until_it_ends(self, hold: OpenCircuit) -> None:
        """Take back what was granted to those whose calls are held, which would only fail, and wait until
        they may call again.
        """
        state = self._state
        stopped = state.callers.targets(state.callers.stopped_by(hold))
        taking_back = asyncio.create_task(
            self._steering.take_back_permits(lambda index: bool(stopped[index]))
        )
        self._taken_back.add(taking_back)
        taking_back.add_done_callback(self._taken_back.discard)
        await self._batches.work(
            HeldCallActivities.wait,
            AwaitService(spec=state.start.spec, holds=(hold,), apart=True),
            "wait until the service answers",
            options.waiting(state.start.policy),
        )
