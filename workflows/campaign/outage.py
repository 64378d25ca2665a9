"""A campaign's own pause while the service refuses its credential or does not answer, and how it goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.circuit import HeldCallActivities
    from edgeshift.messages import AwaitService, LetCallsGo
    from edgeshift.rate_limit.circuit import ServiceHold
    from workflows import options
    from workflows.campaign.batches import CampaignBatches

MOST_HOLDS = 20
"""Credentials that are kept by name."""


class ServicePause(CampaignBatches):
    """The campaign stands still by itself, and goes on by itself."""

    def _hear_hold(self, hold: ServiceHold) -> None:
        """A zone waits for the service: nothing new begins until it answers again."""
        known = {one.credential for one in self._holds}
        if hold.credential in known or len(known) >= MOST_HOLDS:
            return
        self._holds = (*self._holds, hold)
        self._note(f"paused by itself: {hold}")
        self._stand_by()

    def _stand_by(self) -> None:
        """Begin to wait for the service, where there is something to wait for and nobody does."""
        if self._standing_by is not None and not self._standing_by.done():
            return
        if self._holds or self._ledger.held:
            self._standing_by = asyncio.create_task(self._await_service())

    async def _await_service(self) -> None:
        since = workflow.now()
        # Zones that an earlier run was about to tell.
        await self._tell_held_zones()
        while self._holds:
            # What was granted may still be used, and would only fail.
            self._taking_back = asyncio.create_task(self._take_back_permits())
            while self._holds:
                await self._until_answered()
            after = timedelta(seconds=round((workflow.now() - since).total_seconds()))
            held = len(self._ledger.held)
            self._note(f"the service may be called again, after {after}: {held} waiting zone(s) go on")
            self._changed = True
            await self._tell_held_zones()

    async def _until_answered(self) -> None:
        """Wait for the holds that are known now: until a probe was answered, or until a person resumes."""
        asked = self._holds
        waiting = asyncio.create_task(
            self._work(
                HeldCallActivities.wait,
                AwaitService(spec=self._start.spec, holds=asked),
                "wait until the service answers",
                options.waiting(self._start.policy),
            )
        )
        try:
            await workflow.wait_condition(lambda: waiting.done() or self._mended_by_hand)
        finally:
            waiting.cancel()
        if self._mended_by_hand:
            self._mended_by_hand = False
            await asyncio.gather(waiting, return_exceptions=True)
            await self._work(
                HeldCallActivities.let_go, LetCallsGo(spec=self._start.spec), "let calls go on, by hand"
            )
            asked = self._holds
        self._holds = tuple(hold for hold in self._holds if hold not in asked)
