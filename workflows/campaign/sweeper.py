"""A campaign's regular sweep: what has waited too long expires, and silent zones are looked for."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.laps import in_lap, next_cursor
    from edgeshift.campaign.target_states import AWAITING, TargetState
    from workflows.campaign.batches import BATCH, Batches
    from workflows.campaign.state import CampaignState
    from workflows.campaign.tasks import RunEnds

SLICE = 500
"""Zones that are looked at in one batch; ``BATCH`` after one in which some had closed: of such, the service
may have to be read, at its pace.
"""

LAP = 10_000
"""Waiting zones that each sweep looks at beside the silent ones: with fewer, all of them."""

AT_LEAST = timedelta(seconds=1)
"""Until the next sweep of a campaign that was begun with a time of 0s: no wait would ever let another task
have its turn.
"""

LOOKED_AT = (
    *AWAITING,
    TargetState.WAITING,
    TargetState.SUPPORT,
    TargetState.READY,
    TargetState.READY_VALIDATE,
)
"""States of zones that a sweep looks at in turn. In a pause, those that are ready wait for a permit as long
as others wait for people.
"""


class Sweeper:
    """The clock, which only reads and marks, and the sweep itself, which asks the engine and may hang."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches

    async def wait_for_the_next(self) -> None:
        """Wait until the next sweep is due; then let expire what has waited too long, and have those told
        again that took no signal.
        """
        state = self._state
        left = state.sweep_at - workflow.now()
        if left > timedelta(0):
            await workflow.sleep(left, summary="sweep")
        state.sweep_at = workflow.now() + (state.start.sweep or AT_LEAST)
        state.sweeps_due += 1
        self._let_expire()
        self._tell_again()
        state.go_on_due = bool(state.ledger.held)
        state.changed()

    def _let_expire(self) -> None:
        ledger = self._state.ledger
        for index in ledger.overdue(workflow.now(), self._state.start.policy.sign_off.expires_after):
            ledger.places[index] = TargetState.EXPIRING

    def _tell_again(self) -> None:
        state, places = self._state, self._state.ledger.places
        for index, place in state.unreached.items():
            state.told.discard(index)
            if places[index] == TargetState.STOPPING:
                places[index] = place
        state.unreached.clear()
        state.told_below = 0

    @property
    def is_due(self) -> bool:
        """Whether a sweep is due that has not begun."""
        return self._state.sweeps_begun < self._state.sweeps_due

    async def sweep(self) -> None:
        """Take back permits that ran out, and look at zones that say nothing, some that wait, and those of
        which what is known may be untrue.
        """
        state, ledger = self._state, self._state.ledger
        state.sweeps_begun = state.sweeps_due
        await self._give_up_expired_permits()
        silent = [
            index
            for index in ledger.indexes(TargetState.WORKING, TargetState.PERMITTED, TargetState.STOPPING)
            if index not in ledger.recently_reported
        ]
        duplicate_sequences = sorted(filter(ledger.may_wait, ledger.duplicate_sequences))[:LAP]
        newer_attempts = sorted(ledger.newer_attempts)[:LAP]
        ledger.recently_reported.clear()
        cursor = state.cursor
        some = list(islice(ledger.indexes(*LOOKED_AT, first=cursor), LAP))
        state.cursor = some[-1] + 1 if len(some) == LAP else 0
        found = list(dict.fromkeys((*silent, *duplicate_sequences, *newer_attempts, *some)))
        # One that is known to wait for the service says nothing until it may go on: to ask it costs it
        # events.
        to_ask = (index for index in silent if index not in ledger.held)
        to_say = frozenset((*to_ask, *duplicate_sequences, *newer_attempts))
        if state.aborts_unheard and not found:
            await self._batches.look_at([])
        state.aborts_unheard = False
        if state.keeps_going:
            await self._look_in_turn(in_lap(found, cursor), to_say, cursor)
            return
        for first in range(0, len(found), SLICE):
            batch = found[first : first + SLICE]
            # A run that ends meanwhile leaves the others to the next one.
            ledger.duplicate_sequences.difference_update(batch)
            await self._batches.look_at(batch, to_say)

    async def _look_in_turn(self, left: list[int], to_say: frozenset[int], cursor: int) -> None:
        """Look at these zones. A run that is to end leaves the others to the next one, which goes on there at
        once: nothing is started, granted or looked into until a run has ended.
        """
        state, doubted, size = self._state, self._state.ledger.duplicate_sequences, SLICE
        known = frozenset(doubted)
        try:
            while left and not state.leaving:
                batch = left[:size]
                doubted.difference_update(batch)
                try:
                    described = await self._batches.look_at(batch, to_say)
                except RunEnds:
                    # It fails for good: the others are not to wait for it in each run.
                    left = left[size:]
                    raise
                left, size = left[size:], BATCH if described.closed else SLICE
        finally:
            if left:
                doubted.update(known.intersection(left))
                state.cursor = next_cursor(left, cursor, state.cursor)
                state.sweep_now()

    async def _give_up_expired_permits(self) -> None:
        """Nothing can be sent any more under a permit that has run out. Its zone is told so: one that never
        had it, or did not believe it, asks for another.
        """
        state, now = self._state, workflow.now()
        expired = [
            permit for permit in state.ledger.permits.values() if now > permit.expires_at + state.release_time
        ]
        for permit in expired:
            state.ledger.release(permit.number, permit.index)
        if expired and state.ledger.keeps_places:
            state.changed()
        quiet = [permit for permit in expired if state.ledger.places[permit.index] == TargetState.PERMITTED]
        await self._batches.revoke(quiet)
